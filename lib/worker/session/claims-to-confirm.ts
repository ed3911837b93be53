import type { ClaimedJob, Turn, TurnAnswer } from '../../store/job-store.js';
import type { PendingSettlements } from './pending-settlements.js';

const NONE: readonly ClaimedJob[] = [];

/**
 * Holds the jobs of a large claim back until a turn has renewed their leases. So Redis knows that the claim of every job that begins
 * has arrived, and each job begins with a whole lease, however long the answer took.
 */
export class ClaimsToConfirm {
  private held: ClaimedJob[] = [];

  constructor(private readonly pending: PendingSettlements) {}

  get any(): boolean {
    return this.held.length > 0;
  }

  /** The next turn has to renew these. */
  get claims(): readonly ClaimedJob[] {
    return this.held;
  }

  /** Answers which claims may begin now that this turn has been answered. Claims whose leases are over go back. */
  sift(turn: Turn, answer: TurnAnswer): readonly ClaimedJob[] {
    if (answer.expired.length > 0) this.pending.release(...answer.expired);
    if (answer.isUnconfirmed) {
      this.held.push(...answer.claimed);
      return NONE;
    }
    return this.any ? [...this.confirmedBy(turn, answer), ...answer.claimed] : answer.claimed;
  }

  private confirmedBy({ renewals }: Turn, { lost, toCancel, isReplay }: TurnAnswer): ClaimedJob[] {
    // The first answer was lost, and with it which leases are lost: renew them once more.
    if (isReplay) return [];
    const renewed = new Set<unknown>(renewals);
    const answered = this.held.filter((claim) => renewed.has(claim));
    this.held = this.held.filter((claim) => !renewed.has(claim));
    // Somebody asked to cancel these: whatever settles them now, they end as cancelled.
    this.pending.release(...answered.filter(({ id }) => toCancel.includes(id)));
    return answered.filter(({ id }) => !lost.includes(id) && !toCancel.includes(id));
  }
}
