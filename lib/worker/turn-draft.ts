import type { ClaimedJob, HandlerRoom, Settlement, Turn } from '../store/job-store.js';
import type { EndedRun } from './settler.js';

/** How many settlements go with one turn, to keep the script short. */
const SETTLED_A_TURN = 1_000;

/** A turn under way, and what its answer will be about. */
export interface SentTurn {
  turn: Turn;
  ended: readonly EndedRun[];
  /** Whether it renews all leases that were held when it was sent, be that none. */
  renews: boolean;
  /** When it was sent first, by `performance.now()`: its leases count from then, however late it was answered. */
  sentAt: number;
}

/** What a worker has room for, where it stopped looking, and which leases it renews, `renews` where that is all of them. */
export interface TurnWish {
  room: number;
  handlers: readonly HandlerRoom[];
  lookFrom: string;
  renewals: readonly ClaimedJob[];
  renews: boolean;
  pull?: Turn['pull'];
}

/** What a worker has to say to Redis: collected while a turn is under way, and kept until it is answered. */
export class TurnDraft {
  private ended: EndedRun[] = [];
  private goingBack: ClaimedJob[] = [];
  private leaving = false;
  private sent?: SentTurn;

  end(run: EndedRun): void {
    this.ended.push(run);
  }

  /** For jobs that go back as if nothing had been. */
  release(...claims: readonly ClaimedJob[]): void {
    this.goingBack.push(...claims);
  }

  /** A last turn is owed, which takes the worker off the lists of those that are there. */
  leave(): void {
    this.leaving = true;
  }

  get isLeaving(): boolean {
    return this.leaving;
  }

  /** Whether there is something to say, or to say again, at once. */
  get owes(): boolean {
    return this.leaving || this.sent !== undefined || this.unsettled > 0;
  }

  /** How many jobs have left their handlers, and Redis has not answered for them yet. */
  get unsettled(): number {
    return this.ended.length + this.goingBack.length + (this.sent?.turn.settlements.length ?? 0);
  }

  /** The turn to send: one that was not answered may have happened, so the same is sent until it is. */
  take(wish: TurnWish): SentTurn {
    this.sent ??= this.write(wish);
    return this.sent;
  }

  answered(): void {
    this.sent = undefined;
  }

  private write({ room, handlers, lookFrom, renewals, renews, pull }: TurnWish): SentTurn {
    const { leaving } = this;
    const ended = this.ended.splice(0, SETTLED_A_TURN);
    const settlements: Settlement[] = ended.map(({ settlement }) => settlement);
    const goingBack = this.goingBack.splice(0, SETTLED_A_TURN - ended.length);
    for (const { id, fence } of goingBack) settlements.push({ id, fence, transition: 'release' });
    this.leaving = false;
    return {
      turn: { settlements, renewals, room, handlers, lookFrom, leaving, pull },
      ended,
      renews,
      sentAt: performance.now(),
    };
  }
}
