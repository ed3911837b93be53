import { SystemClock } from '../clock.js';
import { invalidSchedule as refuse } from '../errors.js';
import { instant } from '../read/due.js';
import { integer, readOptions } from '../read/shape.js';
import { occurrencesAfter } from './occurrences.js';
import { readRule } from './read-rule.js';
import type { RecurrenceRule } from './rule.js';

/** The options of `nextOccurrences`. */
export interface NextOccurrencesOptions {
  /** The instant after which they lie, as a Date or epoch milliseconds. Default: now, by the clock of this process. */
  from?: Date | number;
  /** How many are wanted; 0 or more. */
  count: number;
}

/**
 * The next nominal instants of a rule, all later than `from`: no jitter, nothing of pauses. Fewer than `count` where the rule ends
 * before, by its `endAt`, its last year or its `limit`, of which those before `from` are not known here. Nothing is asked of Redis.
 * Throws `InvalidScheduleError` where the rule or an option cannot be used.
 */
export function nextOccurrences(rule: RecurrenceRule, options: NextOccurrencesOptions): Date[] {
  const where = 'nextOccurrences';
  const { timing, limit = Number.POSITIVE_INFINITY } = readRule(rule, where);
  const shape = { from: instant, count: integer(0) };
  const given = readOptions(options, shape, where, refuse);
  const { from = new SystemClock().wallNow(), count } = given;
  if (count === undefined) throw refuse(`${where}: count: got undefined, expected how many are wanted.`);
  const dates: Date[] = [];
  if (count === 0) return dates;
  for (const { atMs } of occurrencesAfter(timing, from)) {
    dates.push(new Date(atMs));
    if (dates.length >= Math.min(count, limit)) break;
  }
  return dates;
}
