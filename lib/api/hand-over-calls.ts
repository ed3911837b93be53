import type { Clock } from '../core/clock.js';
import { InvalidScheduleError, ScheduledQueueError } from '../core/errors.js';
import type { ScheduledJobDefinition } from '../core/job/definition.js';
import type { EventSink } from '../core/job/events.js';
import { JobIdMaker, newMaker } from '../core/job/job-id.js';
import type { ScheduledJobRef } from '../core/job/scheduled-job.js';
import type { Log } from '../core/log.js';
import type { Observers } from '../core/observe/observers.js';
import { type PreparedJob, readPrepared, writePrepared } from '../core/options/prepared-job.js';
import {
  readSchedule,
  refuseMisplacedOptions,
  type ScheduleOptions,
  type ScheduleRequest,
} from '../core/options/schedule-options.js';
import type { Codecs } from '../core/payload/codecs.js';
import type { PayloadOf } from '../core/payload/payload-types.js';
import type { JobStore, ScheduledAnswer } from '../store/job-store.js';
import { forEachItem, ofItem, sendMany } from './many-schedules.js';
import type { PayloadWriter } from './payload-writer.js';
import { checkChosenId } from './recurrence/chosen-ids.js';
import { RecurrenceCalls } from './recurrence/recurrence-calls.js';
import { beginSend, withoutPassedOn } from './send-spans.js';
import { TakenIds } from './taken-ids.js';
import { type TransactionProducer, transactionProducer } from './transaction-producer.js';

/** The calls of `ScheduledQueueProducer` that hand jobs over together with data of the caller: prepared, or in a MULTI. */
export abstract class HandOverCalls extends RecurrenceCalls {
  private readonly takenIds: TakenIds;
  private readonly ids = new JobIdMaker();
  private readonly maker = newMaker();

  /** @internal The module makes it. */
  constructor(
    /** @internal */
    protected override readonly store: Pick<JobStore, 'queue' | 'transaction'>,
    payloads: PayloadWriter,
    events: EventSink,
    codecs: Codecs,
    log: Log,
    /** @internal */
    protected readonly observers: Observers,
    private readonly clock: Pick<Clock, 'wallNow'>,
  ) {
    super(store, payloads, events, codecs);
    this.takenIds = new TakenIds(log);
  }

  /**
   * Validates and encodes a job now, to be handed over later by `schedulePrepared`: keep the answer in a row of your own transaction, or in
   * the payload of an outbox message. Redis is not asked, so it works while Redis is away. The answer is plain JSON. It has an id, one that is
   * made if you give none: however often it is handed over, it is one job within `keepIdsMs`. A `delay` counts from the handing over, `at` stays.
   * Throws as `schedule` does, but for the ids that recurrences give to their occurrences: only `schedulePrepared` can tell these.
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
    const request = this.withId(await this.read(job, payload, options));
    await this.traced(request);
    return writePrepared(request);
  }

  /**
   * Hands over what `prepare` answered, in any process, and any number of times. With `onDuplicate: 'keep'` the job is scheduled once within
   * `keepIdsMs`; with `'replace'` each handing over replaces, and one after the job has ended begins another. The codec need not be known here.
   * Many are answered in their order; each is stored completely or not at all. Throws `InvalidScheduleError` for what is no prepared job, or one of
   * a later release, and `PayloadTooLargeError` where the payload is above this process's `maxPayloadBytes`: of many, none is handed over then.
   */
  schedulePrepared(prepared: PreparedJob): Promise<ScheduledJobRef>;
  schedulePrepared(prepared: readonly PreparedJob[]): Promise<ScheduledJobRef[]>;
  async schedulePrepared(prepared: PreparedJob | readonly PreparedJob[]): Promise<ScheduledJobRef | ScheduledJobRef[]> {
    const isMany = Array.isArray(prepared);
    const requests = isMany
      ? prepared.map((each, i) => {
          try {
            return this.readPrepared(each, 'item');
          } catch (error) {
            throw ofItem(i, error, 'schedulePrepared');
          }
        })
      : [this.readPrepared(prepared, 'schedulePrepared')];
    const look = (request: ScheduleRequest) => checkChosenId(this.store, request);
    if (isMany) await forEachItem(requests, look, 'schedulePrepared');
    else await look(requests[0]!);
    try {
      const refs = await sendMany(this.store, requests, (request, answer) => this.told(request, answer));
      return isMany ? refs : refs[0]!;
    } catch (error) {
      throw calledFromHere(error);
    }
  }

