import type { SuspectWish, TurnAnswer } from '../../store/job-store.js';
import type { ClaimsToConfirm } from '../session/claims-to-confirm.js';
import type { PendingSettlements } from '../session/pending-settlements.js';
import type { SessionLoop } from '../session/session-loop.js';
import type { Occupant, Solitude } from './solitude.js';

/** What a worker or a puller has in hand. */
export interface Holdings {
  /** True if it holds a job that Redis still counts as its own. */
  holdsAny(): boolean;
  /** True if a handler has not returned, even where its outcome no longer counts. */
  readonly isRunning: boolean;
}

/** The part of a worker or a puller in its process, which `Solitude` may keep for a suspect. */
export class Occupancy implements Occupant {
  /** The next turn claims nothing, and leaves it to others of the crew to look. */
  private steppingBack = false;

  constructor(
    readonly queue: string,
    readonly mayReserve: boolean,
    private readonly solitude: Solitude,
    private readonly loop: SessionLoop,
    private readonly pending: PendingSettlements,
    private readonly toConfirm: ClaimsToConfirm,
    private readonly holdings: Holdings,
  ) {}

  enterProcess(): void {
    this.solitude.add(this);
  }

  leaveProcess(): void {
    this.solitude.remove(this);
  }

  get holds(): boolean {
    return this.loop.inFlight.limit > 0 || this.toConfirm.any || this.holdings.holdsAny();
  }

  get isRunning(): boolean {
    return this.holdings.isRunning;
  }

  get owes(): boolean {
    return this.pending.count + this.loop.inFlight.settlements > 0;
  }

  stepBack(): void {
    this.steppingBack = true;
    this.loop.saySoon();
  }

  look(): void {
    this.steppingBack = false;
    this.loop.lookSoon();
  }

  get stepsBack(): boolean {
    return this.steppingBack;
  }

  /** A turn goes out that leaves it to others to look. */
  hasSteppedBack(): void {
    this.steppingBack = false;
  }

  get mayClaim(): boolean {
    return !this.steppingBack && !this.toConfirm.any && this.solitude.mayClaim(this);
  }

  /** True if the process is kept for this one's suspect. */
  get isReserved(): boolean {
    return this.solitude.isHeldBy(this);
  }

  /** True if it has a reservation to give up. */
  get hasToLeave(): boolean {
    return this.solitude.hasToLeave(this);
  }

  /** What the next turn wishes about suspects. `isLast`: it waits for none any more. */
  wish(leaseMs: number, isLast: boolean): SuspectWish {
    return isLast ? this.solitude.lastWish(this) : this.solitude.wish(this, leaseMs);
  }

  /** Takes in the answer of a turn. True if the jobs that it claimed may begin; else they have to go back. */
  answered(wish: SuspectWish, suspect: TurnAnswer['suspect']): boolean {
    return this.solitude.answered(this, wish, suspect);
  }

  /** Jobs have ended: the process may be empty now. */
  check(): void {
    this.solitude.check(this);
  }
}
