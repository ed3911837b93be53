import type { OnLate } from './definition.js';

/** What every event has. */
interface JobEvent {
  /** The queue of the job. */
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

/** A call of this process has created the job, or a turn of this process has: the next step of a chain, or the completion job of a set. */
interface ScheduledEvent extends JobEvent {
  type: 'scheduled';
  /** The job's name. */
  name: string;
  /** When it is due, by Redis' clock; of a step of a chain by that of this process. */
  dueAt: Date;
}

/** An attempt begins. */
interface StartedEvent extends RunEvent {
  type: 'started';
  /** How long after its due time the job was claimed, in ms by Redis' clock. */
  latenessMs: number;
}

/** A handler has called `job.progress`. */
interface ProgressEvent extends RunEvent {
  type: 'progress';
  /** What `job.progress` was given. */
  value: unknown;
}

/** The job is done. */
interface CompletedEvent extends RunEvent {
  type: 'completed';
  /** How long the run took, validation included, in ms with a fraction. */
  durationMs: number;
}

/** An attempt has failed. */
interface FailedEvent extends RunEvent {
  type: 'failed';
  /** What was thrown, or what is wrong with the payload. */
  error: unknown;
  /** When the next attempt is due, by the clock of this process; `null` where there is none: the job is dead, or `replaced`. */
  retryAt: Date | null;
  /**
   * A job was queued behind this run (`onDuplicate: 'replace'`), and has taken over or been cancelled: this one is neither retried nor
   * dead. Where the queued one was cancelled, the event `cancelled` follows.
   */
  replaced?: true;
}

/** The job is a dead letter. */
interface DeadEvent extends RunEvent {
  type: 'dead';
  /** Why it is not tried again. */
  reason: DeadReason;
  /** What was thrown or is wrong with the payload, or the reason given to `JobOutcome.deadLetter`; missing if the job was not handed out to a handler or a pop. */
  error?: unknown;
}

/** The job has ended without being done. */
interface DiscardedEvent extends RunEvent {
  type: 'discarded';
  /** What `JobOutcome.discard` was given, or `'late'`; of an occurrence of a recurrence also `'missed'` or `'overlap'`. */
  reason: string;
}

/** The job could only begin later than its `maxLatenessMs`. */
interface LateEvent extends JobEvent {
  type: 'late';
  /** The job's name. */
  name: string;
  /** How long after its due time the job was looked at, in ms by Redis' clock. */
  latenessMs: number;
  /** What happens to it now. */
  onLate: OnLate;
}

/**
 * What happens to jobs in this process; look at `type` to tell events apart. The process that acts emits the event. `recovered` (a lease
 * ran out), `late` and `deadDropped` are emitted by the process that found it. Events may be lost, if a process dies or an answer of
 * Redis is lost; `inspector.stats()` is exact.
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
  /** Emitted by the process that called `producer.cancel` or `inspector.cancelTagged`; after `cancelRunning` by the one that ran the job or found its lease run out. */
  | (JobEvent & { type: 'cancelled' })
  | LateEvent
  | (RunEvent & { type: 'recovered' })
  | (JobEvent & { type: 'deadDropped'; name: string });

/** The types of events. */
export type ScheduledQueueEventType = ScheduledQueueEvent['type'];

/** The events of one type, or of several: `ScheduledQueueEventOf<'failed' | 'dead'>`. */
export type ScheduledQueueEventOf<Type extends ScheduledQueueEventType> = Extract<ScheduledQueueEvent, { type: Type }>;

/** A record, so that a type that is missing here does not compile. */
const TYPES: Readonly<Record<ScheduledQueueEventType, true>> = {
  scheduled: true,
  started: true,
  progress: true,
  completed: true,
  failed: true,
  dead: true,
  snoozed: true,
  cancelled: true,
  discarded: true,
  recovered: true,
  late: true,
  leaseLost: true,
  deadDropped: true,
};

export const EVENT_TYPES = Object.keys(TYPES) as readonly ScheduledQueueEventType[];

/** Why a job lies in the dead-letter set; docs/errors.md says what to do about each. */
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
  'not-relayable',
] as const;

/** Where events go. */
export interface EventSink {
  /** False while nobody wants the events of this queue, so that nothing need be made for them. */
  wants(queue: string): boolean;
  tell(event: ScheduledQueueEvent): void;
}
