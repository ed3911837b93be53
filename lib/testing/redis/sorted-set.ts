export interface Scored {
  readonly member: string;
  readonly score: number;
  /** The score as it is told, once it was. */
  text?: string;
}

/** A chunk is split at this size. Small enough to move its items quickly, large enough that there are few chunks. */
const MOST_OF_A_CHUNK = 512;

/** A bound of a range: a score or a member. Ranks are counted up to it, and where it is `after`, items equal to it are counted too. */
export type Bound = { readonly after: boolean } & ({ readonly score: number } | { readonly member: string });

/**
 * Members by score, and by their bytes where scores are equal, in chunks, so that adding to a hundred thousand moves a few hundred. Every range
 * of it is one of ranks.
 */
export class SortedSet {
  private readonly scores = new Map<string, Scored>();
  private readonly chunks: Scored[][] = [];

  get size(): number {
    return this.scores.size;
  }

  score(member: string): number | undefined {
    return this.scores.get(member)?.score;
  }

  item(member: string): Scored | undefined {
    return this.scores.get(member);
  }

  set(member: string, score: number): void {
    const known = this.scores.get(member);
    if (known !== undefined) {
      if (known.score === score) return;
      this.takeOut(known);
    }
    const item: Scored = { member, score, text: undefined };
    this.scores.set(member, item);
    this.putIn(item);
  }

  delete(member: string): boolean {
    const known = this.scores.get(member);
    if (known === undefined) return false;
    this.scores.delete(member);
    this.takeOut(known);
    return true;
  }

  /** How many items lie before the bound. */
  rank(bound: Bound): number {
    const { chunks } = this;
    let before = 0;
    for (const items of chunks) {
      if (!liesBefore(items[items.length - 1]!, bound)) return before + bisect(items, bound);
      before += items.length;
    }
    return before;
  }

  /** Those with these ranks, the last one left out. */
  slice(from: number, to: number): Scored[] {
    const { chunks } = this;
    if (chunks.length === 1) return chunks[0]!.slice(from, Math.max(from, to));
    const found: Scored[] = [];
    let before = 0;
    for (const items of chunks) {
      if (before >= to) break;
      const end = before + items.length;
      for (let rank = Math.max(from, before); rank < end && rank < to; rank++) found.push(items[rank - before]!);
      before = end;
    }
    return found;
  }

  members(): IterableIterator<string> {
    return this.scores.keys();
  }

  private putIn(item: Scored): void {
    const { chunks } = this;
    if (chunks.length === 0) {
      chunks.push([item]);
      return;
    }
    const chunk = Math.min(this.chunkOf(item), chunks.length - 1);
    const items = chunks[chunk]!;
    // Mostly an item is the last one.
    if (comesBefore(items[items.length - 1]!, item)) items.push(item);
    else items.splice(placeIn(items, item), 0, item);
    if (items.length > MOST_OF_A_CHUNK) chunks.splice(chunk + 1, 0, items.splice(MOST_OF_A_CHUNK / 2));
  }

  private takeOut(item: Scored): void {
    const { chunks } = this;
    const chunk = this.chunkOf(item);
    const items = chunks[chunk]!;
    // Mostly an item is the first one.
    if (items[0] === item) items.shift();
    else items.splice(placeIn(items, item), 1);
    if (items.length === 0) chunks.splice(chunk, 1);
  }

  /** The first chunk whose last item does not come before this one. */
  private chunkOf(item: Scored): number {
    const { chunks } = this;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const items = chunks[middle]!;
      if (comesBefore(items[items.length - 1]!, item)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const comesBefore = (a: Scored, b: Scored): boolean => (a.score === b.score ? a.member < b.member : a.score < b.score);

/** Where the item stands, or would. */
function placeIn(items: readonly Scored[], item: Scored): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comesBefore(items[middle]!, item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function liesBefore(item: Scored, bound: Bound): boolean {
  if ('score' in bound) return bound.after ? item.score <= bound.score : item.score < bound.score;
  return bound.after ? item.member <= bound.member : item.member < bound.member;
}

function bisect(items: readonly Scored[], bound: Bound): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (liesBefore(items[middle]!, bound)) low = middle + 1;
    else high = middle;
  }
  return low;
}
