import type { OnLate } from './lateness.js';

interface JobEvent {
  queue: string;
  id: string;
}

interface RunEvent extends JobEvent {
  name: string;
  attempt: number;
}

/** What happens to jobs in this process, told apart by `type`. */
export type ScheduledQueueEvent =
  | (JobEvent & { type: 'scheduled'; name: string; dueAt: Date })
  | (RunEvent & { type: 'started'; latenessMs: number })
  | (RunEvent & { type: 'progress'; value: unknown })
  | (RunEvent & { type: 'completed'; durationMs: number })
  | (RunEvent & { type: 'failed'; error: unknown; retryAt: Date | null })
  | (RunEvent & { type: 'dead'; reason: DeadReason; error?: unknown })
  | (RunEvent & { type: 'snoozed' })
  | (RunEvent & { type: 'discarded'; reason: string })
  | (RunEvent & { type: 'leaseLost' })
  | (JobEvent & { type: 'cancelled' })
  | (JobEvent & { type: 'late'; name: string; latenessMs: number; onLate: OnLate })
  | (RunEvent & { type: 'recovered' })
  | (JobEvent & { type: 'deadDropped'; name: string });

/** Why a job lies in the dead-letter set. */
export type DeadReason =
  | 'attempts-exhausted'
  | 'unrecoverable'
  | 'dead-lettered'
  | 'crashed'
  | 'late'
  | 'invalid-payload'
  | 'unreadable'
  | 'envelope-missing';

/** Where events go. `wanted` is false while nobody listens, so that nothing need be made for them. */
export interface EventSink {
  readonly wanted: boolean;
  tell(event: ScheduledQueueEvent): void;
}
