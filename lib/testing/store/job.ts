import type { NewJob } from '../../core/job/new-job.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import type { Envelope, StoredFailure } from '../../store/envelope.js';

/** Who holds a running job, and until when. */
export interface Holding {
  readonly fence: string;
  /** The key of the session. */
  readonly session: string;
  /** The process of the session. */
  readonly worker: string;
  leaseUntilMs: number;
  /** Somebody wants the job cancelled: whatever its holder says, it ends as cancelled. */
  isCancelled: boolean;
  /** Nobody knows whether the claim has arrived; no job of it begins before its lease is renewed. */
  isUnconfirmed: boolean;
}

/** What takes the place of a running job when the run has ended. */
export interface QueuedJob {
  readonly envelope: Envelope;
  dueAtMs: number;
  /** It is of a row with a longest wait: its envelope has the time at which the first of the row was created. */
  readonly isBounded?: boolean;
}

/** A job that has not ended. It is in one state: it waits, it runs (and is `held`), or it is dead. */
export interface Job {
  readonly id: string;
  envelope: Envelope;
  dueAtMs: number;
  /** How many attempts have begun. */
  attempts: number;
  /** How often its lease ran out. */
  crashes: number;
  failures: readonly StoredFailure[];
  /** What the latest run has reported last, as JSON. */
  progress?: string;
  held?: Holding;
  queued?: QueuedJob;
  /** The job that was queued behind its run was cancelled: no attempt and no dead letter follow the run. */
  isLastRun?: boolean;
  diedAtMs?: number;
  /** It was claimed, or is dead, since it is there or took the place of another one. */
  hasBegun?: boolean;
  /** As of a queued job. */
  isBounded?: boolean;
}

/** In which order ids stand that are due, die or end at one instant. */
export const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/**
 * The lower comes first. Strict: the priority number. Aging: due + priority × msPerLevel; as a waiting job grows more urgent by one level
 * every msPerLevel, the order of two jobs never changes.
 */
export const rankOf = ({ dueAtMs, envelope: { priority } }: Job, ordering: QueueSettings['ordering']) =>
  ordering.mode === 'strict' ? priority : dueAtMs + priority * ordering.msPerLevel;

/** The order of a queue, for workers that no job prefers. */
export const compareJobs = (ordering: QueueSettings['ordering']) => (a: Job, b: Job) =>
  rankOf(a, ordering) - rankOf(b, ordering) ||
  a.envelope.priority - b.envelope.priority ||
  a.dueAtMs - b.dueAtMs ||
  byId(a, b);

/** With one crash left, a job is a suspect: it runs alone. Where it may crash only once, none is. */
export const isSuspect = ({ crashes }: Job, maxCrashes: number) => maxCrashes > 1 && crashes >= maxCrashes - 1;

/** The worker that a waiting job prefers. Suspects prefer none: they go to whatever process is empty. */
export const preferredBy = (job: Job, maxCrashes: number) =>
  isSuspect(job, maxCrashes) ? undefined : job.envelope.worker;

/** What is stored of a job; nothing of it is shared with the caller. */
export function envelopeOf(
  { name, version, priority, worker, group, tags = [], settings, lateness, codec, payload }: Omit<NewJob, 'id' | 'due'>,
  createdAtMs: number,
  idWasChosen: boolean,
): Envelope {
  return {
    name,
    ...(version !== undefined && { version }),
    priority,
    ...(worker !== undefined && { worker }),
    ...(group !== undefined && { group }),
    createdAtMs,
    idWasChosen,
    tags: [...tags],
    settings: structuredClone(settings),
    ...(lateness && { lateness: { ...lateness } }),
    ...(codec !== undefined && { codec }),
    payload,
  };
}
