import type { TurnAnswer } from '../../store/job-store.js';
import type { SentTurn, WrittenTurn } from './turns-in-flight.js';

/** Whoever writes the turns of a session and takes their answers in: a worker, a puller or a relay. */
export interface TurnWriter {
  /** By when it has something to say: `AT_ONCE`, `NEVER` where it has nothing, or a time of the clock until which a turn may take it along. */
  readonly owesBy: number;
  /** True if it takes jobs now: a turn goes out when something may be due. */
  readonly looks: boolean;
  /** True if leases have to be renewed, or others have to hear regularly that it is there: a turn goes out when it is time for that. */
  readonly holds: boolean;
  /** True if a turn is worth sending beside the one in flight, which renews nothing. */
  readonly mayOverlap: boolean;
  /** Writes the next turn. `isTimeToRenew`: leases have to be renewed, so it goes alone. `isLast`: the last one of the session. */
  writeTurn(isTimeToRenew: boolean, isLast: boolean): WrittenTurn;
  /** Takes an answer in. The settlements and what the turn found have been reported. */
  onAnswer(answer: TurnAnswer, sent: SentTurn): void;
  /** Hears that the store has refused a turn. */
  onRefusal?(error: unknown): void;
}
