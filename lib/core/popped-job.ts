import type { Duration } from './duration.js';
import type { SnoozeUntil } from './outcome.js';
import type { ScheduledJob } from './scheduled-job.js';

type JobFields =
  | 'id'
  | 'queue'
  | 'name'
  | 'payload'
  | 'headers'
  | 'dueAt'
  | 'createdAt'
  | 'attempt'
  | 'maxAttempts'
  | 'priority'
  | 'latenessMs'
  | 'fence';

/**
 * A job that `pop` has claimed. Its lease holds for the queue's `leaseMs` and is not renewed by itself: when it runs out, the
 * job goes back as from a worker that died. `extend` makes it longer.
 *
 * All four calls resolve to `false`, with nothing changed, where the lease is no longer this claim's: it ran out and another
 * one took the job, or the job has been settled already. They resolve to `false` too where somebody has called
 * `cancelRunning`: the job then ends as cancelled. `QueueUnavailableError` where Redis has not answered within
 * `commandTimeoutMs`: what was said is still sent when it is back, and the same call again tells what came of it.
 */
export interface PoppedJob<T = unknown> extends Readonly<Pick<ScheduledJob<T>, JobFields>> {
  /** The job has been done. Its result is kept as JSON where completed jobs are; a `JobOutcome` decides, as a handler's does. */
  complete(result?: unknown): Promise<boolean>;
  /** The attempt has failed, and the job goes on as after a handler's throw: next attempt, or dead. */
  fail(error: unknown): Promise<boolean>;
  /** The job runs again after a duration or at an instant, and no attempt is used. `InvalidScheduleError` where that cannot be read. */
  snooze(until: SnoozeUntil): Promise<boolean>;
  /** The lease ends so long from now, by Redis' clock, be that later or earlier than before. At least 1 ms, else `InvalidScheduleError`. */
  extend(duration: Duration): Promise<boolean>;
}
