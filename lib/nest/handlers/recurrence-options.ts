import { RULE_FIELDS } from '../../core/calendar/read-rule.js';
import type { RecurrencePolicy } from '../../core/calendar/rule.js';
import type { Duration } from '../../core/read/duration.js';
import { recurrenceId } from '../../core/read/names.js';
import { anything, type Check, type Shape } from '../../core/read/shape.js';

/**
 * The fields of `@OnScheduledJob` that declare a recurrence of the job: `cron` or `everyMs`, and what goes with it. Every process that
 * claims declares it, and each occurrence is one job over all processes. See docs/recurrence.md.
 */
export interface DeclaredRecurrenceOptions<Payload = unknown> extends RecurrencePolicy {
  /** When the job recurs, as a cron expression of five, six or seven fields. Not together with `everyMs`. */
  cron?: string;
  /** The IANA name of the zone in which `cron` and days in `exclude` are read. Default `'UTC'`. */
  timeZone?: string;
  /** How often the job recurs: at multiples of it since 1970, so that it never drifts. At least 100. Not together with `cron`. */
  everyMs?: Duration;
  /** Moves the instants of `everyMs`. Default 0. */
  offsetMs?: Duration;
  /** The id of the recurrence, unique in its queue: 1 to 200 printable characters. Default: the job's name. */
  recurrenceId?: string;
  /** The payload of each occurrence; needed where the job has one. It is checked when the application starts. */
  recurrencePayload?: Payload;
}

/**
 * A job with a payload needs `recurrencePayload` beside `cron` or `everyMs`: else each occurrence would run without one. Nothing is
 * asked where the payload may be `undefined`.
 */
export type RecurrencePayloadFor<Payload> = undefined extends Payload
  ? unknown
  : { cron?: undefined; everyMs?: undefined } | { recurrencePayload: Payload };

/** What a decorator says of a recurrence. The rule is only read at the start: then an error can name the class. */
export interface RecurrenceMark {
  readonly id?: string;
  readonly payload?: unknown;
  /** The fields of the rule; `undefined` where there are none, and the rule may come from the module's `jobs`. */
  readonly rule?: Readonly<Record<string, unknown>>;
}

type RuleField = (typeof RULE_FIELDS)[number];

/** The decorator's options of a recurrence. */
export type GivenRecurrence = Record<RuleField, unknown> & { recurrenceId: string; recurrencePayload: unknown };

export const RECURRENCE_SHAPE: Shape<GivenRecurrence> = {
  ...(Object.fromEntries(RULE_FIELDS.map((field) => [field, anything])) as Record<RuleField, Check<never>>),
  recurrenceId,
  recurrencePayload: anything,
};

/** Takes the options of a recurrence out of those of a decorator. */
export function splitRecurrence<T extends object>(
  given: Partial<GivenRecurrence> & T,
): { recurrence?: RecurrenceMark; rest: Omit<T, keyof GivenRecurrence> } {
  const { recurrenceId: id, recurrencePayload: payload, ...others } = given;
  const isOfRule = ([field]: [string, unknown]) => (RULE_FIELDS as readonly string[]).includes(field);
  const fields = Object.entries(others);
  const rule = fields.filter(isOfRule);
  const rest = Object.fromEntries(fields.filter((field) => !isOfRule(field))) as Omit<T, keyof GivenRecurrence>;
  if (rule.length === 0 && id === undefined && payload === undefined) return { rest };
  return { recurrence: { id, payload, ...(rule.length > 0 && { rule: Object.fromEntries(rule) }) }, rest };
}
