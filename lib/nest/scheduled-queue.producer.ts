import type { PayloadOf, ScheduledJobDefinition } from '../core/definition.js';
import { describe } from '../core/describe.js';
import { DUE_NOW } from '../core/due.js';
import {
  InvalidPayloadError,
  InvalidScheduleError,
  QueueUnavailableError,
  ScheduledQueueError,
} from '../core/errors.js';
import { serialisePayload } from '../core/payload.js';
import type { PayloadChecker } from '../core/payload-class.js';
import {
  type JobRef,
  type RescheduleOptions,
  readRef,
  readReschedule,
  readSchedule,
  type ScheduleOptions,
  type ScheduleRequest,
} from '../core/schedule-options.js';
import type { ScheduledJobRef } from '../core/scheduled-job.js';
import { type Check, readOptions, type Shape } from '../core/shape.js';
import type { JobStore, NewJob, ScheduledAnswer, ScheduledBatch } from '../store/job-store.js';
import type { ScheduledQueueEvents } from './scheduled-queue.events.js';

/** Options of `dispatch`: all of `schedule`'s but those that say when. */
export type DispatchOptions = Omit<ScheduleOptions, 'at' | 'delay'>;

/** As for `schedule`: a job of `void` has none, any other must be given its own. */
// biome-ignore lint/suspicious/noConfusingVoidType: it is what users write
type ItemPayload<T> = [T] extends [void]
  ? unknown extends T
    ? { payload: T }
    : { payload?: undefined }
  : { payload: PayloadOf<T> };

/** One item of `scheduleMany`. */
// Without NoInfer the payload would have a say in what T is, and would always fit.
export type ScheduleItem<T = unknown> = {
  job: ScheduledJobDefinition<T> | string;
  options?: ScheduleOptions;
} & NoInfer<ItemPayload<T>>;

interface Prepared {
  request: ScheduleRequest;
  newJob: NewJob;
}

type ScheduleItems<Payloads extends unknown[]> = { [I in keyof Payloads]: ScheduleItem<Payloads[I]> };

/**
 * Puts jobs into their queues. Every call may throw `QueueUnavailableError` after `commandTimeoutMs`; its `outcome` says
 * whether the call may have happened all the same, and calling again with the id it names is safe. Every call throws
 * `InvalidScheduleError` for a reference, a time or an option that it cannot use, and `QueueClosedError` after shutdown.
 */
export class ScheduledQueueProducer {
  constructor(
    private readonly store: JobStore,
    private readonly checker: PayloadChecker,
    private readonly events: ScheduledQueueEvents,
    private readonly maxPayloadBytes: number,
  ) {}

  /**
   * Schedules a job for `at`, after `delay`, or for now. The job is there whole or not at all.
   * Throws `InvalidScheduleError`, `InvalidPayloadError` or `PayloadTooLargeError` before anything is written.
   */
  schedule(job: ScheduledJobDefinition<void>, payload?: undefined, options?: ScheduleOptions): Promise<ScheduledJobRef>;
  schedule<T>(
    job: ScheduledJobDefinition<T>,
    payload: NoInfer<PayloadOf<T>>,
    options?: ScheduleOptions,
  ): Promise<ScheduledJobRef>;
  schedule(job: string, payload: unknown, options?: ScheduleOptions): Promise<ScheduledJobRef>;
  async schedule(
    job: ScheduledJobDefinition | string,
    payload?: unknown,
    options?: ScheduleOptions,
  ): Promise<ScheduledJobRef> {
    const request = readSchedule(job, options);
    const prepared = this.prepare(payload, request);
    const newJob = prepared instanceof Promise ? await prepared : prepared;
    const [answer] = this.store.schedule(request.queue, [newJob]);
    return this.told(request, await answer!);
  }

