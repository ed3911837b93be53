import { occurrencesAfter } from '../../core/calendar/occurrences.js';
import { readRule } from '../../core/calendar/read-rule.js';
import type { RecurrenceRule } from '../../core/calendar/rule.js';
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
import type { PayloadOf } from '../../core/payload/payload-types.js';
import { isReadable } from '../../store/envelope.js';
import type { JobStore, OccurrenceTemplate, QueueRecurrences } from '../../store/job-store.js';
import type { PayloadWriter } from '../payload-writer.js';
import { dateOf, type RecurrenceView, toRecurrenceView } from './recurrence-view.js';

/** The answer of `upsertRecurrence`. You can pass it to every call that takes a recurrence. */
export interface RecurrenceChange {
  /** The id of the recurrence. */
  readonly id: string;
  /** The queue of the recurrence and its jobs. */
  readonly queue: string;
  /** `false` if there was a recurrence of this id, which now is as the call says. */
  readonly created: boolean;
  /** The instant of the next occurrence, without jitter; `null` if none is to come, or if the recurrence is paused. */
  readonly nextAt: Date | null;
}

/** The calls of `ScheduledQueueProducer` that are about recurrences. */
export abstract class RecurrenceCalls {
  /** @internal The module makes it. */
  constructor(
    /** @internal */
    protected readonly store: Pick<JobStore, 'queue'>,
    /** @internal */
    protected readonly payloads: PayloadWriter,
    /** @internal */
    protected readonly events: EventSink,
    /** @internal */
    protected readonly codecs: Codecs,
  ) {}

  /**
   * Creates a recurrence: jobs that a rule schedules, one for each of its instants over all processes. Or changes the recurrence of
   * this id: occurrences that lie before a change of the rule's times are not made up for; where only the job changes, the next
   * occurrence has the new one. An equal call writes nothing. A pause stays. The options are those of the jobs. Atomic.
   *
   * Throws as `schedule` does, before anything is written, and `InvalidScheduleError` for a rule that cannot be used and for a
   * recurrence that a handler declares.
   *
   * @example
   * ```ts
   * const rule = { cron: '0 8 * * MON', timeZone: 'Europe/Paris' };
   * await producer.upsertRecurrence('digest/7', sendReminder, { to: 'ada@example.com' }, rule);
   * ```
   */
  async upsertRecurrence<T>(
    ref: RecurrenceRef,
    job: ScheduledJobDefinition<T> | string,
    payload: NoInfer<PayloadOf<T>>,
    rule: RecurrenceRule,
    options?: RecurrenceOptions,
  ): Promise<RecurrenceChange> {
    const { id, queue: named, where } = readRecurrenceRef(ref, undefined, 'upsertRecurrence');
    const request = readRecurringJob(job, options, named, where, payload);
    const { queue, name } = request;
    const read = readRule(rule, where, refuseWith(queue, name));
    const checked = this.payloads.check(payload, request);
    if (checked) await checked;
    const encoded = this.payloads.encode(payload, request);
    if (encoded) await encoded;
    const recurrences = this.recurrencesOf(queue);
    const { status, nextAtMs } = await recurrences.upsert({ id, rule: read, job: templateOf(request) });
    if (status === 'declared') throw await declaredElsewhere(recurrences, id, queue, where);
    return { id, queue, created: status === 'created', nextAt: dateOf(nextAtMs) };
  }

  /**
   * Deletes a recurrence and its next job; what runs goes on, and so do jobs of `runRecurrenceNow` and `backfillRecurrence`. `false`:
   * there is none. Throws `InvalidScheduleError` if a handler declares it. Atomic.
   */
  async removeRecurrence(ref: RecurrenceRef, options?: { queue?: string }): Promise<boolean> {
    const { id, queue, where } = readRecurrence(ref, options, 'removeRecurrence');
    const recurrences = this.recurrencesOf(queue);
    const status = await recurrences.remove(id);
    if (status === 'declared') throw await declaredElsewhere(recurrences, id, queue, where);
    return status === 'removed';
  }

