import type { ClaimsToConfirm } from '../session/claims-to-confirm.js';
import type { PendingSettlements } from '../session/pending-settlements.js';
import type { SessionLoop } from '../session/session-loop.js';
import type { JobHolder, SuspectIsolation } from './suspect-isolation.js';

/** What a worker or a puller has in hand. */
export interface Holdings {
  /** True if it holds a job that Redis still counts as its own. */
  holdsAny(): boolean;
  /** True if a handler has not returned, even where its outcome no longer counts. */
  readonly isRunning: boolean;
}

/** The part of a worker or a puller in its process, which `SuspectIsolation` may reserve for a suspect. */
export class HolderInProcess implements JobHolder {
  /** The next turn claims nothing, and leaves it to others of the crew to look. */
  stepsBack = false;

  constructor(
    readonly queue: string,
    readonly mayReserve: boolean,
    private readonly isolation: SuspectIsolation,
    private readonly loop: SessionLoop,
    private readonly pending: PendingSettlements,
    private readonly toConfirm: ClaimsToConfirm,
    private readonly holdings: Holdings,
  ) {}

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
    this.stepsBack = true;
    this.loop.saySoon();
  }

  look(): void {
    this.stepsBack = false;
    this.loop.lookSoon();
  }

  get mayClaim(): boolean {
    return !this.stepsBack && !this.toConfirm.any && this.isolation.mayClaim(this);
  }
}
