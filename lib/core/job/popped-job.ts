import type { Duration } from '../read/duration.js';
import type { SnoozeUntil } from './outcome.js';
import type { ScheduledJob } from './scheduled-job.js';

/** What a popped job tells of itself, as a running one does. */
export const POPPED_JOB_FIELDS = [
  'id',
  'queue',
  'name',
  'version',
  'payload',
  'headers',
  'dueAt',
  'createdAt',
  'attempt',
  'maxAttempts',
  'priority',
  'group',
  'latenessMs',
  'fence',
  'recurrence',
] as const;

export type PoppedJobFields<T = unknown> = Readonly<Pick<ScheduledJob<T>, (typeof POPPED_JOB_FIELDS)[number]>>;

/**
 * A job that `pop` has claimed. You hold it for the queue's `leaseMs`; nobody renews this lease, but `extend` makes it longer. When it
 * runs out, the job goes back as if its worker had died.
 *
 * All four calls answer `false` and change nothing if this claim has lost its lease, or if the job is settled already. They also
 * answer `false` if somebody has called `cancelRunning`; the job then ends as cancelled. They throw `QueueUnavailableError` if Redis
 * has not answered within `commandTimeoutMs`. The call is still sent when Redis is back; call again to learn its result.
 */
export interface PoppedJob<T = unknown> extends PoppedJobFields<T> {
  /** Completes the job. Its result is kept if the queue keeps completed jobs. A `JobOutcome` decides instead, as in a handler. */
  complete(result?: unknown): Promise<boolean>;
  /** Fails the attempt, as if a handler had thrown this error: the job is retried or dead. */
  fail(error: unknown): Promise<boolean>;
  /** Lets the job run again later, without using an attempt. Throws `InvalidScheduleError` if the time cannot be read. */
  snooze(until: SnoozeUntil): Promise<boolean>;
  /** Lets the lease end this long from now, which may be earlier than before. At least 1 ms, else `InvalidScheduleError`. */
  extend(duration: Duration): Promise<boolean>;
}
