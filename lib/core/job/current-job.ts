import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { ScheduledJob } from './scheduled-job.js';

type JobStorage = AsyncLocalStorage<ScheduledJob | undefined>;

/** Both builds of this package, and two copies of it, must find the same one. */
const STORAGE = Symbol.for('nestjs-redis-scheduled-queue:current-job');
const shared = globalThis as { [STORAGE]?: JobStorage };

/**
 * The job whose handler the caller runs in: anywhere below the handler, without passing the job on, in guards, interceptors, pipes
 * and filters around it as well, and in whatever the handler began and did not await. `undefined` elsewhere: for popped jobs, in
 * listeners, while a payload is decoded or validated, and where the module option `trackCurrentJob` is `false`.
 *
 * A logger is also answered the job that a log line of this library is about, such as that of a failed attempt or of a dead job. If
 * that job had no run in this process, only `queue`, `id` and mostly `name` and `attempt` are known: `payload` and `recurrence` are
 * `undefined`, `headers` may be empty, other numbers are `NaN` and dates are invalid.
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
export function withCurrentJob<Payload>(
  run: (payload: Payload, job: ScheduledJob) => unknown,
): (payload: Payload, job: ScheduledJob) => unknown {
  shared[STORAGE] ??= new AsyncLocalStorage();
  const storage = shared[STORAGE];
  // Arguments instead of closures, here and below: this is called for every run.
  if (remembersInScopes(storage)) return (payload, job) => storage.run(job, run, payload, job);
  const enter = (payload: Payload, job: ScheduledJob) => {
    storage.enterWith(job);
    return run(payload, job);
  };
  // A scope for each run. A lasting one would bring back the storages of others, such as those of a tracer, as they were when it was made.
  return (payload, job) => new AsyncResource('ScheduledJob').runInAsyncScope(enter, undefined, payload, job);
}

/**
 * Whether a job that was entered in a scope is still the current one when the scope is entered again. So it is on Node 20 and 22,
 * which keep it with the scope. From Node 24 on, all storages lie in one map, which `run` copies twice: for the job, and to take
 * it away again. A scope puts the map back that was there before, so that a run copies it once, and needs two thirds of the time.
 */
function remembersInScopes(storage: JobStorage): boolean {
  const scope = new AsyncResource('ScheduledJob');
  scope.runInAsyncScope(() => storage.enterWith({} as ScheduledJob));
  return scope.runInAsyncScope(() => storage.getStore()) !== undefined;
}

/** Calls `work` with this as the current job: for the log lines about it. */
export function withinJob(job: ScheduledJob, work: () => void): void {
  shared[STORAGE] ??= new AsyncLocalStorage();
  shared[STORAGE].run(job, work);
}

/**
 * Made when the library is imported: in nobody's context, unless a request is the first to import it. Work is taken out of whatever lies
 * in an `AsyncLocalStorage`, and so not out of a tracer that follows requests by async hooks of its own.
 */
const nobody = new AsyncResource('ScheduledQueue');

/**
 * Calls `work` with no current job, and in no context of anybody else who follows a request, such as a tracer. For timers, batches and
 * listeners that a handler or a request starts and that serve others: they would keep its job and its span in memory, and what they do
 * would count as its own.
 */
export function outsideJobs(work: () => void): void {
  nobody.runInAsyncScope(work);
}
