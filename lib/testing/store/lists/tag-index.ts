/** Which jobs carry a tag, from their schedule to their end, in the order in which they came. */
export class TagIndex {
  private readonly tagged = new Map<string, Set<string>>();

  /** A job that has the tag already keeps its place. */
  add(id: string, tags: readonly string[]): void {
    for (const tag of tags) {
      const ids = this.tagged.get(tag) ?? new Set();
      this.tagged.set(tag, ids.add(id));
    }
  }

  delete(id: string, tags: readonly string[]): void {
    for (const tag of tags) {
      const ids = this.tagged.get(tag);
      ids?.delete(id);
      if (ids?.size === 0) this.tagged.delete(tag);
    }
  }

  /** Under a tag that stays, the id keeps its place. */
  change(id: string, before: readonly string[], after: readonly string[]): void {
    this.delete(id, without(before, after));
    this.add(id, after);
  }

  /** As they are now: what is tagged or goes meanwhile changes nothing. */
  ids(tag: string): readonly string[] {
    return [...(this.tagged.get(tag) ?? [])];
  }

  entries(): Iterable<[tag: string, ids: ReadonlySet<string>]> {
    return this.tagged;
  }
}

/** The tags of the first list that the second one lacks. */
export const without = (some: readonly string[], others: readonly string[]) =>
  some.filter((tag) => !others.includes(tag));
