import { InvalidScheduleError } from '../core/errors.js';
import type { ScheduledJobDefinition } from '../core/job/definition.js';
import type { ScheduledJobRef } from '../core/job/scheduled-job.js';
import { type JobRef, type RescheduleOptions, readRef, readReschedule } from '../core/options/job-ref.js';
import {
  type DispatchOptions,
  readSchedule,
  refuseDueTime,
  type ScheduleOptions,
  type ScheduleRequest,
} from '../core/options/schedule-options.js';
import type { ItemPayload, PayloadOf } from '../core/payload/payload-types.js';
import { describe } from '../core/read/describe.js';
import { DUE_NOW } from '../core/read/due.js';
import { calledFromHere, forEachItem, ofItem, readItem, sendMany, sendOne } from './many-schedules.js';
import { checkChosenId } from './recurrence/chosen-ids.js';
import { beginSend, SendSpans, withoutPassedOn } from './send-spans.js';
import { SetCalls } from './set-calls.js';

/** One item of `scheduleMany`. */
// Without NoInfer the payload would have a say in what T is, and would always fit.
export type ScheduleItem<T = unknown> = {
  /** Its definition, or its name. */
  job: ScheduledJobDefinition<T> | string;
  /** As in `schedule`. */
  options?: ScheduleOptions;
} & NoInfer<ItemPayload<T>>;

type ScheduleItems<Payloads extends unknown[]> = { [I in keyof Payloads]: ScheduleItem<Payloads[I]> };

/**
 * Schedules jobs, and cancels or moves them while they wait; and makes recurrences, which schedule jobs by a rule.
 *
 * Every call throws `InvalidScheduleError` for a job, a time or an option that cannot be used, and `QueueClosedError` after
 * shutdown. It throws `QueueUnavailableError` if Redis has not answered within `commandTimeoutMs`. The `outcome` of that error says
 * whether the call may have happened; it is safe to call again with the id that the error names.
 */
export class ScheduledQueueProducer extends SetCalls {
  /**
   * Schedules a job: at a time (`at`), after a while (`delay`), or for now. The job is stored completely or not at all. If you give
   * an `id` that is taken, `onDuplicate` decides what happens; the `status` of the answer says what the call did.
   * A job without a payload is scheduled by `schedule(job)` or `schedule(job, undefined, options)`.
   * Throws `InvalidScheduleError`, `InvalidPayloadError` or `PayloadTooLargeError` before anything is written.
   *
   * @example
   * ```ts
   * const job = await producer.schedule(sendReminder, { to: 'ada@example.com' }, { delay: '2h' });
   * await producer.schedule(sendReminder, { to: 'ada@example.com' }, { at: '2027-01-01T09:00:00Z', id: 'reminder/7' });
   * ```
   */
  schedule(job: ScheduledJobDefinition<void>): Promise<ScheduledJobRef>;
  // The only one of more than one argument: so the compiler's error for a wrong payload is about the payload.
  schedule<T>(
    job: ScheduledJobDefinition<T> | string,
    payload: NoInfer<PayloadOf<T>>,
    options?: ScheduleOptions,
  ): Promise<ScheduledJobRef>;
  async schedule(
    job: ScheduledJobDefinition | string,
    payload?: unknown,
    options?: ScheduleOptions,
  ): Promise<ScheduledJobRef> {
    const { tracer } = this.observers;
    const request = await this.read(job, payload, options, { asksRedis: true });
    const span = tracer && beginSend(tracer, request);
    try {
      const answer = await sendOne(this.store, request);
      span?.end(answer.id);
      return this.answered(request, answer);
    } catch (error) {
      const failure = calledFromHere(error);
      span?.fail(failure);
      throw failure;
    }
  }

