import type { Clock } from '../../core/clock.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import type { ClaimedJob, HandlerCapacity, TurnAnswer } from '../../store/job-store.js';
import type { JobHandler } from '../run/job-handler.js';
import type { RunningJobs } from '../run/running-jobs.js';
import type { Outcomes } from '../session/outcomes.js';
import type { SentTurn, TurnsInFlight } from '../session/turns-in-flight.js';
import { Ahead } from './ahead.js';
import { Overlap, type Share } from './overlap.js';
import { Places } from './places.js';
import { MOST_JOBS } from './turn-size.js';

/**
 * How much a worker may claim and begin now.
 *
 * It may begin what fits into its free places, and claim as much, less what the turns in flight may claim. One turn goes out at a time.
 * Where the last turn left a backlog, two strategies make more of each turn. Both are private to this class, and it works without them:
 * - `Overlap`: two turns in flight, each with half;
 * - `Ahead`: a claim of more jobs than there are places for, while jobs end as soon as they begin.
 */
export class Capacity {
  private readonly concurrency: number;
  private readonly places: Places;
  private readonly overlap: Overlap;
  private readonly ahead: Ahead;
  /** A limit over all processes counts a job when it is claimed: one that waits here would keep another process from running one. */
  private readonly isCountedElsewhere: boolean;
  /** The last turn found more due than it could claim. */
  private hasBacklog = false;

  constructor(
    { concurrency, globalConcurrency, rateLimit }: QueueSettings,
    handlers: ReadonlyMap<string, JobHandler>,
    running: RunningJobs,
    private readonly inFlight: TurnsInFlight,
    private readonly outcomes: Outcomes,
    clock: Clock,
  ) {
    this.concurrency = concurrency;
    this.places = new Places(concurrency, handlers, running);
    this.overlap = new Overlap(concurrency);
    this.ahead = new Ahead(concurrency, clock);
    this.isCountedElsewhere = globalConcurrency !== Number.POSITIVE_INFINITY || rateLimit !== undefined;
  }

  /** What weight may be claimed now, besides what the turns in flight may claim; none where it is 0 or less. */
  get open(): number {
    // A turn that releases jobs claims nothing: the script picks before it puts released jobs back, so it would skip them.
    return this.outcomes.anyGoesBack ? 0 : this.window - this.inFlight.limit;
  }

  /** True if a turn is worth it beside the one in flight. */
  get mayOverlap(): boolean {
    return this.mayHalve && this.overlap.isEnough(this.all(true));
  }

  /** What the next turn takes along. `mayClaim` false: it claims nothing. `goesAlone`: no other goes beside it. */
  share(mayClaim: boolean, goesAlone: boolean): Share & { handlers: readonly HandlerCapacity[] } {
    // Mostly a turn goes out in the same round of the event loop in which its jobs have begun and ended.
    if (this.isEmpty) this.ahead.judge(true);
    const all = this.all(mayClaim);
    const { settlements, limit } = this.mayHalve && !goesAlone ? this.overlap.shareOf(all, this.window) : all;
    return {
      settlements: Math.min(settlements, MOST_JOBS),
      limit: Math.min(limit, this.mayClaimAhead ? this.ahead.mostATurn : MOST_JOBS),
      handlers: this.places.ofHandlers(),
    };
  }

  /** Takes in what a turn was told. */
  answered({ turn }: SentTurn, { sleepMs, isContended }: TurnAnswer): void {
    this.hasBacklog = turn.limit > 0 && sleepMs === undefined;
    this.overlap.answered(isContended);
  }

  /** These have been claimed. True if they begin by and by, as `mayBegin` says; false if there is a place for each. */
  mustQueue(claims: readonly ClaimedJob[]): boolean {
    if (!this.mayClaimAhead && claims.length <= this.places.free) return false;
    this.ahead.claimed(claims);
    return true;
  }

  /** True if a job that was queued may begin, after `begun` others. Those of the first places begin however long handlers block. */
  mayBegin(begun: number): boolean {
    return this.places.free > 0 && (begun < this.concurrency || this.ahead.isInTime);
  }

  /** The round of the event loop is over in which jobs were queued; `anyLeft` of them have not begun. */
  roundOver(anyLeft: boolean): void {
    this.ahead.judge(!anyLeft && this.isEmpty);
  }

  private all(mayClaim: boolean): Share {
    return { settlements: this.outcomes.count, limit: mayClaim ? Math.max(this.open, 0) : 0 };
  }

  private get isEmpty(): boolean {
    return this.places.free === this.concurrency;
  }

  /** What weight may be in hand here, begun or not. */
  private get window(): number {
    const { free } = this.places;
    return this.mayClaimAhead ? this.ahead.window(free) : free;
  }

  /** How much is left of a handler's own limit is only known while nothing is being claimed. */
  private get mayHalve(): boolean {
    return this.hasBacklog && this.overlap.isWorthIt && !this.places.hasLimitsOfHandlers;
  }

  /** Not with limits of handlers: how much is left of one is only known for as many jobs as there are places. */
  private get mayClaimAhead(): boolean {
    return this.hasBacklog && this.ahead.isWorthIt && !this.isCountedElsewhere && !this.places.hasLimitsOfHandlers;
  }
}
