import type { SharedOptions } from '../../core/options/shared-options.js';
import type { LiveWorker } from '../../store/job-store.js';

const NONE_STUCK = { count: 0 };

/** A process that works at a queue. */
export interface InspectedWorker {
  /** Its `workerId`. */
  id: string;
  /** The name of its machine, as the operating system gives it. */
  host: string;
  /** Its process id on that machine. */
  pid: number;
  /** The version of this package that it runs. */
  version: string;
  /**
   * The jobs of the queue that it holds now, plus its stuck handlers. More than `concurrency` where handlers have `batch`: a call takes one
   * place, however many jobs it has, and jobs that wait for their call take none.
   */
  running: number;
  /** What weight of jobs its handlers run at once: the queue's `concurrency` there; 0 if it only pulls. */
  concurrency: number;
  /** The names of the jobs that it handles or pulls in this queue, sorted; `'*'` where it pulls every name. */
  handles: string[];
  /** The options that must be alike in all processes of the queue, as they are in this one. */
  options: SharedOptions;
  /** How many of its handlers go on although their run has timed out, was cancelled or lost its lease. Each still takes its place. */
  stuck: number;
  /** When Redis last heard of it; a live worker reports about every quarter of `leaseMs`. */
  lastSeenAt: Date;
}

export function toInspectedWorker(live: LiveWorker): InspectedWorker {
  const { id, host, pid, version, concurrency, handles, options, lastSeenAtMs } = live;
  const { count: stuck } = live.stuck ?? NONE_STUCK;
  const running = live.running + stuck;
  // In the order of the documents: a person prints it.
  return {
    id,
    host,
    pid,
    version,
    running,
    concurrency,
    handles: [...handles],
    options,
    stuck,
    lastSeenAt: new Date(lastSeenAtMs),
  };
}
