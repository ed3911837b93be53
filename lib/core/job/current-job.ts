import { AsyncLocalStorage } from 'node:async_hooks';
import type { ScheduledJob } from './scheduled-job.js';

type Jobs = AsyncLocalStorage<ScheduledJob | undefined>;

/** Both builds of this package, and two copies of it, must find the same one. */
const STORAGE = Symbol.for('nestjs-redis-scheduled-queue:current-job');
const shared = globalThis as { [STORAGE]?: Jobs };

/**
 * The job whose handler the caller runs in: anywhere below the handler, without passing the job on, in guards, interceptors, pipes
 * and filters around it as well, and in whatever the handler began and did not await. `undefined` elsewhere: for popped jobs, in
 * listeners, while a payload is decoded or validated, and where the module option `trackCurrentJob` is `false`.
 *
 * @example
 * ```ts
 * const job = currentScheduledJob();
 * console.log(JSON.stringify({ message: 'Sent', jobName: job?.name, jobId: job?.id }));
 * ```
 */
export function currentScheduledJob<T = unknown>(): ScheduledJob<T> | undefined {
  return shared[STORAGE]?.getStore() as ScheduledJob<T> | undefined;
}

/** `run`, with its job as the current one. The storage is made here, so that it costs nothing where no handler is tracked. */
export function tracked<Payload>(
  run: (payload: Payload, job: ScheduledJob) => unknown,
): (payload: Payload, job: ScheduledJob) => unknown {
  shared[STORAGE] ??= new AsyncLocalStorage();
  const storage = shared[STORAGE];
  // Arguments instead of a closure: this is called for every run.
  return (payload, job) => storage.run(job, run, payload, job);
}

/**
 * Calls `work` outside of any job. For what outlives the handler that happens to begin it: it would hold on to that handler's job,
 * and tell events as if they were below it.
 */
export function outsideJobs(work: () => void): void {
  const storage = shared[STORAGE];
  if (storage?.getStore() === undefined) work();
  else storage.run(undefined, work);
}
