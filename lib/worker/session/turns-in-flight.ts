import type { Turn } from '../../store/job-store.js';
import type { EndedRun } from '../run/settlement-builder.js';

/** A turn as its writer has written it, and what its answer will be about. */
export interface WrittenTurn {
  turn: Turn;
  /** The runs that its first settlements are about, in their order. The others are of jobs that go back. */
  ended: readonly EndedRun[];
  /** True if the turn renews every lease that the writer holds, even if the writer holds none. The next renewal is due a third of a lease later. */
  renews: boolean;
}

/** A turn that has been sent and has not been answered: it may have happened, so the same is sent until it is. */
export interface SentTurn extends WrittenTurn {
  /** When it was sent first, by `clock.now()`: its leases count from then, however late it is answered. */
  readonly sentAt: number;
  /** False after the store has refused it, until it is sent again. */
  isAwaited: boolean;
}

/** The turns of one session that have been sent and not been answered: two at most. */
export class TurnsInFlight {
  private readonly turns: SentTurn[] = [];

  add({ turn, ended, renews }: WrittenTurn, sentAt: number): SentTurn {
    const sent: SentTurn = { turn, ended, renews, sentAt, isAwaited: false };
    this.turns.push(sent);
    return sent;
  }

  remove(sent: SentTurn): void {
    this.turns.splice(this.turns.indexOf(sent), 1);
  }

  get count(): number {
    return this.turns.length;
  }

  get anyAwaited(): boolean {
    return this.turns.some(({ isAwaited }) => isAwaited);
  }

  /** When the oldest of them was sent first; `undefined` where there is none. */
  get oldestAt(): number | undefined {
    return this.turns[0]?.sentAt;
  }

  /** One that the store has refused. */
  get refused(): SentTurn | undefined {
    return this.turns.find(({ isAwaited }) => !isAwaited);
  }

  /** True if one of them renews leases. */
  get anyRenews(): boolean {
    return this.turns.some(({ turn }) => turn.renewals.length > 0);
  }

  /** What weight of jobs they may still claim. */
  get limit(): number {
    let limit = 0;
    for (const { turn } of this.turns) limit += turn.limit;
    return limit;
  }

  /** How many jobs they settle. */
  get settlements(): number {
    let settlements = 0;
    for (const { turn } of this.turns) settlements += turn.settlements.length;
    return settlements;
  }
}
