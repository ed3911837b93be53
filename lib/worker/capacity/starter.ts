import type { Clock } from '../../core/clock.js';
import type { ClaimedJob, TurnAnswer } from '../../store/job-store.js';
import { ClaimsToConfirm } from '../handle/claims-to-confirm.js';
import type { SentTurn, TurnDraft } from '../session/turn-draft.js';
import type { Capacity } from './capacity.js';

const NONE: readonly ClaimedJob[] = [];

/** What a starter has done with claims. */
export interface Starts {
  /** One may begin that was asked for at `askedAt`. */
  begin(claim: ClaimedJob, askedAt: number): void;
  /** Some had no place, and wait in the draft to go back. */
  onBack(): void;
}

/**
 * Starts what a worker has claimed. Mostly there is a place for each; who claims ahead has asked for more. Handlers that return
 * at once have left all places before the next turn is written, and what costs most is then that workers and Redis wait for each
 * other, once a turn: so a turn takes more with it. No more run at once for that. What finds no place waits for one, and goes
 * back where there is none before the round of the event loop is over. So nothing that waits has to be renewed or cancelled.
 */
export class Starter {
  /** Claims whose leases have to be renewed before their jobs may start. */
  readonly toConfirm: ClaimsToConfirm;
  private waiting = NONE;
  private next = 0;
  private askedAt = 0;
  private isStarting = false;

  constructor(
    private readonly concurrency: number,
    private readonly capacity: Capacity,
    private readonly draft: TurnDraft,
    private readonly starts: Starts,
    private readonly clock: Clock,
  ) {
    this.toConfirm = new ClaimsToConfirm(draft);
  }

  /** Whether claims wait for a place: not longer than this round of the event loop. */
  get anyWait(): boolean {
    return this.next < this.waiting.length;
  }

  /** Starts the jobs that a turn has claimed or confirmed. `mayClaimAhead`: the next turn may ask the pace for more than there are places for. */
  start(answer: TurnAnswer, { turn, sentAt: askedAt }: SentTurn, mayClaimAhead: boolean): void {
    const claims = this.toConfirm.sift(turn, answer);
    if (answer.isUnconfirmed) return;
    if (mayClaimAhead || claims.length > this.concurrency) this.startAhead(claims, askedAt);
    else for (const claim of claims) this.starts.begin(claim, askedAt);
  }

  /** A place may have become free. */
  startWaiting(): void {
    // A handler that returns at once comes here while the loop goes on.
    if (this.isStarting || !this.anyWait) return;
    this.isStarting = true;
    // Those of the first places begin as ever, however long handlers block.
    while (
      this.anyWait &&
      this.capacity.places.left > 0 &&
      (this.next < this.concurrency || this.capacity.pace.isInTime)
    ) {
      this.starts.begin(this.waiting[this.next++]!, this.askedAt);
    }
    this.isStarting = false;
  }

  private startAhead(claims: readonly ClaimedJob[], askedAt: number): void {
    this.capacity.pace.note(claims);
    this.waiting = claims;
    this.next = 0;
    this.askedAt = askedAt;
    this.startWaiting();
    this.clock.soon(() => {
      this.capacity.pace.roundOver(!this.anyWait && this.capacity.places.left === this.concurrency);
      if (this.giveBack()) this.starts.onBack();
    });
  }

  /** Answers whether any waited. */
  private giveBack(): boolean {
    const left = this.waiting.slice(this.next);
    this.waiting = NONE;
    this.next = 0;
    this.draft.release(...left);
    return left.length > 0;
  }
}
