import type { Clock } from '../core/clock.js';
import { InvalidScheduleError } from '../core/errors.js';
import { headers, type ScheduledJobDefinition } from '../core/job/definition.js';
import type { EventSink } from '../core/job/events.js';
import { JobIdMaker, newMaker } from '../core/job/job-id.js';
import type { ScheduledJobRef } from '../core/job/scheduled-job.js';
import type { Log } from '../core/log.js';
import type { Observers } from '../core/observe/observers.js';
import { type PreparedJob, readPrepared, writePrepared } from '../core/options/prepared-job.js';
import type { ScheduleOptions, ScheduleRequest } from '../core/options/schedule-options.js';
import type { Codecs } from '../core/payload/codecs.js';
import type { PayloadOf } from '../core/payload/payload-types.js';
import type { JobStore } from '../store/job-store.js';
import { calledFromHere, forEachItem, ofItem, sendMany, sendOne } from './many-schedules.js';
import type { PayloadWriter } from './payload-writer.js';
import { checkChosenId } from './recurrence/chosen-ids.js';
import { ScheduleCalls } from './schedule-calls.js';
import { beginSend } from './send-spans.js';
import { type TransactionProducer, transactionProducer } from './transaction-producer.js';

/** The calls of `ScheduledQueueProducer` that hand jobs over together with data of the caller: prepared, or in a MULTI. */
export abstract class HandOverCalls extends ScheduleCalls {
  private readonly ids = new JobIdMaker();
  private readonly maker = newMaker();

  /** @internal The module makes it. */
  constructor(
    private readonly transactions: Pick<JobStore, 'queue' | 'transaction'>,
    payloads: PayloadWriter,
    events: EventSink,
    codecs: Codecs,
    log: Log,
    observers: Observers,
    private readonly clock: Pick<Clock, 'wallNow'>,
  ) {
    super(transactions, payloads, events, codecs, log, observers);
  }

  /**
   * Validates and encodes a job now, to be handed over later by `schedulePrepared`: keep the answer in a row of your own transaction, or in
   * the payload of an outbox message. Redis is not asked, so it works while Redis is away. The answer is plain JSON. It has an id, one that is
   * made if you give none: however often it is handed over, it is one job within `keepIdsMs`. A `delay` counts from the handing over, `at` stays.
   * Throws as `schedule` does, with two exceptions: it works after shutdown, and `schedulePrepared` is the one that refuses the id of an occurrence.
   *
   * @example
   * ```ts
   * const prepared = await producer.prepare(sendReminder, { to: 'ada@example.com' }, { delay: '2h' });
   * await producer.schedulePrepared(prepared);
   * ```
   */
  prepare(job: ScheduledJobDefinition<void>): Promise<PreparedJob>;
  prepare<T>(
    job: ScheduledJobDefinition<T> | string,
    payload: NoInfer<PayloadOf<T>>,
    options?: ScheduleOptions,
  ): Promise<PreparedJob>;
  async prepare(
    job: ScheduledJobDefinition | string,
    payload?: unknown,
    options?: ScheduleOptions,
  ): Promise<PreparedJob> {
    const request = this.withId(await this.read(job, payload, options, { asksRedis: false }));
    const { settings } = request;
    await this.traced(request);
    // Headers are read again when the job is handed over, and beside long ones the context has no room there: such a job is not traced.
    if (request.settings.headers && 'problem' in headers(request.settings.headers)) request.settings = settings;
    return writePrepared(request);
  }

  /**
   * Hands over what `prepare` answered, in any process, and any number of times. With `onDuplicate: 'keep'` the job is scheduled once within
   * `keepIdsMs`; with `'replace'` each handing over replaces, and one after the job has ended begins another. A job that was cancelled or
   * removed meanwhile is scheduled again. The codec need not be known here. Many are answered in their order; each is stored completely or
   * not at all. Throws `InvalidScheduleError` for what is no prepared job, or one of a later release, and `PayloadTooLargeError` where the payload is above this process's `maxPayloadBytes`: of many, none is handed over then.
   */
  schedulePrepared(prepared: PreparedJob): Promise<ScheduledJobRef>;
  schedulePrepared(prepared: readonly PreparedJob[]): Promise<ScheduledJobRef[]>;
  async schedulePrepared(prepared: PreparedJob | readonly PreparedJob[]): Promise<ScheduledJobRef | ScheduledJobRef[]> {
    try {
      return Array.isArray(prepared) ? await this.handOverMany(prepared) : await this.handOver(prepared);
    } catch (error) {
      throw calledFromHere(error);
    }
  }

  /**
   * Schedules jobs as commands of a MULTI of your own: `await` each call before `exec()`. The jobs are there once EXEC has run; without EXEC
   * there are none. `multi`: what `redis.multi()` of an ioredis client answers, of the same Redis and database, without `keyPrefix`. On a cluster
   * your keys need the queue's hash tag, see `relayKey`. Throws `InvalidScheduleError` at once for anything else. See docs/transactions.md.
   *
   * @example
   * ```ts
   * const multi = redis.multi().incr('orders');
   * await producer.in(multi).schedule(sendReminder, { to: 'ada@example.com' }, { delay: '2h' });
   * await multi.exec();
   * ```
   */
  in(multi: object): TransactionProducer {
    const transaction = this.transactions.transaction(multi);
    return transactionProducer(async (job, payload, options) => {
      const request = this.withId(await this.read(job, payload, options, { asksRedis: true }));
      const { id, queue, name } = request;
      if (request.replace)
        throw new InvalidScheduleError(
          `schedule('${name}'): onDuplicate: got 'replace', expected 'keep': inside of a MULTI a job replaces no other. Schedule the job after EXEC, or prepare it.`,
          { queue, jobName: name, jobId: id },
        );
      await this.traced(request, () => transaction.append(queue, request));
      return { id, queue, name };
    });
  }

  private async handOver(prepared: unknown): Promise<ScheduledJobRef> {
    const request = this.readPrepared(prepared, 'schedulePrepared');
    await checkChosenId(this.store, request);
    return this.answered(request, await sendOne(this.store, request));
  }

  private async handOverMany(prepared: readonly unknown[]): Promise<ScheduledJobRef[]> {
    const requests = prepared.map((each, i) => {
      try {
        return this.readPrepared(each, 'item');
      } catch (error) {
        throw ofItem(i, error, 'schedulePrepared');
      }
    });
    await forEachItem(requests, (request) => checkChosenId(this.store, request), 'schedulePrepared');
    return await sendMany(this.store, requests, (request, answer) => this.answered(request, answer));
  }

  private readPrepared(prepared: unknown, where: string): ScheduleRequest {
    const request = readPrepared(prepared, where);
    this.payloads.refuseTooLarge(request);
    return request;
  }

  /** A copy with an id: a job that may be handed over, or sent, more than once must have the same one each time. */
  private withId(request: ScheduleRequest): ScheduleRequest & { id: string } {
    return { ...request, id: request.id ?? this.ids.next(this.maker, this.clock.wallNow()) };
  }

  /** Makes the span of this call, and puts its context into the headers of `request`: so before `request` is written, or around that. */
  private async traced(request: ScheduleRequest & { id: string }, work?: () => Promise<void>): Promise<void> {
    const { tracer } = this.observers;
    const span = tracer && beginSend(tracer, request);
    try {
      await work?.();
      span?.end(request.id);
    } catch (error) {
      span?.fail(error);
      throw error;
    }
  }
}
