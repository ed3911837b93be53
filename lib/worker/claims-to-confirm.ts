import type { ClaimedJob, Turn, TurnAnswer } from '../store/job-store.js';
import type { TurnDraft } from './turn-draft.js';

const NONE: readonly ClaimedJob[] = [];

/**
 * Holds back what a large answer has claimed until a turn has renewed its leases. So Redis knows of each job that began that its
 * claim had arrived, and each begins with a whole lease, however long the answer took.
 */
export class ClaimsToConfirm {
  private held: ClaimedJob[] = [];

  constructor(private readonly draft: TurnDraft) {}

  get any(): boolean {
    return this.held.length > 0;
  }

  /** The next turn is to renew these. */
  get claims(): readonly ClaimedJob[] {
    return this.held;
  }

  /** Which claims may begin now that this turn has been answered. Those that nobody may begin go back. */
  sift(turn: Turn, answer: TurnAnswer): readonly ClaimedJob[] {
    if (answer.expired.length > 0) this.draft.release(...answer.expired);
    if (answer.isUnconfirmed) {
      this.held.push(...answer.claimed);
      return NONE;
    }
    return this.any ? [...this.confirmedBy(turn, answer), ...answer.claimed] : answer.claimed;
  }

  private confirmedBy({ renewals }: Turn, { lost, toCancel, isReplay }: TurnAnswer): ClaimedJob[] {
    // Of an answer that was lost nobody knows which leases it told to be lost: they are renewed once more.
    if (isReplay) return [];
    const renewed = new Set<unknown>(renewals);
    const answered = this.held.filter((claim) => renewed.has(claim));
    this.held = this.held.filter((claim) => !renewed.has(claim));
    // Somebody asked for their cancellation: whatever is said of them now, they end as cancelled.
    this.draft.release(...answered.filter(({ id }) => toCancel.includes(id)));
    return answered.filter(({ id }) => !lost.includes(id) && !toCancel.includes(id));
  }
}