  /**
   * Schedules jobs in a MULTI of your own, with your own commands: `await` each call before `exec()`. The jobs are there when EXEC has run, or
   * not at all. `multi` is what `redis.multi()` answers, of an ioredis client of the same Redis and database, without `keyPrefix`; on a cluster
   * your keys need the queue's hash tag (see `relayKey`). Throws `InvalidScheduleError` for anything else, for `onDuplicate: 'replace'`, and where
   * the server runs no scripts inside of MULTI: use `prepare` there. See docs/transactions.md.
   *
   * @example
   * ```ts
   * const multi = redis.multi().incr('orders');
   * await producer.in(multi).schedule(sendReminder, { to: 'ada@example.com' }, { delay: '2h' });
   * await multi.exec();
   * ```
   */
  in(multi: object): TransactionProducer {
    const transaction = this.store.transaction(multi);
    return transactionProducer(async (job, payload, options) => {
      const request = this.withId(await this.read(job, payload, options, (read) => checkChosenId(this.store, read)));
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

  /**
   * The job of a call, its payload encoded. `isFree`: looks whether the job may have its id; before the encoding, which may write something
   * elsewhere.
   */
  /** @internal */
  protected async read(
    job: ScheduledJobDefinition | string,
    payload: unknown,
    options: ScheduleOptions | undefined,
    isFree: (request: ScheduleRequest) => Promise<void> | undefined = () => undefined,
  ): Promise<ScheduleRequest> {
    const request = readSchedule(job, withoutPassedOn(this.observers.tracer, options), payload);
    if (options === undefined) refuseMisplacedOptions(payload, request);
    const checked = this.payloads.check(payload, request);
    if (checked) await checked;
    const free = isFree(request);
    if (free) await free;
    const encoded = this.payloads.encode(payload, request);
    if (encoded) await encoded;
    return request;
  }

  private readPrepared(prepared: unknown, where: string): ScheduleRequest {
    const request = readPrepared(prepared, where);
    this.payloads.refuseTooLarge(request);
    return request;
  }

  /** Of a job that may be handed over more than once, each time under this id. */
  private withId(request: ScheduleRequest): ScheduleRequest & { id: string } {
    return { ...request, id: request.id ?? this.ids.next(this.maker, this.clock.wallNow()) };
  }

  /** The job belongs to the trace of this call, whoever hands it over, and whenever. */
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

  /** @internal */
  protected told(
    request: ScheduleRequest,
    { id, status, dueAtMs, takenBy, pushedOut }: ScheduledAnswer,
  ): ScheduledJobRef {
    const { name, queue } = request;
    if (takenBy !== undefined) this.takenIds.warn(queue, name, takenBy);
    const created = status === 'created';
    const dueAt = dueAtMs === null ? null : new Date(dueAtMs);
    if (created && this.events.wants(queue)) {
      if (pushedOut) this.events.tell({ type: 'deadDropped', queue, id, name });
      this.events.tell({ type: 'scheduled', queue, id, name, dueAt: dueAt! });
    }
    return { id, queue, name: takenBy ?? name, dueAt, created, status };
  }
}

/**
 * One sender carries the schedules of many, and the errors that it makes know no caller. Here the stack is taken anew: it names the
 * functions that await the call. Other calls need no more than a `return await` for that.
 */
export function calledFromHere(error: unknown): unknown {
  if (error instanceof ScheduledQueueError) Error.captureStackTrace(error, calledFromHere);
  return error;
}
