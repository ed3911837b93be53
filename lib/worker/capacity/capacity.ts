import { MOST_JOBS } from '../../core/constants.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import type { HandlerCapacity, StuckHandlers, TurnAnswer } from '../../store/job-store.js';
import type { Collections } from '../batch/collections.js';
import type { PendingSettlements } from '../session/pending-settlements.js';
import type { SentTurn, TurnsInFlight } from '../session/turns-in-flight.js';
import { Overlap, type Share } from './overlap.js';
import type { Places } from './places.js';

/**
 * How much a worker may claim and begin now.
 *
 * It may claim what fits into its free places, less what the turns in flight may claim. One turn goes out at a time, or, where the last
 * turn left a backlog, two, each with half: that strategy is `Overlap`, private to this class, which works without it.
 */
export class Capacity {
  private readonly overlap: Overlap;
  /** The last turn found more due than it could claim. */
  private hasBacklog = false;

  constructor(
    { concurrency }: QueueSettings,
    private readonly places: Places,
    private readonly collections: Collections | undefined,
    private readonly inFlight: TurnsInFlight,
    private readonly pending: PendingSettlements,
  ) {
    this.overlap = new Overlap(concurrency);
  }

  /** What weight may be claimed now, besides what the turns in flight may claim; none where it is 0 or less. */
  get open(): number {
    // A turn that releases jobs claims nothing: the script picks before it puts released jobs back, so it would skip them.
    if (this.pending.anyGoesBack) return 0;
    return this.places.free - this.inFlight.limit - (this.collections?.reserved ?? 0);
  }

  /** True if a turn is worth it beside the one in flight. */
  get mayOverlap(): boolean {
    return this.mayHalve && this.overlap.isEnough(this.all(true));
  }

  /** What the next turn takes along. `mayClaim` false: it claims nothing. `goesAlone`: no other goes beside it. */
  share(mayClaim: boolean, goesAlone: boolean): Share & { handlers: readonly HandlerCapacity[] } {
    const all = this.all(mayClaim);
    const { settlements, limit } = this.mayHalve && !goesAlone ? this.overlap.shareOf(all) : all;
    return {
      settlements: Math.min(settlements, MOST_JOBS),
      limit: Math.min(limit, MOST_JOBS),
      handlers: this.places.ofHandlers(),
    };
  }

  /** The stuck handlers; `undefined` if there are none. */
  get stuck(): StuckHandlers | undefined {
    return this.places.stuck();
  }

  /** Takes in the answer to a turn. */
  noteAnswer({ turn }: SentTurn, answer: TurnAnswer): void {
    this.hasBacklog = turn.limit > 0 && answer.sleepMs === undefined;
    this.overlap.noteAnswer(answer);
  }

  private all(mayClaim: boolean): Share {
    return { settlements: this.pending.count, limit: mayClaim ? Math.max(this.open, 0) : 0 };
  }

  /** How much is left of a handler's own limit is only known while nothing is being claimed. */
  private get mayHalve(): boolean {
    return this.hasBacklog && this.overlap.isWorthIt && !this.places.hasLimitsOfHandlers;
  }
}
