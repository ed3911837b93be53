/**
 * The turns of one priority: the unit at the lowest number is next. A unit joins where it would stand, had it stayed, but not before the
 * present: so nobody gains by leaving, and nobody makes up for the time that it was away.
 */
export class Turns {
  /** Where each unit stands that has due jobs and is not held. */
  private readonly standing = new Map<string, number>();
  /** Where those would stand that have left. */
  private readonly left = new Map<string, number>();
  /** The highest turn at which a job has been started. */
  private present = 0;

  at(group: string): number {
    return this.standing.get(group) ?? 0;
  }

  /** Lets these stand there, and no others. */
  lineUp(groups: ReadonlySet<string>): void {
    for (const [group, turn] of this.standing)
      if (!groups.has(group)) {
        this.standing.delete(group);
        this.left.set(group, turn);
      }
    for (const group of groups)
      if (!this.standing.has(group)) {
        this.standing.set(group, Math.max(this.present, this.left.get(group) ?? 0));
        this.left.delete(group);
      }
    for (const [group, turn] of this.left) if (turn <= this.present) this.left.delete(group);
  }

  /** So many jobs of a unit have been started. */
  moveOn(group: string, starts: number, weight: number): void {
    const from = this.standing.get(group);
    if (from === undefined) return;
    this.present = Math.max(this.present, from + (starts - 1) / weight);
    this.standing.set(group, from + starts / weight);
  }
}
