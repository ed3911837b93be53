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

  /** As they are now: what is tagged or goes meanwhile changes nothing. */
  ids(tag: string): readonly string[] {
    return [...(this.tagged.get(tag) ?? [])];
  }

  entries(): Iterable<[tag: string, ids: ReadonlySet<string>]> {
    return this.tagged;
  }
}
