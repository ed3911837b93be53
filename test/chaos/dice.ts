import { seededRandom } from '../support/random.js';

/** Choices that a seed determines. */
export class Dice {
  private readonly random: () => number;

  /** The names make seeds of their own out of one, for parts that must not depend on each other's order. */
  constructor(seed: number, ...names: (string | number)[]) {
    let hash = seed >>> 0;
    for (const character of names.join('/')) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0;
    this.random = seededRandom(hash);
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.random() * (to - from + 1));
  }

  pick<T>(items: readonly T[]): T {
    return items[this.between(0, items.length - 1)]!;
  }

  weighted<T>(items: readonly (readonly [item: T, weight: number])[]): T {
    let left = this.random() * items.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [item, weight] of items) {
      left -= weight;
      if (left < 0) return item;
    }
    return items.at(-1)![0];
  }

  /** How long until the next of something that happens every `meanMs` on average. */
  gapMs(meanMs: number): number {
    return Math.round(-Math.log(1 - this.random()) * meanMs);
  }

  shuffled<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i--) {
      const other = this.between(0, i);
      [result[i], result[other]] = [result[other]!, result[i]!];
    }
    return result;
  }
}
