import { FIRST_VERSION } from '../../core/job/job-versions.js';
import { recurrenceOf } from '../../core/job/occurrence-id.js';
import type { JobRecurrence } from '../../core/job/scheduled-job.js';
import type { Codecs } from '../../core/payload/codecs.js';
import { type Envelope, isReadable } from '../../store/envelope.js';
import type { StoredJob } from '../../store/job-store.js';
import type { ProcessJobStore } from '../redis/process-job-store.js';
import { isOfKind, type JobKind } from './job-kind.js';

/** A job that waits, as `scheduled()` tells it. */
export interface WaitingJob {
  /** The job's name. */
  name: string;
  /** The version with which it was scheduled. `payload` is of that version, as it is not upgraded yet. */
  version: number;
  /** The job's id: yours, or one that the library made. */
  id: string;
  /** The job's queue. */
  queue: string;
  /** `undefined` where the codec of the job answers a promise, so that it cannot be read at once. */
  payload: unknown;
  /** When it is due, in virtual time. */
  dueAt: Date;
  /** When it was scheduled, in virtual time. */
  createdAt: Date;
  /** How many attempts have begun. */
  attempts: number;
  /** 1 to 1 000; a lower number is more urgent. */
  priority: number;
  /** Whose job it is; missing for none. */
  group?: string;
  /** Those of definition and call together; `[]` without any. */
  tags: readonly string[];
  /** Those of definition and call together; `{}` without any. */
  headers: Readonly<Record<string, string>>;
  /** Of an occurrence of a recurrence: which one. */
  recurrence?: JobRecurrence;
}

type ReadJob = Pick<StoredJob, 'id' | 'dueAtMs' | 'attempts'> & { envelope: Envelope };

const unread = new WeakSet<WaitingJob>();

/** The jobs that wait in one store, by due time, then by id. */
export function waitingJobs(store: ProcessJobStore, codecs: Codecs, kind?: JobKind): WaitingJob[] {
  return store.openedQueues().flatMap((queue) =>
    [...queue.waiting()].flatMap(({ id }) => {
      const { envelope, ...job } = queue.job(id)!;
      if (!isReadable(envelope)) return [];
      const isWanted = !kind || isOfKind({ name: envelope.name, queue: queue.name }, kind);
      return isWanted ? [view(queue.name, { ...job, envelope }, codecs)] : [];
    }),
  );
}

export const byDueTime = (a: WaitingJob, b: WaitingJob) =>
  a.dueAt.getTime() - b.dueAt.getTime() || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

function view(queue: string, { id, envelope, dueAtMs, attempts }: ReadJob, codecs: Codecs): WaitingJob {
  const { name, version = FIRST_VERSION, createdAtMs, priority, group, tags, settings } = envelope;
  const read = payloadOf(queue, id, envelope, codecs);
  const recurrence = recurrenceOf(id, envelope.occurrence);
  const job: WaitingJob = {
    name,
    version,
    id,
    queue,
    payload: read?.payload,
    dueAt: new Date(dueAtMs),
    createdAt: new Date(createdAtMs),
    attempts,
    priority,
    ...(group !== undefined && { group }),
    tags,
    headers: settings.headers ?? {},
    ...(recurrence && { recurrence }),
  };
  if (!read) unread.add(job);
  return job;
}

/** Whether the payload could not be read at once: its codec answers promises, is not known, or throws. */
export const isUnread = (job: WaitingJob): boolean => unread.has(job);

function payloadOf(queue: string, id: string, envelope: Envelope, codecs: Codecs): { payload: unknown } | undefined {
  try {
    const payload = codecs.decode(envelope, { queue, id, name: envelope.name });
    if (!(payload instanceof Promise)) return { payload };
    payload.catch(() => {});
  } catch {}
  return undefined;
}
