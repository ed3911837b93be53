import type { CallOff, Clock } from '../../core/clock.js';

/** An application that finds the timer in its registry may have deleted it there: so long after its time another one is set. */
const OVERDUE_MS = 20;

/**
 * One timer that is always set for the earliest time asked for. One that is set for earlier than needed is left alone,
 * as setting timers anew with every turn costs more than a ring that finds nothing.
 */
export class Alarm {
  /** When it rings, a time of `clock.now()`; infinite while it is not set. */
  private at = Number.POSITIVE_INFINITY;
  private callOff?: CallOff;

  constructor(
    private readonly clock: Clock,
    private readonly name: string,
    private readonly ring: () => void,
  ) {}

  setFor(at: number): void {
    const { clock, name } = this;
    const now = clock.now();
    const isOverdue = now > this.at + OVERDUE_MS;
    if (at >= this.at && !isOverdue) return;
    this.callOff?.();
    this.at = at;
    // Rounded up, because a timer that fires early costs a call that finds nothing.
    this.callOff = clock.after(Math.max(0, Math.ceil(at - now)), () => this.fire(), { name });
  }

  clear(): void {
    this.at = Number.POSITIVE_INFINITY;
    this.callOff?.();
    this.callOff = undefined;
  }

  private fire(): void {
    this.at = Number.POSITIVE_INFINITY;
    this.callOff = undefined;
    this.ring();
  }
}
