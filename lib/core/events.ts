import type { OnLate } from './lateness.js';

/** What every event has. */
interface JobEvent {
  queue: string;
  /** The job's. */
  id: string;
}

/** What an event has that is about one run. */
interface RunEvent extends JobEvent {
  /** The job's name. */
  name: string;
  /** Which run, from 1; 0 where the job was too late to run. */
  attempt: number;
}

interface ScheduledEvent extends JobEvent {
  type: 'scheduled';
  name: string;
  dueAt: Date;
}

interface StartedEvent extends RunEvent {
  type: 'started';
  /** How long after its due time the job was claimed, in ms by Redis' clock. */
  latenessMs: number;
}

interface ProgressEvent extends RunEvent {
  type: 'progress';
  /** What `job.progress` was given. */
  value: unknown;
}

interface CompletedEvent extends RunEvent {
  type: 'completed';
  /** From the claim being taken in to the end, in ms with a fraction; the validation of the payload is part of it. */
  durationMs: number;
}

interface FailedEvent extends RunEvent {
  type: 'failed';
  /** What was thrown, or what does not fit. */
  error: unknown;
  /** When the next attempt is due, by the clock of this process; `null` where there is none: the job is dead, or `replaced`. */
  retryAt: Date | null;
  /** A job that was queued behind this run, with `onDuplicate: 'replace'`, has taken its place: this one is neither retried nor dead. */
  replaced?: true;
}

interface DeadEvent extends RunEvent {
  type: 'dead';
  reason: DeadReason;
  /** What was thrown or does not fit, or the reason given to `JobOutcome.deadLetter`; missing where it was never handed out: found `late`, `crashed` or `envelope-missing`, or `unreadable` by a relay. */
  error?: unknown;
}

interface DiscardedEvent extends RunEvent {
  type: 'discarded';
  /** What `JobOutcome.discard` was given, or `'late'`. */
  reason: string;
}

interface LateEvent extends JobEvent {
  type: 'late';
  name: string;
  /** How long after its due time the job was looked at, in ms by Redis' clock. */
  latenessMs: number;
  /** What becomes of it for that. */
  onLate: OnLate;
}

/**
 * What happens to jobs in this process, told apart by `type`. Told by the process that did it or, of a job whose lease ran out
 * (`recovered`), that was late, or that `keepDead` pushed out (`deadDropped`), by whichever process found it. Events may be
 * lost, where a process dies or a reply of Redis is lost; `inspector.stats()` is exact.
 */
export type ScheduledQueueEvent =
  | ScheduledEvent
  | StartedEvent
  | ProgressEvent
  | CompletedEvent
  | FailedEvent
  | DeadEvent
  | (RunEvent & { type: 'snoozed' })
  | DiscardedEvent
  | (RunEvent & { type: 'leaseLost' })
  /** Told by whoever called `producer.cancel` or `inspector.cancelTagged`, and after `cancelRunning` by the process that ran the job or found its lease run out. */
  | (JobEvent & { type: 'cancelled' })
  | LateEvent
  | (RunEvent & { type: 'recovered' })
  | (JobEvent & { type: 'deadDropped'; name: string });

/** Why a job lies in the dead-letter set. */
export type DeadReason = (typeof DEAD_REASONS)[number];

export const DEAD_REASONS = [
  'attempts-exhausted',
  'unrecoverable',
  'dead-lettered',
  'crashed',
  'late',
  'invalid-payload',
  'unreadable',
  'envelope-missing',
] as const;

/** Where events go. `wanted` is false while nobody listens, so that nothing need be made for them. */
export interface EventSink {
  readonly wanted: boolean;
  tell(event: ScheduledQueueEvent): void;
}
