/** A chunk is split at this size. Small enough to move its items quickly, large enough that there are few chunks. */
const MOST_OF_A_CHUNK = 512;

/** Items in order, in chunks, so that adding and taking out of a hundred thousand moves a few hundred. No two items compare as equal. */
export class SortedList<T> {
  private readonly chunks: T[][] = [];

  constructor(private readonly compare: (a: T, b: T) => number) {}

  add(item: T): void {
    const { chunk, index } = this.place((other) => this.compare(other, item) < 0);
    const items = this.chunks[chunk] ?? this.chunks[chunk - 1];
    if (!items) {
      this.chunks.push([item]);
      return;
    }
    // Behind all others: the last chunk takes the item.
    const at = this.chunks[chunk] ? chunk : chunk - 1;
    items.splice(at === chunk ? index : items.length, 0, item);
    if (items.length > MOST_OF_A_CHUNK) this.chunks.splice(at + 1, 0, items.splice(MOST_OF_A_CHUNK / 2));
  }

  /** False where the item is not there. Whatever orders the item must be as it was when the item was added. */
  delete(item: T): boolean {
    const { chunk, index } = this.place((other) => this.compare(other, item) < 0);
    if (this.chunks[chunk]?.[index] !== item) return false;
    this.chunks[chunk].splice(index, 1);
    if (this.chunks[chunk].length === 0) this.chunks.splice(chunk, 1);
    return true;
  }

  /** How many items there are before the first for which `isBefore` is false; true must not come after false. */
  countBefore(isBefore: (item: T) => boolean): number {
    const { chunk, index } = this.place(isBefore);
    return this.chunks.slice(0, chunk).reduce((sum, { length }) => sum + length, index);
  }

  /** Those from one index up to another, which is left out. */
  slice(from: number, to: number): T[] {
    let [before, chunk] = [0, 0];
    for (; chunk < this.chunks.length && before + this.chunks[chunk]!.length <= from; chunk++)
      before += this.chunks[chunk]!.length;
    const found: T[] = [];
    for (; chunk < this.chunks.length && before < to; chunk++) {
      const items = this.chunks[chunk]!;
      found.push(...items.slice(Math.max(0, from - before), to - before));
      before += items.length;
    }
    return found;
  }

  /** Where the first item lies for which `isBefore` is false: index 0 of a chunk that is not there, where there is none. */
  private place(isBefore: (item: T) => boolean): { chunk: number; index: number } {
    const chunk = bisect(this.chunks.length, (at) => isBefore(this.chunks[at]!.at(-1)!));
    const items = this.chunks[chunk] ?? [];
    return { chunk, index: bisect(items.length, (at) => isBefore(items[at]!)) };
  }
}

/** The first index for which `isBefore` is false. */
function bisect(end: number, isBefore: (index: number) => boolean): number {
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
