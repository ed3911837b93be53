/** An item of a `Bag`. It can be in one bag at a time, because it stores its own index. */
export interface BagItem {
  /** Where it lies, or lay last: for its bag alone. */
  place: number;
}

/**
 * What comes and goes thousands of times a second, in no order. Not a `Set`: of one that changes so fast V8 makes new tables again
 * and again, and links each to the next. Once one of them is old, all that follow live until the old generation is
 * collected, with what stood in them, and each scavenge copies what ended long ago.
 */
export class Bag<T extends BagItem> implements Iterable<T> {
  private readonly items: T[] = [];

  get size(): number {
    return this.items.length;
  }

  add(item: T): void {
    item.place = this.items.push(item) - 1;
  }

  /** Answers whether it was there. The last one takes its place. */
  delete(item: T): boolean {
    if (this.items[item.place] !== item) return false;
    const last = this.items.pop()!;
    if (last !== item) {
      this.items[item.place] = last;
      last.place = item.place;
    }
    return true;
  }

  clear(): void {
    this.items.length = 0;
  }

  /** Not to be changed meanwhile. */
  [Symbol.iterator](): IterableIterator<T> {
    return this.items.values();
  }
}
