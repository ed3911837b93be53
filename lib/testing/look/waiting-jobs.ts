import type { Codecs } from '../../core/payload/codecs.js';
import { isThenable } from '../../core/thenable.js';
import type { Job } from '../../store/memory/job.js';
import type { MemoryJobStore } from '../../store/memory/memory-job-store.js';

/** A job that waits, as `scheduled()` tells it. */
export interface WaitingJob {
  name: string;
  id: string;
  queue: string;
  payload: unknown;
  dueAt: Date;
  createdAt: Date;
  /** How many attempts have begun. */
  attempts: number;
  priority: number;
  tags: readonly string[];
  headers: Readonly<Record<string, string>>;
}

/** The jobs that wait in one store, by due time, then by id. */
export function waitingJobs(store: MemoryJobStore, codecs: Codecs, name?: string): WaitingJob[] {
  return store
    .openedQueues()
    .flatMap((queue) =>
      queue.ledger
        .waiting()
        .flatMap(({ jobs }) =>
          [...jobs]
            .filter(({ envelope }) => name === undefined || envelope.name === name)
            .map((job) => view(queue.name, job, codecs)),
        ),
    );
}

export const byDueTime = (a: WaitingJob, b: WaitingJob) =>
  a.dueAt.getTime() - b.dueAt.getTime() || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

function view(queue: string, { id, envelope, dueAtMs, attempts }: Job, codecs: Codecs): WaitingJob {
  const { name, createdAtMs, priority, tags, settings } = envelope;
  return {
    name,
    id,
    queue,
    payload: payloadOf(queue, id, envelope, codecs),
    dueAt: new Date(dueAtMs),
    createdAt: new Date(createdAtMs),
    attempts,
    priority,
    tags,
    headers: settings.headers ?? {},
  };
}

/** `undefined` where it cannot be read at once: its codec answers promises, or is not known. */
function payloadOf(queue: string, id: string, envelope: Job['envelope'], codecs: Codecs): unknown {
  try {
    const payload = codecs.decode(envelope, { queue, id, name: envelope.name });
    if (!isThenable(payload)) return payload;
    Promise.resolve(payload).catch(() => {});
  } catch {}
  return undefined;
}
