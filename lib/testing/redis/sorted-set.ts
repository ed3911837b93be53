import { SortedList } from './sorted-list.js';

export interface Scored {
  readonly member: string;
  readonly score: number;
}

/** Members by score, and by their bytes where scores are equal. Every range of it is one of ranks. */
export class SortedSet {
  private readonly scores = new Map<string, Scored>();
  private readonly order = new SortedList<Scored>(compare);

  get size(): number {
    return this.scores.size;
  }

  score(member: string): number | undefined {
    return this.scores.get(member)?.score;
  }

  set(member: string, score: number): void {
    const known = this.scores.get(member);
    if (known?.score === score) return;
    if (known) this.order.delete(known);
    const item = { member, score };
    this.scores.set(member, item);
    this.order.add(item);
  }

  delete(member: string): boolean {
    const known = this.scores.get(member);
    if (!known) return false;
    this.scores.delete(member);
    return this.order.delete(known);
  }

  /** How many there are before the first for which `isBefore` is false; true must not come after false. */
  rank(isBefore: (item: Scored) => boolean): number {
    return this.order.countBefore(isBefore);
  }

  /** Those with these ranks, the last one left out. */
  slice(from: number, to: number): Scored[] {
    return this.order.slice(from, to);
  }

  members(): IterableIterator<string> {
    return this.scores.keys();
  }
}

function compare(a: Scored, b: Scored): number {
  if (a.score !== b.score) return a.score - b.score;
  return a.member < b.member ? -1 : Number(a.member > b.member);
}
