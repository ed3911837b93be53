import type { DeadReason } from '../../core/job/events.js';

/**
 * How a run ended:
 * - `completed`, `discarded`, `cancelled`: the job is gone;
 * - `failed`: the job runs again at `retryAt`; without one, a job that was queued behind the run has taken its place;
 * - `dead`: it failed for the last time, or was given to the dead-letter set;
 * - `snoozed`: the job runs again at `retryAt`, with no attempt used;
 * - `crashed`: by `crashNext`; the lease runs out later;
 * - `leaseLost`: the result was dropped;
 * - `released`: the application was closed, or its workers were stopped, while the handler slept; the job went back;
 * - `running`: it has not ended: its handler sleeps, or has not returned within 5 s of real time.
 */
export type RunOutcome =
  | 'completed'
  | 'failed'
  | 'dead'
  | 'snoozed'
  | 'discarded'
  | 'cancelled'
  | 'crashed'
  | 'leaseLost'
  | 'released'
  | 'running';

/** How one call of a handler ended. */
export interface RunResult {
  /** How. */
  outcome: RunOutcome;
  /** What the handler returned, if it completed; of a call with several jobs, what `JobOutcome.each` said of this one. */
  result?: unknown;
  /** What was thrown, or the reason that was given. */
  error?: unknown;
  /** When the job runs again. */
  retryAt?: Date;
  /** Why a dead job is dead. */
  reason?: DeadReason;
}

/** One run of a job, as `runs()` tells it. */
export interface TestedRun extends RunResult {
  /** The job's name. */
  name: string;
  /** The version with which it was scheduled. */
  version: number;
  /** The job's id. */
  id: string;
  /** The job's queue. */
  queue: string;
  /** As the handler got it. */
  payload: unknown;
  /** Which attempt it was, from 1. */
  attempt: number;
  /** When this attempt was due, in virtual time. */
  dueAt: Date;
  /** When it began, in virtual time: with its call, where its job waited for others. */
  startedAt: Date;
  /** When it ended, in virtual time; missing while the handler sleeps. */
  endedAt?: Date;
}

/** How a single run by hand differs from the first attempt of a job that is due now. */
export interface RunJobOptions {
  /** Which attempt it is. Default 1. */
  attempt?: number;
  /** When it was due. Default now. */
  dueAt?: Date | number | string;
}
