import { readRule } from '../core/calendar/read-rule.js';
import type { RecurrenceRule, Rule } from '../core/calendar/rule.js';
import { InvalidScheduleError, invalidOptions as refuse } from '../core/errors.js';
import type { BatchOptions } from '../core/options/batch-options.js';
import {
  RUN_OPTIONS_SHAPE,
  type RunOptions,
  refuseJobOptions,
  type SaidSettings,
} from '../core/options/run-settings.js';
import { nearest } from '../core/read/describe.js';
import { jobName } from '../core/read/names.js';
import { type Check, readOne, readOptions } from '../core/read/shape.js';

/** What the module's `jobs` may say of a job. It overrides `@OnScheduledJob` and the definition; the call to `schedule` overrides it. */
export interface JobOverrides extends Omit<RunOptions, 'batch'> {
  /**
   * Another `size` or `waitMs` for a handler that has `batch`; `undefined` leaves what the decorator says. It takes `batch` away from none,
   * and throws `InvalidOptionsError` at start for a handler without it.
   */
  batch?: Partial<BatchOptions>;
  /**
   * The rule of the recurrence that the job's handler declares, in the place of the decorator's rule; it declares one where the
   * decorator has none. `false` switches off all recurrences that the handler declares: no process of another build may run them
   * either, as long as this declaration wins (see `revision`).
   */
  recurrence?: RecurrenceRule | false;
}

/** Overrides that have been read. */
export type JobOverride = SaidSettings & { recurrence?: Rule | false };

/** Reads the module's `jobs`. Throws `InvalidOptionsError`, and `InvalidScheduleError` for a rule. */
export function readJobs(given: object, where: string): Map<string, JobOverride> {
  return new Map(
    Object.entries(given).map(([job, overrides]) => {
      readOne(jobName, job, `${where}: jobs`, refuse);
      if (typeof overrides === 'object' && overrides !== null && 'queue' in overrides) {
        throw refuse(
          `${where}: jobs['${job}']: queue cannot be changed from configuration: jobs wait where their definition or handler says.`,
        );
      }
      const place = `${where}: jobs['${job}']`;
      refuseJobOptions(overrides, place, refuse);
      return [job, readOverride(job, overrides, place)];
    }),
  );
}

function readOverride(name: string, overrides: unknown, place: string): JobOverride {
  const where = `${place}: recurrence`;
  const recurrence: Check<Rule | false> = (value) => ({
    value:
      value === false
        ? value
        : readRule(value, where, (message) => new InvalidScheduleError(message, { jobName: name })),
  });
  return readOptions(overrides, { ...RUN_OPTIONS_SHAPE, recurrence }, place, refuse);
}

/** Holds for popped jobs too, whose names nobody knows at the start. */
const FOR_POPS = ['maxAttempts', 'backoff'];

/**
 * A sentence for each name in `jobs` that no handler of this process has and that is most likely misspelt: it is near to one that
 * is handled, or has options that only handlers have.
 */
export function unhandledOverrides(jobs: ReadonlyMap<string, JobOverride>, handled: readonly string[]): string[] {
  return [...jobs].flatMap(([name, overrides]) => {
    if (handled.includes(name)) return [];
    const beginning = `The option jobs names '${name}', which no handler of this process handles`;
    const near = nearest(name, handled);
    if (near) return `${beginning}; did you mean '${near}'? Where it is only popped, nothing is wrong.`;
    const forHandlers = Object.keys(overrides).filter((option) => !FOR_POPS.includes(option));
    return forHandlers.length > 0
      ? `${beginning}, and what it says of ${forHandlers.join(', ')} holds for handlers only.`
      : [];
  });
}