  /**
   * Schedules many jobs, and answers in their order. Each job is there whole or not at all; one invalid item refuses the
   * whole call before anything is written. Throws as `schedule` does; where Redis fails on the way, `jobIds` names all.
   */
  async scheduleMany<const Payloads extends unknown[]>(
    items: readonly [...ScheduleItems<Payloads>],
  ): Promise<ScheduledJobRef[]> {
    if (!Array.isArray(items))
      throw new InvalidScheduleError(
        `scheduleMany: got ${describe(items)}, expected an array of { job, payload, options }.`,
      );
    const prepared: Prepared[] = [];
    for (const [i, item] of (items as readonly ScheduleItem[]).entries()) {
      try {
        const { job, payload, options } = readItem(item);
        const request = readSchedule(job, options);
        const newJob = this.prepare(payload, request);
        prepared.push({ request, newJob: newJob instanceof Promise ? await newJob : newJob });
      } catch (error) {
        throw ofItem(i, error);
      }
    }
    const answers = await this.scheduleAll(prepared);
    return answers.map((answer, i) => this.told(prepared[i]!.request, answer));
  }

  /** A call for each queue and kind, all at once. */
  private async scheduleAll(prepared: readonly Prepared[]): Promise<ScheduledAnswer[]> {
    const byQueue = new Map<string, number[]>();
    const batches: { places: readonly number[]; batch: Promise<ScheduledBatch> }[] = [];
    for (const [i, { request, newJob }] of prepared.entries()) {
      if (newJob.replace)
        batches.push({ places: [i], batch: asBatch(this.store.schedule(request.queue, [newJob])[0]!) });
      else if (!byQueue.get(request.queue)?.push(i)) byQueue.set(request.queue, [i]);
    }
    for (const [queue, places] of byQueue) {
      const jobs = places.map((i) => prepared[i]!.newJob);
      batches.push({ places, batch: this.store.scheduleMany(queue, jobs) });
    }
    const answers: (ScheduledAnswer | undefined)[] = new Array(prepared.length);
    const errors: unknown[] = [];
    for (const { places, batch } of batches) {
      const answered = await batch;
      for (const [j, i] of places.entries()) {
        answers[i] = answered.answers[j];
        if (!answers[i]) errors[i] = answered.errors[j];
      }
    }
    if (errors.length > 0) throw ofAll(errors, answers);
    return answers as ScheduledAnswer[];
  }

  /** Schedules a job that is due now. Otherwise as `schedule`. */
  dispatch(job: ScheduledJobDefinition<void>, payload?: undefined, options?: DispatchOptions): Promise<ScheduledJobRef>;
  dispatch<T>(
    job: ScheduledJobDefinition<T>,
    payload: NoInfer<PayloadOf<T>>,
    options?: DispatchOptions,
  ): Promise<ScheduledJobRef>;
  dispatch(job: string, payload: unknown, options?: DispatchOptions): Promise<ScheduledJobRef>;
  async dispatch(
    job: ScheduledJobDefinition | string,
    payload?: unknown,
    options?: DispatchOptions,
  ): Promise<ScheduledJobRef> {
    if (typeof options === 'object' && options !== null && ('at' in options || 'delay' in options)) {
      throw new InvalidScheduleError(
        'dispatch: got at or delay, expected neither: a dispatched job is due now. Use schedule.',
      );
    }
    return this.schedule(job as string, payload, options);
  }

  /** Takes a waiting job out for good: `true` if it will never start after this; `false` if it had started, ended or was never there. Atomic. */
  async cancel(ref: JobRef, options?: { queue?: string }): Promise<boolean> {
    const { id, queue } = readRef(ref, options, 'cancel');
    const cancelled = await this.store.cancel(queue, id);
    if (cancelled && this.events.wanted) this.events.tell({ type: 'cancelled', queue, id });
    return cancelled;
  }

  /** Gives a waiting job another due time; a delay counts from now. `false` if it had started, ended or was never there. Atomic. */
  async reschedule(ref: JobRef, when: RescheduleOptions, options?: { queue?: string }): Promise<boolean> {
    const { id, queue } = readRef(ref, options, 'reschedule');
    return this.store.reschedule(queue, id, readReschedule(when, id));
  }

