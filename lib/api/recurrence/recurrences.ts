import { occurrencesAfter } from '../../core/calendar/occurrences.js';
import { readRule } from '../../core/calendar/read-rule.js';
import { InvalidScheduleError } from '../../core/errors.js';
import type { ScheduledJobDefinition } from '../../core/job/definition.js';
import type { EventSink } from '../../core/job/events.js';
import type { ScheduledJobRef } from '../../core/job/scheduled-job.js';
import {
  type BackfillRange,
  MOST_BACKFILLED,
  type PauseRecurrenceOptions,
  type RecurrenceOptions,
  type RecurrenceRef,
  type RecurrencesOptions,
  readBackfillRange,
  readPauseReason,
  readRecurrence,
  readRecurrenceRef,
  readRecurrencesPage,
  readRecurringJob,
  refuseWith,
} from '../../core/options/recurrence-options.js';
import type { ScheduleRequest } from '../../core/options/schedule-options.js';
import type { Codecs } from '../../core/payload/codecs.js';
import { isReadable } from '../../store/envelope.js';
import type { JobStore, OccurrenceTemplate, QueueRecurrences } from '../../store/job-store.js';
import type { PayloadWriter } from '../payload-writer.js';
import { dateOf, type RecurrenceView, toRecurrenceView } from './recurrence-view.js';

/** The answer of `upsertRecurrence`. You can pass it to every call that takes a recurrence. */
export interface RecurrenceChange {
  readonly id: string;
  readonly queue: string;
  /** `false` if there was a recurrence of this id, which now is as the call says. */
  readonly created: boolean;
  /** The instant of the next occurrence, without jitter; `null` if none is to come, or if the recurrence is paused. */
  readonly nextAt: Date | null;
}

/** The recurrences of all queues, as `ScheduledQueueProducer` offers them: there each call is explained. */
export class Recurrences {
  constructor(
    private readonly store: JobStore,
    private readonly payloads: PayloadWriter,
    private readonly events: EventSink,
    private readonly codecs: Codecs,
  ) {}

  async upsert(
    ref: RecurrenceRef,
    job: ScheduledJobDefinition | string,
    payload: unknown,
    given: unknown,
    options?: RecurrenceOptions,
  ): Promise<RecurrenceChange> {
    const { id, queue: named, where } = readRecurrenceRef(ref, undefined, 'upsertRecurrence');
    const request = readRecurringJob(job, options, named, where);
    const { queue, name } = request;
    const rule = readRule(given, where, refuseWith(queue, name));
    const checked = this.payloads.check(payload, request);
    if (checked) await checked;
    const encoded = this.payloads.encode(payload, request);
    if (encoded) await encoded;
    const recurrences = this.of(queue);
    const { status, nextAtMs } = await recurrences.upsert({ id, rule, job: templateOf(request) });
    if (status === 'declared') throw await declaredElsewhere(recurrences, id, queue, where);
    return { id, queue, created: status === 'created', nextAt: dateOf(nextAtMs) };
  }

  async remove(ref: RecurrenceRef, options?: { queue?: string }): Promise<boolean> {
    const { id, queue, where } = readRecurrence(ref, options, 'removeRecurrence');
    const recurrences = this.of(queue);
    const status = await recurrences.remove(id);
    if (status === 'declared') throw await declaredElsewhere(recurrences, id, queue, where);
    return status === 'removed';
  }

  async pause(ref: RecurrenceRef, options?: PauseRecurrenceOptions): Promise<boolean> {
    const { reason, queue: named } = readPauseReason(options, 'pauseRecurrence');
    const { id, queue } = readRecurrence(ref, { queue: named }, 'pauseRecurrence');
    return await this.of(queue).pause(id, reason);
  }

  async resume(ref: RecurrenceRef, options?: { queue?: string }): Promise<boolean> {
    const { id, queue } = readRecurrence(ref, options, 'resumeRecurrence');
    return await this.of(queue).resume(id);
  }

  async runNow(ref: RecurrenceRef, options?: { queue?: string }): Promise<ScheduledJobRef> {
    const { id, queue, where } = readRecurrence(ref, options, 'runRecurrenceNow');
    const job = await this.of(queue).runNow(id);
    if (!job) throw unknown(queue, where);
    const { name, dueAtMs } = job;
    const dueAt = new Date(dueAtMs);
    if (this.events.wants(queue)) this.events.tell({ type: 'scheduled', queue, id: job.id, name, dueAt });
    return { id: job.id, queue, name, dueAt, created: true, status: 'created' };
  }

  async backfill(ref: RecurrenceRef, range: BackfillRange, options?: { queue?: string }): Promise<number> {
    const { id, queue, where } = readRecurrence(ref, options, 'backfillRecurrence');
    const { from, to } = readBackfillRange(range, where);
    const recurrences = this.of(queue);
    const stored = await recurrences.get(id);
    if (!stored) throw unknown(queue, where);
    const instants: number[] = [];
    for (const { atMs } of occurrencesAfter(stored.rule.timing, from - 1)) {
      if (atMs >= to) break;
      if (instants.push(atMs) <= MOST_BACKFILLED) continue;
      throw refuseWith(queue)(
        `${where}: got a range of more than ${MOST_BACKFILLED} instants of the rule, expected at most ${MOST_BACKFILLED}: backfill it in parts.`,
      );
    }
    const added = instants.length === 0 ? 0 : await recurrences.backfill(id, instants);
    // Somebody has removed it meanwhile.
    if (added === undefined) throw unknown(queue, where);
    return added;
  }

  async get(ref: RecurrenceRef, options?: { queue?: string }): Promise<RecurrenceView | null> {
    const { id, queue } = readRecurrence(ref, options, 'recurrence');
    const stored = await this.of(queue).get(id);
    return stored ? toRecurrenceView(queue, stored, this.codecs) : null;
  }

  async list(options?: RecurrencesOptions): Promise<RecurrenceView[]> {
    const { queue, offset, limit } = readRecurrencesPage(options);
    const stored = await this.of(queue).list(offset, limit);
    return Promise.all(stored.map((recurrence) => toRecurrenceView(queue, recurrence, this.codecs)));
  }

  private of(queue: string): QueueRecurrences {
    return this.store.queue(queue).recurrences;
  }
}

function templateOf(request: ScheduleRequest): OccurrenceTemplate {
  const { name, priority, worker, tags, settings, lateness, codec, payload } = request;
  return { name, priority, worker, tags, settings, lateness, codec, payload };
}

/** Asks for the name of its job, which is what configuration switches it off by. */
async function declaredElsewhere(
  recurrences: QueueRecurrences,
  id: string,
  queue: string,
  where: string,
): Promise<InvalidScheduleError> {
  const template = (await recurrences.get(id))?.template;
  const name = template && isReadable(template) ? template.name : undefined;
  const key = name === undefined ? '[name]' : `'${name}'`;
  return new InvalidScheduleError(
    `${where}: this recurrence of queue '${queue}' is declared by @OnScheduledJob or by the module's jobs, expected one that upsertRecurrence made: call pauseRecurrence, or switch it off with the module option jobs: { ${key}: { recurrence: false } }.`,
    { queue, jobName: name },
  );
}

function unknown(queue: string, where: string): InvalidScheduleError {
  return refuseWith(queue)(
    `${where}: queue '${queue}' has no such recurrence, expected one that upsertRecurrence made or a handler declares: recurrences lists them.`,
  ) as InvalidScheduleError;
}
