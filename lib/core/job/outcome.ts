import { InvalidScheduleError, type ScheduledQueueErrorFields } from '../errors.js';
import { describe } from '../read/describe.js';
import { type Due, readDue } from '../read/due.js';
import type { Duration } from '../read/duration.js';

/** The same in both builds of this package, of which one may have made an outcome and the other reads it. */
const BRAND = Symbol.for('nestjs-redis-scheduled-queue:outcome');

const NO_RESULTS: readonly unknown[] = [];

/** When a snoozed job runs again: after a while, or at an instant. */
export type SnoozeUntil = Duration | { at: Date | number | string };

/**
 * A handler returns one of these to decide how its job goes on. Any other value completes the job.
 *
 * @example
 * ```ts
 * class Payments {
 *   @OnScheduledJob('payment.check')
 *   check(payment: { isPending: boolean }) {
 *     if (payment.isPending) return JobOutcome.snooze('5m');
 *     return undefined;
 *   }
 * }
 * ```
 */
export class JobOutcome {
  /** @internal */
  readonly [BRAND] = true;

  private constructor(
    /** @internal */
    readonly kind: 'snooze' | 'discard' | 'dead-letter' | 'each',
    /** @internal */
    readonly reason: string,
    /** @internal */
    readonly due?: Due,
    /** @internal Of `each`. */
    readonly results: readonly unknown[] = NO_RESULTS,
  ) {}

  /** The job runs again after a duration or at a time, without using an attempt. Throws `InvalidScheduleError` if that cannot be read. */
  static snooze(until: SnoozeUntil): JobOutcome {
    return JobOutcome.snoozeFor(until, 'JobOutcome.snooze');
  }

  /** @internal `where` names the caller in what is thrown, `fields` the job. */
  static snoozeFor(until: SnoozeUntil, where: string, fields: ScheduledQueueErrorFields = {}): JobOutcome {
    const at = typeof until === 'object' ? until?.at : undefined;
    const isDuration = typeof until === 'number' || typeof until === 'string';
    if (at === undefined && !isDuration) {
      throw new InvalidScheduleError(`${where}: got ${describe(until)}, expected a duration or { at }.`, fields);
    }
    const due = isDuration ? readDue(undefined, until) : readDue(at, undefined);
    if ('problem' in due) throw new InvalidScheduleError(`${where}: ${due.problem}.`, fields);
    return new JobOutcome('snooze', '', due);
  }

  /** The job ends: it is neither completed nor retried. The event `discarded` tells the reason, and the inspector if `keepEnded` keeps the job. Default `''`. */
  static discard(reason = ''): JobOutcome {
    return new JobOutcome('discard', String(reason));
  }

  /**
   * For a handler with `batch`: settles its jobs one by one. `results` has one for each job, in their order, and each counts as if the
   * handler had returned or thrown it for that job alone: a `JobOutcome` as usual, an `Error` fails the attempt, of what
   * `Promise.allSettled` answers a `value` or a `reason`, a promise is awaited, and anything else completes the job with it as its
   * result. With another number of results every attempt fails, with an `InvalidBatchResultError`. Throws `InvalidScheduleError` for what
   * is no array.
   *
   * @example
   * ```ts
   * class Imports {
   *   @OnScheduledJob('row.import', { batch: { size: 100 } })
   *   async import(rows: { id: number }[]) {
   *     return JobOutcome.each(await Promise.allSettled(rows.map(async ({ id }) => id)));
   *   }
   * }
   * ```
   */
  static each(results: readonly unknown[]): JobOutcome {
    if (!Array.isArray(results))
      throw new InvalidScheduleError(
        `JobOutcome.each: got ${describe(results)}, expected an array of results, one for each job.`,
      );
    return new JobOutcome('each', '', undefined, [...results]);
  }

  /** The job becomes a dead letter at once, however many attempts it has left. The reason is the message of its last failure. */
  static deadLetter(reason: string): JobOutcome {
    return new JobOutcome('dead-letter', String(reason));
  }
}

export function isOutcome(value: unknown): value is JobOutcome {
  return typeof value === 'object' && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
}
