/** An item of an `UnorderedSet`. It can be in one set at a time, because it stores its own index. */
export interface UnorderedItem {
  /** Its position, or its last one: for its set alone. */
  index: number;
}

/**
 * What comes and goes thousands of times a second, in no order. Not a `Set`: of one that changes so fast V8 makes new tables again
 * and again, and links each to the next. Once one of them is old, all that follow live until the old generation is
 * collected, with what stood in them, and each scavenge copies what ended long ago.
 */
export class UnorderedSet<T extends UnorderedItem> implements Iterable<T> {
  private readonly items: T[] = [];

  get size(): number {
    return this.items.length;
  }

  add(item: T): void {
    item.index = this.items.push(item) - 1;
  }

  /** Answers whether it was there. The last one moves to its position. */
  delete(item: T): boolean {
    if (this.items[item.index] !== item) return false;
    const last = this.items.pop()!;
    if (last !== item) {
      this.items[item.index] = last;
      last.index = item.index;
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
