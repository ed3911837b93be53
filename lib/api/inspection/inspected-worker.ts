import type { LiveWorker } from '../../store/job-store.js';

/** A process that works at a queue. */
export interface InspectedWorker {
  /** Its `workerId`. */
  id: string;
  /** The name of its machine, as the operating system gives it. */
  host: string;
  pid: number;
  /** The version of this package that it runs. */
  version: string;
  /** How many jobs of the queue it holds now. */
  running: number;
  /** What weight of jobs its handlers run at once: the queue's `concurrency` there; 0 if it only pulls. */
  concurrency: number;
  /** The names of the jobs that it handles or pulls in this queue, sorted; `'*'` where it pulls every name. */
  handles: string[];
  /** When Redis last heard of it; a live worker reports about every quarter of `leaseMs`. */
  lastSeenAt: Date;
}

export function toInspectedWorker({ lastSeenAtMs, handles, weight: _, ...worker }: LiveWorker): InspectedWorker {
  return { ...worker, handles: [...handles], lastSeenAt: new Date(lastSeenAtMs) };
}