  /**
   * Takes the next job of a recurrence away and creates no more until it is resumed; what runs goes on. A pause outlives restarts and
   * deploys, of declared recurrences too. `false`: there is no such recurrence, it is paused already, or it has ended. Atomic.
   */
  async pauseRecurrence(ref: RecurrenceRef, options?: PauseRecurrenceOptions): Promise<boolean> {
    const { reason, queue: named } = readPauseReason(options, 'pauseRecurrence');
    const { id, queue } = readRecurrence(ref, { queue: named }, 'pauseRecurrence');
    return await this.recurrencesOf(queue).pause(id, reason);
  }

  /** Goes on with the first instant after now: paused time is not missed. `false`: the recurrence was not paused. Atomic. */
  async resumeRecurrence(ref: RecurrenceRef, options?: { queue?: string }): Promise<boolean> {
    const { id, queue } = readRecurrence(ref, options, 'resumeRecurrence');
    return await this.recurrencesOf(queue).resume(id);
  }

  /**
   * Creates one more job of a recurrence, due now and beside its rule, even while it is paused. Throws `InvalidScheduleError` if there
   * is no such recurrence. Atomic.
   */
  async runRecurrenceNow(ref: RecurrenceRef, options?: { queue?: string }): Promise<ScheduledJobRef> {
    const { id, queue, where } = readRecurrence(ref, options, 'runRecurrenceNow');
    const job = await this.recurrencesOf(queue).runNow(id);
    if (!job) throw unknown(queue, where);
    const { name, dueAtMs } = job;
    const dueAt = new Date(dueAtMs);
    if (this.events.wants(queue)) this.events.tell({ type: 'scheduled', queue, id: job.id, name, dueAt });
    return { id: job.id, queue, name, dueAt, created: true, status: 'created' };
  }

  /**
   * Creates the jobs of the rule's instants from `from` on and before `to`, at most 10 000: due at once, in their order, and each instant
   * at most once within `keepIdsMs`. Neither `overlap` nor `limit` applies. Answers how many it has created. Throws
   * `InvalidScheduleError` for more instants, and if there is no such recurrence. Atomic for each 250 jobs: if it fails, call it again,
   * which creates those that are missing.
   *
   * @example
   * ```ts
   * await producer.backfillRecurrence('digest/7', { from: '2027-01-01T00:00:00Z', to: '2027-02-01T00:00:00Z' });
   * ```
   */
  async backfillRecurrence(ref: RecurrenceRef, range: BackfillRange, options?: { queue?: string }): Promise<number> {
    const { id, queue, where } = readRecurrence(ref, options, 'backfillRecurrence');
    const { from, to } = readBackfillRange(range, where);
    const recurrences = this.recurrencesOf(queue);
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

  /** All that is known of one recurrence; `null` if there is none. One that has ended is known for a day. */
  async recurrence(ref: RecurrenceRef, options?: { queue?: string }): Promise<RecurrenceView | null> {
    const { id, queue } = readRecurrence(ref, options, 'recurrence');
    const stored = await this.recurrencesOf(queue).get(id);
    return stored ? toRecurrenceView(queue, stored, this.codecs) : null;
  }

  /** The recurrences of a queue by id, upserted and declared ones, 1 000 unless `limit` says otherwise. */
  async recurrences(options?: RecurrencesOptions): Promise<RecurrenceView[]> {
    const { queue, offset, limit } = readRecurrencesPage(options);
    const stored = await this.recurrencesOf(queue).list(offset, limit);
    return Promise.all(stored.map((recurrence) => toRecurrenceView(queue, recurrence, this.codecs)));
  }

  private recurrencesOf(queue: string): QueueRecurrences {
    return this.store.queue(queue).recurrences;
  }
}

export function templateOf(request: ScheduleRequest): OccurrenceTemplate {
  const { name, version, priority, worker, group, tags, settings, lateness, codec, payload } = request;
  return { name, version, priority, worker, group, tags, settings, lateness, codec, payload };
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
