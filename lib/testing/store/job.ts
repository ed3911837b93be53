import type { NewJob } from '../../core/job/new-job.js';
import type { Envelope, StoredFailure } from '../../store/envelope.js';
import type { EndedState } from '../../store/queue-view.js';

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
}

/** What is kept of a job that has completed. */
export interface CompletedJob {
  readonly id: string;
  readonly envelope: Envelope;
  readonly dueAtMs: number;
  readonly attempts: number;
  readonly completedAtMs: number;
  readonly progress?: string;
  readonly result: string;
}

/** What is kept of a job that was discarded or cancelled; nobody shows its payload. */
export interface EndedJob {
  readonly id: string;
  readonly state: EndedState;
  readonly envelope: Envelope;
  readonly dueAtMs: number;
  readonly attempts: number;
  readonly reason: string;
  readonly endedAtMs: number;
}

/** In which order ids stand that are due, die or end at one instant. */
export const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** With one crash left, a job is a suspect: it runs alone. Where it may crash only once, none is. */
export const isSuspect = ({ crashes }: Job, maxCrashes: number) => maxCrashes > 1 && crashes >= maxCrashes - 1;

/** The worker that a waiting job prefers. Suspects prefer none: they go to whatever process is empty. */
export const preferredBy = (job: Job, maxCrashes: number) =>
  isSuspect(job, maxCrashes) ? undefined : job.envelope.worker;

/** What is stored of a job; nothing of it is shared with the caller. */
export function envelopeOf(
  { name, priority, worker, tags = [], settings, lateness, codec, payload }: Omit<NewJob, 'id' | 'due'>,
  createdAtMs: number,
  idWasChosen: boolean,
): Envelope {
  return {
    name,
    priority,
    ...(worker !== undefined && { worker }),
    createdAtMs,
    idWasChosen,
    tags: [...tags],
    settings: structuredClone(settings),
    ...(lateness && { lateness: { ...lateness } }),
    ...(codec !== undefined && { codec }),
    payload,
  };
}
