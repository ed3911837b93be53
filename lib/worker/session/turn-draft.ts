import { Bag, type BagItem } from '../../core/bag.js';
import type { Claim, HandlerCapacity, Settlement, SuspectWish, Turn } from '../../store/job-store.js';
import type { EndedRun } from '../run/settler.js';

/** How many settlements go with one turn, to keep the script short. */
const SETTLED_A_TURN = 1_000;

/** A turn under way, and what its answer will be about. */
export interface SentTurn extends BagItem {
  turn: Turn;
  ended: readonly EndedRun[];
  /** Whether it renews all leases that were held when it was sent, be that none. */
  renews: boolean;
  /** When it was sent first, by `performance.now()`: its leases count from then, however late it was answered. */
  sentAt: number;
}

/** What a worker has room for, and which leases it renews, `renews` where that is all of them. */
export interface TurnWish {
  /** How many ends go with it, at most 1 000, which is the default. */
  ends?: number;
  room: number;
  handlers: readonly HandlerCapacity[];
  renewals: readonly Claim[];
  renews: boolean;
  standing: Turn['standing'];
  looksAnew?: boolean;
  suspects: SuspectWish;
}

/** What a worker has to say to Redis, and the turns that are under way: sent, perhaps in vain, and not answered yet. */
export class TurnDraft {
  private ended: EndedRun[] = [];
  private goingBack: Claim[] = [];
  private leaving = false;
  /** Two at most, but thousands a second: see `Bag`. */
  private readonly sent = new Bag<SentTurn>();

  end(run: EndedRun): void {
    this.ended.push(run);
  }

  /** For jobs that go back as if nothing had been. */
  release(...claims: readonly Claim[]): void {
    this.goingBack.push(...claims);
  }

  /** A last turn is owed, which takes the worker off the lists of those that are there. */
  leave(): void {
    this.leaving = true;
  }

  get isLeaving(): boolean {
    return this.leaving;
  }

  /** Whether there is something to say, or a turn that was not answered to be sent again. */
  get owes(): boolean {
    return this.leaving || this.anyUnderWay || this.unsent > 0;
  }

  /** Whether claims go back that go with no turn yet. */
  get givesBack(): boolean {
    return this.goingBack.length > 0;
  }

  get anyUnderWay(): boolean {
    return this.sent.size > 0;
  }

  /** Whether a turn under way renews leases. */
  get renewsAny(): boolean {
    for (const { turn } of this.sent) if (turn.renewals.length > 0) return true;
    return false;
  }

  /** What weight of jobs the turns under way may still claim. */
  get roomUnderWay(): number {
    let room = 0;
    for (const { turn } of this.sent) room += turn.limit;
    return room;
  }

  /** How many jobs have left their handlers and go with no turn yet. */
  get unsent(): number {
    return this.ended.length + this.goingBack.length;
  }

  /** How many jobs have left their handlers, and Redis has not answered for them yet. */
  get unsettled(): number {
    let unsettled = this.unsent;
    for (const { turn } of this.sent) unsettled += turn.settlements.length;
    return unsettled;
  }

  /** A turn to send. While it is not answered it may have happened, so the same is sent until it is. */
  take(wish: TurnWish): SentTurn {
    const { ends = SETTLED_A_TURN, room, handlers, renewals, renews, standing, looksAnew, suspects } = wish;
    const { leaving: isLast } = this;
    const ended = this.ended.splice(0, ends);
    const settlements: Settlement[] = ended.map(({ settlement }) => settlement);
    const goingBack = this.goingBack.splice(0, ends - ended.length);
    for (const { id, fence } of goingBack) settlements.push({ id, fence, transition: 'release' });
    this.leaving = false;
    const sent: SentTurn = {
      turn: { settlements, renewals, limit: room, handlers, isLast, standing, looksAnew, suspects },
      ended,
      renews,
      sentAt: performance.now(),
      place: -1,
    };
    this.sent.add(sent);
    return sent;
  }

  answered(sent: SentTurn): void {
    this.sent.delete(sent);
  }
}
