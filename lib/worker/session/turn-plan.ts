import type { Clock } from '../../core/clock.js';

/** Times before which something has to happen: earlier than any instant of a clock, and later. */
export const AT_ONCE = Number.NEGATIVE_INFINITY;
export const NEVER = Number.POSITIVE_INFINITY;

/** How long a refused turn waits before it is sent again. */
const PAUSE_MS = 1_000;
const PAUSE_WHILE_LEAVING_MS = 100;
/** A timer rings up to a millisecond late, and a call takes a while to arrive: so the worker sets out before something is due. */
const AHEAD_MS = 0.5;
/** How long the last turn may take once everything else of a shutdown is done. */
export const LAST_TURN_MS = 800;
/** Enough for a Redis that answers. One that has kept the workers waiting for all of their time is away. */
const LEAST_LAST_TURN_MS = 100;

/** How long popped jobs may take to go back, once the workers have stopped `alreadyOverdueMs` too late: both together have a second. */
export function lastTurnMs(alreadyOverdueMs: number): number {
  return Math.max(LAST_TURN_MS - Math.max(alreadyOverdueMs, 0), LEAST_LAST_TURN_MS);
}

/** When a worker has to take a turn: times of `clock.now()`. */
export class TurnPlan {
  /** Something may be due. */
  private lookAt = AT_ONCE;
  /** Leases must be renewed. */
  private renewAt = AT_ONCE;
  /** After a refusal: no turn is taken before this. */
  private pausedUntil = AT_ONCE;
  /** When the store was heard last, at the beginning now: be it an answer, a part of one, or an error. */
  heardAt = this.clock.now();
  readonly heard = () => {
    this.heardAt = this.clock.now();
  };

  constructor(private readonly clock: Clock) {}

  /** Answers whether that is earlier than what was known. */
  lookIn(ms: number): boolean {
    // Timers have a resolution of 1 ms: waking early for something due within 1 ms would only cause a second look.
    const at = this.clock.now() + (ms > 1 ? ms - AHEAD_MS : ms);
    if (at >= this.lookAt) return false;
    this.lookAt = at;
    return true;
  }

  /** A turn goes out: from here on, only hints newer than this turn may schedule another look. */
  lookOnlyIfTold(): void {
    this.lookAt = NEVER;
  }

  renewBy(at: number): void {
    this.renewAt = Math.min(this.renewAt, at);
  }

  renewSoon(): void {
    this.renewAt = AT_ONCE;
  }

  /** A turn goes out that renews: who asks for it from now on may know more than its answer. */
  renewOnlyIfTold(): void {
    this.renewAt = NEVER;
  }

  /** A turn was refused: the next one comes after a pause, and looks. */
  pause(isLeaving: boolean): void {
    this.pausedUntil = this.clock.now() + (isLeaving ? PAUSE_WHILE_LEAVING_MS : PAUSE_MS);
    this.lookAt = AT_ONCE;
  }

  endPause(): void {
    this.pausedUntil = AT_ONCE;
  }

  get isPaused(): boolean {
    return this.clock.now() < this.pausedUntil;
  }

  isTimeToLook(): boolean {
    return this.clock.now() >= this.lookAt;
  }

  isTimeToRenew(): boolean {
    return this.clock.now() >= this.renewAt;
  }

  /** When to wake up, infinite for never. `looks`: the writer has capacity; `holds`: there are leases; `owesBy`: when something has to be said. */
  nextAt({ looks, holds, owesBy }: { looks: boolean; holds: boolean; owesBy: number }): number {
    const at = Math.min(owesBy, looks ? this.lookAt : NEVER, holds ? this.renewAt : NEVER);
    return Math.max(at, this.pausedUntil);
  }
}
