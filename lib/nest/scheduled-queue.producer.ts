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
import { asSentence, isRecord, unknownOption } from '../core/shape.js';
import type { JobStore, ScheduledAnswer } from '../store/job-store.js';
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
    const checked = this.prepare(payload, request);
    if (checked) await checked;
    const [answer] = this.store.schedule(request.queue, [request]);
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
    const requests: ScheduleRequest[] = [];
    for (let i = 0; i < items.length; i++) {
      try {
        const { job, payload, options } = readItem(items[i]);
        const request = readSchedule(job, options);
        const checked = this.prepare(payload, request);
        if (checked) await checked;
        requests.push(request);
      } catch (error) {
        throw ofItem(i, error);
      }
    }
    return this.scheduleAll(requests);
  }

  /** A call for each queue and kind, all at once. */
  private async scheduleAll(requests: (ScheduleRequest | undefined)[]): Promise<ScheduledJobRef[]> {
    const refs: (ScheduledJobRef | undefined)[] = new Array(requests.length);
    const errors: unknown[] = [];
    // As they come: while the last of many are on their way, the first are read.
    const answered = (i: number, answer: ScheduledAnswer | undefined, error?: unknown) => {
      if (answer) refs[i] = this.told(requests[i]!, answer);
      else errors[i] = error;
      // Thousands of payloads that outlive their sending would be copied from one part of the heap to the next.
      requests[i] = undefined;
    };
    const byQueue = new Map<string, number[]>();
    const calls: Promise<void>[] = [];
    for (let i = 0; i < requests.length; i++) {
      const request = requests[i]!;
      const { queue } = request;
      if (request.replace) calls.push(this.replace(request, (answer, error) => answered(i, answer, error)));
      else if (!byQueue.get(queue)?.push(i)) byQueue.set(queue, [i]);
    }
    for (const [queue, places] of byQueue) {
      const jobs = places.map((i) => requests[i]!);
      calls.push(this.store.scheduleMany(queue, jobs, (j, answer, error) => answered(places[j]!, answer, error)));
    }
    await Promise.all(calls);
    if (errors.length > 0) throw ofAll(errors, refs);
    return refs as ScheduledJobRef[];
  }

  private replace(
    request: ScheduleRequest,
    answered: (answer: ScheduledAnswer | undefined, error?: unknown) => void,
  ): Promise<void> {
    const [replaced] = this.store.schedule(request.queue, [request]);
    return replaced!.then(answered, (error) => answered(undefined, error));
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

  /** Puts the payload into the request. A promise where it is checked against its class. */
  private prepare(payload: unknown, request: ScheduleRequest): Promise<unknown> | undefined {
    const { definition, name, queue, id } = request;
    const fields = { queue, jobName: name, jobId: id };
    const type = definition?.payload;
    // A definition without a class may be one of jobs without a payload; a bare name with one forgotten is a mistake.
    if (payload === undefined && (type || !definition)) {
      const message = `The payload of job '${name}' is undefined, expected ${type ? `a ${type.name}` : 'a value; null says that there is none'}.`;
      throw new InvalidPayloadError(message, [{ path: '', messages: ['is undefined'] }], fields);
    }
    request.payload = serialisePayload(payload, this.maxPayloadBytes, fields);
    // In the form that the handler will see, so that nothing is accepted here which is refused there.
    return type && this.checker.read(request.payload, type, fields);
  }

  private told({ name, queue }: ScheduleRequest, { id, dueAtMs, created }: ScheduledAnswer): ScheduledJobRef {
    const ref: ScheduledJobRef = { id, queue, name, dueAt: new Date(dueAtMs), created };
    if (created && this.events.wanted) this.events.tell({ type: 'scheduled', queue, id, name, dueAt: ref.dueAt });
    return ref;
  }
}

const ITEM = ['job', 'payload', 'options'];

/** A misspelt `options` would schedule a job of next year for now. */
function readItem(item: unknown): ScheduleItem {
  if (!isRecord(item))
    throw new InvalidScheduleError(`item: got ${describe(item)}, expected { job, payload, options }.`);
  for (const key of Object.keys(item)) {
    if (!ITEM.includes(key)) throw new InvalidScheduleError(asSentence(`item: ${unknownOption(key, ITEM)}`));
  }
  return item as ScheduleItem;
}

/** Says which item of the call an error is about. */
function ofItem(index: number, error: unknown): unknown {
  if (error instanceof ScheduledQueueError)
    error.message = `scheduleMany: item ${index}: ${error.message.replace(/^item: /, '')}`;
  return error;
}

/** The error of one part of a call as that of the whole: what may have happened, and under which ids. */
function ofAll(errors: readonly unknown[], refs: readonly (ScheduledJobRef | undefined)[]): unknown {
  const reason = errors.find((error) => error !== undefined);
  if (!(reason instanceof QueueUnavailableError)) return reason;
  // In the order of the items: who calls again gives each item its id.
  const jobIds = Array.from(refs, (ref, i) =>
    ref ? [ref.id] : ((errors[i] as QueueUnavailableError).jobIds ?? []),
  ).flat();
  const refused = Array.from(
    refs,
    (ref, i) => !ref && (errors[i] as QueueUnavailableError).outcome === 'refused',
  ).every(Boolean);
  return new QueueUnavailableError(reason.message, refused ? 'refused' : 'unknown', {
    jobIds,
    redisCode: reason.redisCode,
  });
}
