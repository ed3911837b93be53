import { FEWEST_JOBS, MOST_JOBS } from '../../core/constants.js';
import type { TurnAnswer } from '../../store/job-store.js';

/** As `FEWEST_JOBS`, of whole turns, which cost more. With fewer jobs two halves gain nothing where handlers await: see docs/worker-design.md. */
const FEWEST_JOBS_IF_WHOLE = 16;

/** After so many of its turns in a row that met nobody else, a worker counts as alone. */
const TURNS_TO_BE_ALONE = 8;

/** How many settlements a turn takes along, and how much it may claim. */
export interface Share {
  settlements: number;
  limit: number;
}

/**
 * The strategy of two turns in flight. The store works on one while the worker takes in the answer of the other; each carries half.
 * For a worker that is alone with a backlog. Where another worker has one as well, that worker keeps the store busy meanwhile, and one
 * turn with all the work costs less than two halves.
 */
export class Overlap {
  private turnsAlone = TURNS_TO_BE_ALONE;
  private fewestJobs = FEWEST_JOBS;

  constructor(private readonly concurrency: number) {}

  /** Takes in what a turn was told of other workers, and of its own cost. */
  noteAnswer({ isContended, isWhole }: TurnAnswer): void {
    this.turnsAlone = isContended ? 0 : this.turnsAlone + 1;
    this.fewestJobs = isWhole ? FEWEST_JOBS_IF_WHOLE : FEWEST_JOBS;
  }

  /** True if two turns are worth it: no other worker had a backlog lately, or one turn could not take all there is. */
  get isWorthIt(): boolean {
    return this.turnsAlone >= TURNS_TO_BE_ALONE || this.concurrency > MOST_JOBS;
  }

  /** True if this is enough for a turn beside another. Capacity for as much as a turn may claim is enough by itself. */
  isEnough({ settlements, limit }: Share): boolean {
    const least = Math.max(this.fewestJobs, Math.floor(this.concurrency / 4));
    return Math.min(settlements, limit) >= least || limit >= MOST_JOBS;
  }

  /**
   * The share of a turn of all there is: where the rest is enough for another turn, half of all places; else as much as it can take.
   */
  shareOf(all: Share): Share {
    const half = Math.min(Math.ceil(this.concurrency / 2), MOST_JOBS);
    const isWorthHalving = this.isEnough({ settlements: all.settlements - half, limit: all.limit - half });
    return isWorthHalving ? { settlements: half, limit: half } : all;
  }
}
