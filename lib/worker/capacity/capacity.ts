import type { QueueSettings } from '../../core/options/queue-options.js';
import type { HandlerCapacity, TurnAnswer } from '../../store/job-store.js';
import type { JobHandler } from '../run/job-handler.js';
import type { RunningJobs } from '../run/running-jobs.js';
import type { SentTurn, TurnDraft } from '../session/turn-draft.js';
import { Pace } from './pace.js';
import { Room } from './room.js';
import { MOST_JOBS, TurnShare } from './turn-share.js';

/** How much a worker may claim now, in how many turns at once. */
export class Capacity {
  readonly places: Room;
  readonly pace: Pace;
  private readonly share: TurnShare;

  constructor(
    settings: QueueSettings,
    handlers: ReadonlyMap<string, JobHandler>,
    running: RunningJobs,
    private readonly draft: TurnDraft,
    /** False while the worker stops, and while its process is kept for a suspect of another occupant. */
    private readonly mayClaim: () => boolean,
  ) {
    this.places = new Room(settings.concurrency, handlers, running);
    this.pace = new Pace(settings.concurrency);
    this.share = new TurnShare(settings);
  }

  /** What weight may still be claimed, less what the turns under way may claim; below 0 beside a turn that claims ahead. */
  get room(): number {
    // A turn that gives jobs back looks first: it would not find them, and take those that come after them.
    if (this.draft.givesBack || !this.mayClaim()) return 0;
    return this.places.left - this.draft.roomUnderWay;
  }

  /** Whether a turn may go out beside the one under way. `renewsSoon`: leases have to be renewed. */
  isEnoughForSecond(renewsSoon: boolean): boolean {
    return this.mayShare(renewsSoon) && this.share.isEnough(this.draft.unsent, this.room);
  }

  /** Not with limits of handlers: how much is left of one is only known for as many jobs as there are places. */
  get mayClaimAhead(): boolean {
    return this.share.isWorthClaimingAhead && !this.places.hasLimitsOfHandlers;
  }

  /** How many ends a turn that goes out now takes along, and how much it may claim. Asking counts as a turn, so ask once for each. */
  takeShare(renewsSoon: boolean): { ends: number; room: number; handlers: readonly HandlerCapacity[] } {
    const { share, draft, room } = this;
    const handlers = this.places.ofHandlers();
    if (this.mayShare(renewsSoon)) return { ...share.beside(draft.unsent, room), handlers };
    return { ...share.alone(draft.unsent, this.mayClaimAhead ? this.pace.takeRoom(room, MOST_JOBS) : room), handlers };
  }

  /** Takes in what a turn was told. */
  note(sent: SentTurn, answer: TurnAnswer): void {
    this.share.note(sent.turn.limit > 0 && answer.sleepMs === undefined, answer.isContended);
  }

  /**
   * A turn that renews goes alone: it names all jobs that are held, and another turn might settle and claim some of them meanwhile.
   * How much is left of a handler's own limit is only known while nothing is being claimed. Whether two turns pay: see `TurnShare`.
   */
  private mayShare(renewsSoon: boolean): boolean {
    return this.share.isWorthTwo && !this.places.hasLimitsOfHandlers && !renewsSoon && !this.draft.renewsAny;
  }
}
