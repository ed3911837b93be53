import type { Timers } from '../../core/timers.js';

/** The application may have deleted the timer, where it keeps its timers in a registry of its own. */
const OVERDUE_MS = 1_000;

/**
 * One timer that is always set for the earliest time asked for. One that is set for earlier than needed is left alone,
 * as setting timers anew with every turn costs more than a ring that finds nothing.
 */
export class Alarm {
  /** When it rings, a time of `performance.now()`; infinite while it is not set. */
  private at = Number.POSITIVE_INFINITY;

  constructor(
    private readonly timers: Timers,
    private readonly name: string,
    private readonly ring: () => void,
  ) {}

  setFor(at: number): void {
    const isOverdue = performance.now() > this.at + OVERDUE_MS;
    if (at >= this.at && !isOverdue) return;
    this.at = at;
    // Rounded up, because a timer that fires early costs a call that finds nothing.
    const ms = Math.max(0, Math.ceil(at - performance.now()));
    this.timers.set(this.name, () => this.fire(), ms);
  }

  clear(): void {
    this.at = Number.POSITIVE_INFINITY;
    this.timers.clear(this.name);
  }

  private fire(): void {
    this.at = Number.POSITIVE_INFINITY;
    this.ring();
  }
}
