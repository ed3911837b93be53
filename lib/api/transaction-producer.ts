import type { ScheduledJobDefinition } from '../core/job/definition.js';
import type { ScheduledJobRef } from '../core/job/scheduled-job.js';
import { type DispatchOptions, refuseDueTime, type ScheduleOptions } from '../core/options/schedule-options.js';
import type { PayloadOf } from '../core/payload/payload-types.js';

/** A job that was appended to a MULTI. It exists once EXEC has run, unless EXEC answers an error for it. */
export type AppendedJobRef = Pick<ScheduledJobRef, 'id' | 'queue' | 'name'>;

/** What `producer.in(multi)` answers: each call appends one job to that MULTI, and resolves once it has. */
export interface TransactionProducer {
  /**
   * As the producer's `schedule`, with these differences: a `delay` counts from EXEC; an id that is known changes nothing, whoever has it, and
   * nothing tells of it; no event `scheduled` is told; `minReplicas` and `commandTimeoutMs` do not apply to EXEC. What is refused appends nothing.
   * Rejects with `InvalidScheduleError` also for `onDuplicate: 'replace'`, after `exec()`, and where the server runs no scripts inside of MULTI. The
   * first call asks Redis about that, so it may reject with `QueueUnavailableError`.
   */
  schedule(job: ScheduledJobDefinition<void>): Promise<AppendedJobRef>;
  schedule<T>(
    job: ScheduledJobDefinition<T> | string,
    payload: NoInfer<PayloadOf<T>>,
    options?: ScheduleOptions,
  ): Promise<AppendedJobRef>;
  /** The same for a job that is due at EXEC. Throws `InvalidScheduleError` for `at` or `delay`. */
  dispatch(job: ScheduledJobDefinition<void>): Promise<AppendedJobRef>;
  dispatch<T>(
    job: ScheduledJobDefinition<T> | string,
    payload: NoInfer<PayloadOf<T>>,
    options?: DispatchOptions,
  ): Promise<AppendedJobRef>;
}

type Append = (
  job: ScheduledJobDefinition | string,
  payload: unknown,
  options: ScheduleOptions | undefined,
) => Promise<AppendedJobRef>;

/** `append`: reads one job, and appends it. */
export function transactionProducer(append: Append): TransactionProducer {
  return {
    schedule: (job: ScheduledJobDefinition | string, payload?: unknown, options?: ScheduleOptions) =>
      append(job, payload, options),
    dispatch: async (job: ScheduledJobDefinition | string, payload?: unknown, options?: DispatchOptions) => {
      refuseDueTime(options);
      return await append(job, payload, options);
    },
  };
}
