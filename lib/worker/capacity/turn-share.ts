import type { QueueSettings } from '../../core/options/queue-options.js';
import type { SentTurn } from '../session/turn-draft.js';

/** A second turn that settles and claims fewer is not worth what a turn costs by itself. */
const LEAST_JOBS = 16;
/** One that settles and claims more keeps Redis from others for too long. */
export const MOST_JOBS = 500;

/** After so many of its turns in a row that met nobody else, a worker counts as alone. */
const TURNS_TO_BE_ALONE = 8;

/** One turn after the other: the next is sent when the last has been answered, and one that was not is sent again. */
export interface TurnLine {
  busy: boolean;
  unanswered?: SentTurn;
  /** Redis has refused the one that is unanswered. */
  isRefused?: boolean;
}

/**
 * How the work of a worker that is behind is shared between turns: its last one had no room for all that was due. Alone it has
 * two under way, each with half: Redis works on one while the worker takes in the answer of the other. Where another worker is
 * behind as well, that one keeps Redis busy meanwhile, and one turn at a time with all the work costs less than two halves; the
 * more it carries, the more seldom they wait for each other.
 */
export class TurnShare {
  private readonly concurrency: number;
  private readonly half: number;
  private readonly least: number;
  /** A limit over all processes counts a job when it is claimed: one that waits here would keep another process from running one. */
  private readonly isCounted: boolean;
  /** Its last turn had no room for all that was due. */
  private isBehind = false;
  private turnsAlone = TURNS_TO_BE_ALONE;

  constructor({ concurrency, globalConcurrency, rateLimit }: QueueSettings) {
    this.concurrency = concurrency;
    this.half = Math.ceil(concurrency / 2);
    this.least = Math.max(LEAST_JOBS, Math.floor(concurrency / 4));
    this.isCounted = globalConcurrency !== Number.POSITIVE_INFINITY || rateLimit !== undefined;
  }

  /** Takes in what a turn was told: whether more was due than it had room for, and whether another worker is behind as well. */
  note(isBehind: boolean, isContended: boolean): void {
    this.isBehind = isBehind;
    this.turnsAlone = isContended ? 0 : this.turnsAlone + 1;
  }

  /** Whether two turns are worth it: no other worker has been behind lately, or one turn could not take all there is. */
  get isWorthTwo(): boolean {
    return this.isBehind && (this.isAlone || this.concurrency > MOST_JOBS);
  }

  /** Whether a turn may claim ahead, more than there are places for. Not with few places, which are few for a reason. */
  get isWorthClaimingAhead(): boolean {
    const { isBehind, isAlone, isCounted, concurrency } = this;
    return isBehind && !isAlone && !isCounted && concurrency >= LEAST_JOBS && concurrency < MOST_JOBS;
  }

  private get isAlone(): boolean {
    return this.turnsAlone >= TURNS_TO_BE_ALONE;
  }

  /** Whether a turn may go out beside another: `ends` wait to be settled, and there is `room` that none has asked for; room for a whole turn is enough. */
  isEnough(ends: number, room: number): boolean {
    return Math.min(ends, room) >= this.least || room >= MOST_JOBS;
  }

  /** How much of so many ends and so much room a turn takes that goes alone. */
  alone(ends: number, room: number): { ends: number; room: number } {
    return { ends: Math.min(ends, MOST_JOBS), room: Math.min(room, MOST_JOBS) };
  }

  /** The same of one beside which another may go: half, where the rest is enough for that. */
  beside(ends: number, room: number): { ends: number; room: number } {
    const { half } = this;
    return this.isEnough(ends - half, room - half) ? { ends: half, room: half } : this.alone(ends, room);
  }
}
