import type { DeadReason } from 'nestjs-redis-scheduled-queue';

/** How a job may end. `cancelled` and `crashed` may happen to any kind, and have rules of their own. */
export type End = 'completed' | 'discarded' | DeadReason;

export interface JobKind {
  /** How often it is scheduled, against the others. */
  weight: number;
  maxAttempts: number;
  ends: readonly End[];
}

/** So many that no fault of a run uses them up for a job that would succeed. */
const PLENTY = 20;

/**
 * What jobs do; each kind is a job name. What their handlers do stands in processes/handlers.ts under the same names.
 * A new kind is added here and there; where it needs more: what its payload carries in `planJob` of work-plan.ts, its options
 * of the call in `item` of processes/producer.ts, its numbers in settings.ts, and what it means for due times and lateness in
 * rules/timing.ts.
 */
export const KINDS = {
  quick: { weight: 40, maxAttempts: PLENTY, ends: ['completed'] },
  /** Takes longer than a lease, and does not obey its signal, so that it settles even when its lease is lost. */
  slow: { weight: 14, maxAttempts: PLENTY, ends: ['completed'] },
  /** Only one worker handles it. */
  solo: { weight: 4, maxAttempts: PLENTY, ends: ['completed'] },
  /** Fails a few times, then succeeds. */
  flaky: { weight: 10, maxAttempts: PLENTY, ends: ['completed'] },
  /** Run many a call; some fail a few times, each by itself, or all with their call. */
  batched: { weight: 12, maxAttempts: PLENTY, ends: ['completed'] },
  /** Of a group, and of as many at once as its queue allows; some fail a few times. */
  grouped: { weight: 24, maxAttempts: PLENTY, ends: ['completed'] },
  failing: { weight: 5, maxAttempts: 3, ends: ['attempts-exhausted'] },
  unrecoverable: { weight: 3, maxAttempts: PLENTY, ends: ['unrecoverable'] },
  snoozing: { weight: 6, maxAttempts: PLENTY, ends: ['completed'] },
  discarded: { weight: 4, maxAttempts: PLENTY, ends: ['discarded'] },
  deadLettered: { weight: 3, maxAttempts: PLENTY, ends: ['dead-lettered'] },
  /** Checked against a class. */
  typed: { weight: 4, maxAttempts: PLENTY, ends: ['completed'] },
  unfit: { weight: 2, maxAttempts: PLENTY, ends: ['invalid-payload'] },
  /** Blocks the event loop for longer than a lease in its first attempt. */
  blocking: { weight: 0.7, maxAttempts: PLENTY, ends: ['completed'] },
  /** Outlives its time in the first attempts, deaf to its signal or not. */
  timed: { weight: 5, maxAttempts: PLENTY, ends: ['completed'] },
  /** Works until it is cancelled, or for a while. */
  cancellable: { weight: 5, maxAttempts: PLENTY, ends: ['completed'] },
  /** Is not to begin later than a moment after it is due. */
  perishable: { weight: 5, maxAttempts: PLENTY, ends: ['completed', 'late'] },
  /** Changed over and over, with a longest wait, or under a throttle: see change-plan.ts. */
  debounced: { weight: 0, maxAttempts: PLENTY, ends: ['completed'] },
  throttled: { weight: 0, maxAttempts: PLENTY, ends: ['completed'] },
  /** An occurrence of a recurrence; nobody schedules it. */
  recurring: { weight: 0, maxAttempts: PLENTY, ends: ['completed'] },
  /** Ends its process. */
  poison: { weight: 0.15, maxAttempts: 3, ends: [] },
} as const satisfies Record<string, JobKind>;

export type KindName = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as KindName[];

export function kindOf(name: string): JobKind {
  return KINDS[name as KindName];
}

/** What a job carries. */
export interface ChaosPayload {
  /** Names the job in every history line, also while its id is not known. */
  token: string;
  /** Grows with each replacement. */
  revision: number;
  kind: KindName;
  /** Of which group it is. */
  group?: string;
  /** How often `flaky`, `batched` and `grouped` fail, and `timed` takes too long. */
  fails?: number;
  /** `timed`: goes on when its signal has aborted. */
  deaf?: boolean;
  /** How long `slow`, `grouped` and `cancellable` work and `blocking` blocks. */
  workMs?: number;
  /** How long after its creation `snoozing` snoozes. */
  snoozesForMs?: number;
  /** `poison`: by a signal, or by leaving. */
  abruptly?: boolean;
}
