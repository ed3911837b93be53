import type { SentTurn } from './turn-draft.js';

/** A second turn that settles and claims fewer is not worth what a turn costs by itself. */
const LEAST_JOBS = 16;
/** One that settles and claims more keeps Redis from others for too long. */
const MOST_JOBS = 500;

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
 * How the work of a worker is shared between two turns under way. While more is due than there is room for, Redis works on one
 * while the worker takes in the answer of the other; each carries half. Where another worker is behind as well, that one keeps
 * Redis busy meanwhile, and one turn at a time with all the work costs less than two halves.
 */
export class TurnShare {
  private readonly half: number;
  private readonly least: number;
  private turnsAlone = TURNS_TO_BE_ALONE;

  constructor(private readonly concurrency: number) {
    this.half = Math.ceil(concurrency / 2);
    this.least = Math.max(LEAST_JOBS, Math.floor(concurrency / 4));
  }

  /** Takes in what a turn was told: whether another worker is behind as well. */
  note(hasCompany: boolean): void {
    this.turnsAlone = hasCompany ? 0 : this.turnsAlone + 1;
  }

  /** Whether two turns are worth it: no other worker has been behind lately, or one turn could not take all there is. */
  get isWorthTwo(): boolean {
    return this.turnsAlone >= TURNS_TO_BE_ALONE || this.concurrency > MOST_JOBS;
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
