import { FIRST_INSTANT_MS } from '../constants.js';
import { invalidSchedule } from '../errors.js';
import { describe, nearest } from '../read/describe.js';
import { instant } from '../read/due.js';
import { asSentence, type Check, duration, integer, oneOf, type Refuse, readShape, type Shape } from '../read/shape.js';
import { hasOccurrenceAfter, MOST_WALL_TIMES } from './occurrences.js';
import { readCron } from './read-cron.js';
import { readExclusions } from './read-exclusions.js';
import type { Exclusion, OnMissed, Overlap, Rule, Timing } from './rule.js';
import { withDefaults } from './rule-text.js';
import { timeZone } from './time-zone.js';

export { parseRuleText, ruleText, toRecurrenceRule } from './rule-text.js';

interface ReadFields {
  cron: string;
  timeZone: string;
  everyMs: number;
  offsetMs: number;
  startAt: number;
  endAt: number;
  limit: number;
  onMissed: OnMissed;
  missedWithin: number;
  overlap: Overlap;
  jitterMs: number;
  exclude: readonly Exclusion[];
}

/** An interval is reckoned in a script for each of its occurrences: shorter ones would keep Redis from other work. */
const SHORTEST_INTERVAL_MS = 100;
/** The longest name of a zone has 32. */
const ZONE_CHARACTERS = 64;
const OFFSET = /^(?:GMT|UTC)?[+-]\d/i;

const zoneName: Check<string> = (value) => {
  const got = `got ${describe(value)}, expected an IANA name such as 'Europe/Paris'`;
  if (typeof value !== 'string' || value.length > ZONE_CHARACTERS) return { problem: got };
  if (OFFSET.test(value))
    return {
      problem: `${got}: an offset knows no daylight saving; a zone without it is 'Etc/GMT-2', two hours ahead of UTC`,
    };
  try {
    timeZone(value);
    return { value };
  } catch {
    const near = nearest(value, Intl.supportedValuesOf('timeZone'));
    return { problem: near ? `${got}; did you mean '${near}'?` : got };
  }
};

const SHAPE: Shape<ReadFields> = {
  cron: readCron,
  timeZone: zoneName,
  everyMs: duration(SHORTEST_INTERVAL_MS),
  offsetMs: duration(),
  startAt: instant,
  endAt: instant,
  limit: integer(1),
  onMissed: oneOf('skip', 'once', 'all'),
  missedWithin: duration(),
  overlap: oneOf('allow', 'skip', 'queue'),
  jitterMs: duration(),
  exclude: readExclusions,
};

/**
 * Reads a rule. Throws `InvalidScheduleError`, or what `refuse` makes of the message, where it is malformed, names no zone that there
 * is, contradicts itself, or has no occurrence at all. Whether one lies ahead is another question: see `hasOccurrenceAfter`.
 */
/** The options of a rule. */
export const RULE_FIELDS = Object.keys(SHAPE) as readonly (keyof typeof SHAPE)[];

export function readRule(given: unknown, where: string, refuse: Refuse = invalidSchedule): Rule {
  const read = readShape<ReadFields>(SHAPE, given, 'a rule, { cron, … } or { everyMs, … }');
  const rule = 'problem' in read ? read : ruleOf(read.value);
  if ('problem' in rule) throw refuse(asSentence(`${where}: ${rule.problem}`));
  return rule;
}

function ruleOf(read: Partial<ReadFields>): Rule | { problem: string } {
  const problem = contradiction(read);
  if (problem) return { problem };
  const { everyMs, startAt: startAtMs, endAt: endAtMs, missedWithin: missedWithinMs, ...same } = read;
  // Whole multiples more lead to the same instants.
  const offsetMs = everyMs === undefined ? undefined : (read.offsetMs ?? 0) % everyMs;
  const rule = withDefaults({ ...same, everyMs, offsetMs, startAtMs, endAtMs, missedWithinMs });
  const hasOccurrence = hasOccurrenceAfter(rule.timing, FIRST_INSTANT_MS - 1);
  return hasOccurrence ? rule : { problem: withoutOccurrence(rule.timing) };
}

function contradiction({ cron, everyMs, timeZone, offsetMs, startAt, endAt }: Partial<ReadFields>): string | undefined {
  if (cron !== undefined && everyMs !== undefined)
    return `got both cron ('${cron}') and everyMs (${everyMs}), expected one of them`;
  if (cron === undefined && everyMs === undefined) return 'got neither cron nor everyMs, expected one of them';
  if (cron !== undefined && offsetMs !== undefined)
    return `got offsetMs (${offsetMs}) with cron, expected it with everyMs only: write the time into the fields of cron`;
  if (everyMs !== undefined && timeZone !== undefined)
    return `got timeZone ('${timeZone}') with everyMs, expected it with cron only: an interval counts from the epoch and follows no wall clock`;
  if (startAt !== undefined && endAt !== undefined && startAt > endAt)
    return `got endAt (${shown(endAt)}) before startAt (${shown(startAt)}), expected it at startAt or later`;
  return undefined;
}

function withoutOccurrence({ cron, everyMs, startAtMs, endAtMs, exclude }: Timing): string {
  const got = cron === undefined ? `everyMs: got ${everyMs}` : `cron: got '${cron}'`;
  const bounds = [
    startAtMs === undefined ? '' : ` from startAt (${shown(startAtMs)}) on`,
    endAtMs === undefined ? '' : ` up to endAt (${shown(endAtMs)})`,
    exclude.length === 0 ? '' : `, with ${exclude.length} excluded`,
  ].join('');
  return `${got}, which names no instant${bounds} among ${MOST_WALL_TIMES} wall times, expected one at least`;
}

function shown(atMs: number): string {
  return new Date(atMs).toISOString();
}
