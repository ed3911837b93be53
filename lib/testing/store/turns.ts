import type { Groups } from './groups.js';
import { isSuspect, type Job } from './job.js';
import type { Ledger, Level } from './ledger.js';
import type { SortedList } from './lists/sorted-list.js';

/**
 * The turns of one priority: the unit at the lowest number is next. A unit is a group, or, under '', all jobs without one. It joins where it
 * would stand, had it stayed, but not before the present: so nobody gains by leaving, and nobody makes up for the time that it was away.
 */
class Turns {
  /** Where each unit stands that has due jobs and is not held. */
  private readonly standing = new Map<string, number>();
  /** Where those would stand that have left. */
  private readonly left = new Map<string, number>();
  /** The highest turn at which a job has been started. */
  private present = 0;

  /** Answers where it stands. */
  join(unit: string): number {
    const turn = this.standing.get(unit) ?? Math.max(this.present, this.left.get(unit) ?? 0);
    this.standing.set(unit, turn);
    this.left.delete(unit);
    return turn;
  }

  /** Units leave that may not stay. */
  leave(mayStay: (unit: string) => boolean): void {
    for (const [unit, turn] of this.standing)
      if (!mayStay(unit)) {
        this.standing.delete(unit);
        this.left.set(unit, turn);
      }
    for (const [unit, turn] of this.left) if (turn <= this.present) this.left.delete(unit);
  }

  /** So many jobs of a unit have been started. */
  moveOn(unit: string, starts: number, weight: number): void {
    const from = this.standing.get(unit);
    if (from === undefined) return;
    this.present = Math.max(this.present, from + (starts - 1) / weight);
    this.standing.set(unit, from + starts / weight);
  }
}

/** Whose turn it is, at each priority at which groups have due jobs. At the others nobody takes turns. */
export class TurnsOfQueue {
  private readonly turns = new Map<number, Turns>();

  constructor(
    private readonly ledger: Ledger,
    private readonly groups: Groups,
    private readonly maxCrashes: number,
  ) {}

  /**
   * Lets the units of a level join that have due jobs and are not held, and answers where each of them stands. '' comes first, then groups by
   * name.
   */
  lineUp(level: Level, nowMs: number, isHeld: (group: string) => boolean): [unit: string, turn: number][] {
    const due = this.dueUnits(level, nowMs);
    let turns = this.turns.get(level.priority);
    if (!turns && due.some(isGroup)) {
      turns = new Turns();
      this.turns.set(level.priority, turns);
    }
    if (!due.includes('')) turns?.leave(isGroup);
    return due.filter((unit) => unit === '' || !isHeld(unit)).map((unit) => [unit, turns?.join(unit) ?? 0]);
  }

  moveOn(priority: number, unit: string, starts: number): void {
    this.turns.get(priority)?.moveOn(unit, starts, this.groups.weightOf(unit));
  }

  /**
   * Lets groups leave that have nothing due any more, or are held. Where no group has a due job of a priority, its turns are forgotten. Jobs
   * without a group leave once a claim looks.
   */
  leave(nowMs: number): void {
    if (this.turns.size === 0) return;
    const levels = new Map(this.ledger.waiting().map((level) => [level.priority, level]));
    for (const [priority, turns] of this.turns) {
      const level = levels.get(priority);
      const due = new Set(level ? this.dueUnits(level, nowMs) : []);
      if ([...due].some(isGroup))
        turns.leave((unit) => unit === '' || (due.has(unit) && this.groups.stateOf(unit, nowMs).free > 0));
      else this.turns.delete(priority);
    }
  }

  /** Those that have due jobs which are no suspects: these take no turns. */
  private dueUnits({ units }: Level, nowMs: number): string[] {
    const isSomeDue = (jobs: SortedList<Job>) => {
      for (const job of jobs) {
        if (job.dueAtMs > nowMs) return false;
        if (!isSuspect(job, this.maxCrashes)) return true;
      }
      return false;
    };
    return [...units].flatMap(([unit, jobs]) => (isSomeDue(jobs) ? [unit] : [])).sort();
  }
}

const isGroup = (unit: string) => unit !== '';
