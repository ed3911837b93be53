import type { Instant } from '../calendar/rule.js';
import type { Duration } from '../read/duration.js';

/** A blackout that comes once. */
export interface BlackoutRange {
  /** When it begins: a Date, epoch ms, or ISO 8601 with time and `Z` or offset. */
  from: Instant;
  /** When it ends; at this instant jobs are claimed again. Later than `from`. */
  to: Instant;
}

/** A blackout that comes again and again. */
export interface RecurringBlackout {
  /** When it begins: five fields, six (seconds first) or seven (a year last), as in a recurrence. */
  cron: string;
  /** How long it lasts, in real time also where the clocks change: from 1 ms to a year. It must leave a gap before a later one begins. */
  durationMs: Duration;
  /** The zone of `cron`, an IANA name. Default `'UTC'`. */
  timeZone?: string;
}

/** A time in which nothing of a queue is claimed, popped or relayed. */
export type Blackout = BlackoutRange | RecurringBlackout;

/** A blackout as `blackouts()` tells it: one that comes once, or one that comes again and again. */
export type ListedBlackout = { from: Date; to: Date } | { cron: string; durationMs: number; timeZone: string };

/** A blackout as it was read, and as it is stored. */
export type BlackoutRule = FixedBlackout | CronBlackout;

export interface FixedBlackout {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface CronBlackout {
  readonly cron: string;
  readonly timeZone: string;
  readonly durationMs: number;
}

export const isCron = (rule: BlackoutRule): rule is CronBlackout => 'cron' in rule;

/** The form in which users see a blackout. */
export function toListed(rule: BlackoutRule): ListedBlackout {
  if (!isCron(rule)) return { from: new Date(rule.fromMs), to: new Date(rule.toMs) };
  const { cron, durationMs, timeZone } = rule;
  return { cron, durationMs, timeZone };
}
