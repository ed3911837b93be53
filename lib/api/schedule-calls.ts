import type { ScheduledJobDefinition } from '../core/job/definition.js';
import type { EventSink } from '../core/job/events.js';
import type { ScheduledJobRef } from '../core/job/scheduled-job.js';
import type { Log } from '../core/log.js';
import type { Observers } from '../core/observe/observers.js';
import {
  readSchedule,
  refuseMisplacedOptions,
  type ScheduleOptions,
  type ScheduleRequest,
} from '../core/options/schedule-options.js';
import type { Codecs } from '../core/payload/codecs.js';
import type { JobStore, ScheduledAnswer } from '../store/job-store.js';
import type { PayloadWriter } from './payload-writer.js';
import { checkChosenId } from './recurrence/chosen-ids.js';
import { RecurrenceCalls } from './recurrence/recurrence-calls.js';
import { withoutPassedOn } from './send-spans.js';
import { TakenIds } from './taken-ids.js';

/** What all calls of `ScheduledQueueProducer` that schedule jobs have in common: a call is read, and the store's answer becomes the caller's. */
export abstract class ScheduleCalls extends RecurrenceCalls {
  private readonly takenIds: TakenIds;

  /** @internal The module makes it. */
  constructor(
    store: Pick<JobStore, 'queue'>,
    payloads: PayloadWriter,
    events: EventSink,
    codecs: Codecs,
    log: Log,
    /** @internal */
    protected readonly observers: Observers,
  ) {
    super(store, payloads, events, codecs);
    this.takenIds = new TakenIds(log);
  }

  /**
   * Reads a call, and encodes its payload. `asksRedis`: rejects for the id of an occurrence, before the codec may write something elsewhere.
   * @internal
   */
  protected async read(
    job: ScheduledJobDefinition | string,
    payload: unknown,
    options: ScheduleOptions | undefined,
    { asksRedis }: { asksRedis: boolean },
  ): Promise<ScheduleRequest> {
    const request = readSchedule(job, withoutPassedOn(this.observers.tracer, options), payload);
    if (options === undefined) refuseMisplacedOptions(payload, request);
    const checked = this.payloads.check(payload, request);
    if (checked) await checked;
    const free = asksRedis ? checkChosenId(this.store, request) : undefined;
    if (free) await free;
    const encoded = this.payloads.encode(payload, request);
    if (encoded) await encoded;
    return request;
  }

  /** The same of a job that is handed over by another call than one of `schedule`: checks and encodes its payload. @internal */
  protected async written(payload: unknown, request: ScheduleRequest): Promise<ScheduleRequest> {
    await this.payloads.check(payload, request);
    await this.payloads.encode(payload, request);
    return request;
  }

  /** What the caller is told, and by an event everybody else, once the store has answered. @internal */
  protected answered(
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
