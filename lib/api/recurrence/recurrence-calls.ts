import type { RecurrenceRule } from '../../core/calendar/rule.js';
import type { ScheduledJobDefinition } from '../../core/job/definition.js';
import type { ScheduledJobRef } from '../../core/job/scheduled-job.js';
import type {
  BackfillRange,
  PauseRecurrenceOptions,
  RecurrenceOptions,
  RecurrenceRef,
  RecurrencesOptions,
} from '../../core/options/recurrence-options.js';
import type { PayloadOf } from '../../core/payload/payload-types.js';
import type { RecurrenceView } from './recurrence-view.js';
import type { RecurrenceChange, Recurrences } from './recurrences.js';

/** The calls of `ScheduledQueueProducer` that are about recurrences. */
export abstract class RecurrenceCalls {
  constructor(private readonly recurring: Recurrences) {}

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
  upsertRecurrence<T>(
    ref: RecurrenceRef,
    job: ScheduledJobDefinition<T> | string,
    payload: NoInfer<PayloadOf<T>>,
    rule: RecurrenceRule,
    options?: RecurrenceOptions,
  ): Promise<RecurrenceChange> {
    return this.recurring.upsert(ref, job as string, payload, rule, options);
  }

  /**
   * Deletes a recurrence and its next job; what runs goes on, and so do jobs of `runRecurrenceNow` and `backfillRecurrence`. `false`:
   * there is none. Throws `InvalidScheduleError` if a handler declares it. Atomic.
   */
  async removeRecurrence(ref: RecurrenceRef, options?: { queue?: string }): Promise<boolean> {
    return await this.recurring.remove(ref, options);
  }

  /**
   * Takes the next job of a recurrence away and creates no more until it is resumed; what runs goes on. A pause outlives restarts and
   * deploys, of declared recurrences too. `false`: there is no such recurrence, it is paused already, or it has ended. Atomic.
   */
  async pauseRecurrence(ref: RecurrenceRef, options?: PauseRecurrenceOptions): Promise<boolean> {
    return await this.recurring.pause(ref, options);
  }

  /** Goes on with the first instant after now: paused time is not missed. `false`: the recurrence was not paused. Atomic. */
  async resumeRecurrence(ref: RecurrenceRef, options?: { queue?: string }): Promise<boolean> {
    return await this.recurring.resume(ref, options);
  }

  /**
   * Creates one more job of a recurrence, due now and beside its rule, even while it is paused. Throws `InvalidScheduleError` if there
   * is no such recurrence. Atomic.
   */
  async runRecurrenceNow(ref: RecurrenceRef, options?: { queue?: string }): Promise<ScheduledJobRef> {
    return await this.recurring.runNow(ref, options);
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
    return await this.recurring.backfill(ref, range, options);
  }

  /** All that is known of one recurrence; `null` if there is none. One that has ended is known for a day. */
  async recurrence(ref: RecurrenceRef, options?: { queue?: string }): Promise<RecurrenceView | null> {
    return await this.recurring.get(ref, options);
  }

  /** The recurrences of a queue by id, upserted and declared ones, 1 000 unless `limit` says otherwise. */
  async recurrences(options?: RecurrencesOptions): Promise<RecurrenceView[]> {
    return await this.recurring.list(options);
  }
}