  /** Makes a waiting job due now. `false` if it had started, ended or was never there. Atomic. */
  async runNow(ref: JobRef, options?: { queue?: string }): Promise<boolean> {
    const { id, queue } = readRef(ref, options, 'runNow');
    return this.store.reschedule(queue, id, DUE_NOW);
  }

  private prepare(payload: unknown, request: ScheduleRequest): NewJob | Promise<NewJob> {
    const { definition, name, queue, priority, due, id, worker, replace, settings, lateness, tags } = request;
    const fields = { queue, jobName: name, jobId: id };
    const type = definition?.payload;
    // A definition without a class may be one of jobs without a payload; a bare name with one forgotten is a mistake.
    if (payload === undefined && (type || !definition)) {
      const message = `The payload of job '${name}' is undefined, expected ${type ? `a ${type.name}` : 'a value; null says that there is none'}.`;
      throw new InvalidPayloadError(message, [{ path: '', messages: ['is undefined'] }], fields);
    }
    const text = serialisePayload(payload, this.maxPayloadBytes, fields);
    const newJob: NewJob = { name, priority, due, id, worker, replace, settings, lateness, tags, payload: text };
    // In the form that the handler will see, so that nothing is accepted here which is refused there.
    return type ? this.checker.read(text, type, fields).then(() => newJob) : newJob;
  }

  private told({ name, queue }: ScheduleRequest, { id, dueAtMs, created }: ScheduledAnswer): ScheduledJobRef {
    const ref: ScheduledJobRef = { id, queue, name, dueAt: new Date(dueAtMs), created };
    if (created && this.events.wanted) this.events.tell({ type: 'scheduled', queue, id, name, dueAt: ref.dueAt });
    return ref;
  }
}

const anything: Check<unknown> = (value) => ({ value });
const ITEM: Shape<{ job: unknown; payload: unknown; options: unknown }> = {
  job: anything,
  payload: anything,
  options: anything,
};

/** A misspelt `options` would schedule a job of next year for now. */
function readItem(item: unknown): ScheduleItem {
  if (item === undefined) throw new InvalidScheduleError('item: got undefined, expected { job, payload, options }.');
  return readOptions(item, ITEM, 'item', (message) => new InvalidScheduleError(message)) as ScheduleItem;
}

/** Says which item of the call an error is about. */
function ofItem(index: number, error: unknown): unknown {
  if (error instanceof ScheduledQueueError)
    error.message = `scheduleMany: item ${index}: ${error.message.replace(/^item: /, '')}`;
  return error;
}

/** Never rejects, so that nothing is left unheard while another part of the call is awaited. */
function asBatch(answer: Promise<ScheduledAnswer>): Promise<ScheduledBatch> {
  return answer.then(
    (one) => ({ answers: [one], errors: [] }),
    (error) => ({ answers: [undefined], errors: [error] }),
  );
}

/** The error of one part of a call as that of the whole: what may have happened, and under which ids. */
function ofAll(errors: readonly unknown[], answers: readonly (ScheduledAnswer | undefined)[]): unknown {
  const reason = errors.find((error) => error !== undefined);
  if (!(reason instanceof QueueUnavailableError)) return reason;
  // In the order of the items: who calls again gives each item its id.
  const jobIds = Array.from(answers, (answer, i) =>
    answer ? [answer.id] : ((errors[i] as QueueUnavailableError).jobIds ?? []),
  ).flat();
  const refused = Array.from(
    answers,
    (answer, i) => !answer && (errors[i] as QueueUnavailableError).outcome === 'refused',
  ).every(Boolean);
  return new QueueUnavailableError(reason.message, refused ? 'refused' : 'unknown', {
    jobIds,
    redisCode: reason.redisCode,
  });
}
