import type { DeadReason } from '../core/job/events.js';

/** A failed attempt, or why a job is dead, as it is kept with the job. */
export interface Failure {
  name: string;
  message: string;
  code?: string;
  cause?: string;
  /** Its first line, escaped, and then the first lines that name a place. */
  stack?: string;
  /** Why the job died with this attempt, if it did. */
  reason?: DeadReason;
}

/** A failure that is stored; of one that somebody has damaged only the numbers are known. */
export interface StoredFailure extends Partial<Failure> {
  atMs: number;
  attempt: number;
}
