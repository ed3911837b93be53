import { readRule } from '../calendar/read-rule.js';
import { invalidOptions } from '../errors.js';
import { describe, firstFew } from '../read/describe.js';
import { instant } from '../read/due.js';
import { anything, asSentence, duration, isRecord, readShape, type Shape } from '../read/shape.js';
import type { BlackoutRule, CronBlackout } from './blackout.js';
import { beginningsAfter } from './windows.js';

const DAY_MS = 86_400_000;
const BLACKOUTS_AT_MOST = 1_000;
const LONGEST_MS = 366 * DAY_MS;
/**
 * A blackout that comes again must leave a gap among so many of its beginnings, or among those of a year and a day; whatever comes less
 * often than once a month gets a few more. From a fixed instant on, so that every process refuses the same.
 */
const BEGINNINGS_LOOKED_AT = 10_000;
const BEGINNINGS_AT_LEAST = 12;
const LOOKED_AT_FROM_MS = Date.UTC(2026, 0, 1);

/** Read by the calendar, which knows what is wrong with it. */

const RANGE: Shape<{ from: number; to: number }> = { from: instant, to: instant };
const RECURRING: Shape<{ cron: unknown; durationMs: number; timeZone: unknown }> = {
  cron: anything,
  durationMs: duration(1, LONGEST_MS),
  timeZone: anything,
};
const EXPECTED = 'expected { from, to } or { cron, durationMs, timeZone? }';

const SHOWN_FIELDS = 5;
const SHOWN_CHARACTERS = 20;

const refusal = (problem: string) => invalidOptions(asSentence(problem));

/** Reads a list of blackouts; each entry's kind is told by its fields. Throws `InvalidOptionsError`. */
export function readBlackouts(given: unknown, where: string): BlackoutRule[] {
  const refuse = (problem: string) => refusal(`${where}: ${problem}`);
  if (!Array.isArray(given))
    throw refuse(`got ${describe(given)}, expected an array of blackouts; an empty one ends all of them`);
  if (given.length > BLACKOUTS_AT_MOST)
    throw refuse(`got ${given.length} blackouts, expected at most ${BLACKOUTS_AT_MOST}`);
  return Array.from(given, (each, i) => readBlackout(each, `${where}: blackout ${i}`));
}

function readBlackout(given: unknown, where: string): BlackoutRule {
  const fail = (problem: string) => refusal(`${where}: ${problem}`);
  if (!isRecord(given)) throw fail(`got ${describe(given)}, ${EXPECTED}`);
  const has = (...names: string[]) => names.some((name) => (given as Record<string, unknown>)[name] !== undefined);
  const isRange = has('from', 'to');
  const isRecurring = has('cron', 'durationMs', 'timeZone');
  if (isRange === isRecurring)
    throw fail(
      `got ${isRange ? 'fields of both kinds' : 'an object without any of these fields'} (${fieldsOf(given)}), ${EXPECTED}`,
    );
  return isRange ? readRange(given, fail) : readRecurring(given, where, fail);
}

/** They may be a stranger's, and of any number and length. */
function fieldsOf(given: object): string {
  const names = Object.keys(given).map((name) => name.slice(0, SHOWN_CHARACTERS));
  return firstFew(names, SHOWN_FIELDS);
}

function readRange(given: object, fail: (problem: string) => Error): BlackoutRule {
  const read = readShape(RANGE, given);
  if ('problem' in read) throw fail(read.problem);
  const { from, to } = read.value;
  if (from === undefined || to === undefined)
    throw fail(`${from === undefined ? 'from' : 'to'}: got undefined, expected an instant`);
  if (from >= to)
    throw fail(
      `from (${new Date(from).toISOString()}) is not before to (${new Date(to).toISOString()}): expected it to begin before it ends`,
    );
  return { fromMs: from, toMs: to };
}

function readRecurring(given: object, where: string, fail: (problem: string) => Error): BlackoutRule {
  const read = readShape(RECURRING, given);
  if ('problem' in read) throw fail(read.problem);
  const { cron, durationMs, timeZone } = read.value;
  if (cron === undefined)
    throw fail(`cron: got undefined, expected the beginnings of the blackout, such as '0 22 * * *'`);
  if (durationMs === undefined) throw fail(`durationMs: got undefined, expected how long it lasts, such as '8h'`);
  const { timing } = readRule({ cron, timeZone }, where, invalidOptions);
  const rule = { cron: timing.cron!, timeZone: timing.timeZone, durationMs };
  if (!hasGap(rule))
    throw fail(
      `durationMs: got ${durationMs} ms, after which it would always have begun again, so that it never ends: expected less than the time between two beginnings of '${rule.cron}'; to shut the queue without an end, pause it`,
    );
  return rule;
}

/** Whether the blackout ends before it begins again, at least once in a while. */
function hasGap(rule: CronBlackout): boolean {
  let looked = 0;
  let firstMs: number | undefined;
  let endsMs = Number.POSITIVE_INFINITY;
  for (const beginsMs of beginningsAfter(rule, LOOKED_AT_FROM_MS)) {
    if (beginsMs > endsMs) return true;
    firstMs ??= beginsMs;
    looked++;
    if (looked >= BEGINNINGS_LOOKED_AT || (looked >= BEGINNINGS_AT_LEAST && beginsMs - firstMs > LONGEST_MS))
      return false;
    endsMs = beginsMs + rule.durationMs;
  }
  // There is a last one.
  return true;
}