  /**
   * Schedules many jobs and answers in their order. Each job is stored completely or not at all. One invalid item refuses the
   * whole call before anything is written. Items with the same id are taken in their order. Throws as `schedule` does; if Redis
   * fails half-way, the `jobIds` of the error name all jobs of the call.
   *
   * @example
   * ```ts
   * const users = ['ada@example.com', 'bob@example.com'];
   * await producer.scheduleMany(users.map((to) => ({ job: sendReminder, payload: { to }, options: { delay: '2h' } })));
   * ```
   */
  async scheduleMany<const Payloads extends unknown[]>(
    items: readonly [...ScheduleItems<Payloads>],
  ): Promise<ScheduledJobRef[]> {
    if (!Array.isArray(items))
      throw new InvalidScheduleError(
        `scheduleMany: got ${describe(items)}, expected an array of { job, payload, options }.`,
      );
    const { tracer } = this.observers;
    const requests: ScheduleRequest[] = [];
    for (let i = 0; i < items.length; i++) {
      try {
        const { job, payload, options } = readItem<ScheduleItem>(items[i]);
        const request = readSchedule(job, withoutPassedOn(tracer, options), payload);
        const checked = this.payloads.check(payload, request);
        if (checked) await checked;
        requests.push(request);
      } catch (error) {
        throw ofItem(i, error);
      }
    }
    await forEachItem(requests, (request) => checkChosenId(this.store, request));
    if (this.codecs.encodes)
      await forEachItem(requests, (request, i) => this.payloads.encode(items[i]!.payload, request));
    const spans = tracer && new SendSpans(tracer, requests);
    try {
      return await sendMany(this.store, requests, (request, answer) => this.answered(request, answer), spans);
    } catch (error) {
      spans?.failOpen(error);
      throw calledFromHere(error);
    }
  }

  /** Schedules a job that is due now. Otherwise as `schedule`, atomic like it; throws `InvalidScheduleError` for `at` or `delay`. */
  dispatch(job: ScheduledJobDefinition<void>): Promise<ScheduledJobRef>;
  dispatch<T>(
    job: ScheduledJobDefinition<T> | string,
    payload: NoInfer<PayloadOf<T>>,
    options?: DispatchOptions,
  ): Promise<ScheduledJobRef>;
  async dispatch(
    job: ScheduledJobDefinition | string,
    payload?: unknown,
    options?: DispatchOptions,
  ): Promise<ScheduledJobRef> {
    refuseDueTime(options);
    return await this.schedule(job as string, payload, options);
  }

  /**
   * Cancels a waiting job. `true`: the job will never start. `false`: it had already started or ended, or there is no such job. If a
   * job is queued behind a running one, the queued job is cancelled; the run goes on, and is not tried again if it fails. The id of a
   * waiting job is free at once. Atomic.
   *
   * @example
   * ```ts
   * const job = await producer.schedule(sendReminder, { to: 'ada@example.com' }, { delay: '2h' });
   * const isCancelled = await producer.cancel(job);
   * await producer.cancel(sendReminder.ref('reminder/7'));
   * ```
   */
  async cancel(ref: JobRef, options?: { queue?: string }): Promise<boolean> {
    const { id, queue } = readRef(ref, options, 'cancel');
    const cancelled = await this.store.queue(queue).jobs.cancel(id);
    if (cancelled && this.events.wants(queue)) this.events.tell({ type: 'cancelled', queue, id });
    return cancelled;
  }

  /**
   * Gives a waiting job another due time; a `delay` counts from now. If a job is queued behind a running one, the queued job is moved.
   * `false`: the job had already started or ended, or there is no such job. Atomic.
   *
   * @example
   * ```ts
   * await producer.reschedule(job, { delay: '2h' });
   * ```
   */
  async reschedule(ref: JobRef, when: RescheduleOptions, options?: { queue?: string }): Promise<boolean> {
    const { id, queue } = readRef(ref, options, 'reschedule');
    return await this.store.queue(queue).jobs.reschedule(id, readReschedule(when, id));
  }

  /** Makes a waiting job due now, or the job that is queued behind a running one. `false` as for `reschedule`. Atomic. */
  async runNow(ref: JobRef, options?: { queue?: string }): Promise<boolean> {
    const { id, queue } = readRef(ref, options, 'runNow');
    return await this.store.queue(queue).jobs.reschedule(id, DUE_NOW);
  }
}
