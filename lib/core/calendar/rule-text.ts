import type { Exclusion, RecurrenceRule, Rule } from './rule.js';

const DEFAULT_TIME_ZONE = 'UTC';
const DEFAULT_ON_MISSED = 'once';
const DEFAULT_OVERLAP = 'allow';

/** A rule as it is stored: defaults left out. */
type StoredRule = Partial<
  Omit<Rule, 'timing'> & Omit<Rule['timing'], 'exclude'> & { readonly exclude: readonly Exclusion[] }
>;

/** The text of a rule by which it is stored and compared: equal rules have equal texts. Defaults are left out, keys sorted. */
export function ruleText(rule: Rule): string {
  return JSON.stringify(stored(rule));
}

/** The rule of a text of `ruleText`. */
export function parseRuleText(text: string): Rule {
  return withDefaults(JSON.parse(text));
}

/** The rule of which this is said. */
export function withDefaults(said: StoredRule): Rule {
  const { timeZone = DEFAULT_TIME_ZONE, offsetMs = 0, exclude = [] } = said;
  const { cron, everyMs, startAtMs, endAtMs, limit, missedWithinMs } = said;
  return {
    timing: { cron, timeZone, everyMs, offsetMs, startAtMs, endAtMs, exclude },
    limit,
    onMissed: said.onMissed ?? DEFAULT_ON_MISSED,
    missedWithinMs,
    overlap: said.overlap ?? DEFAULT_OVERLAP,
    jitterMs: said.jitterMs ?? 0,
  };
}

/** A rule as a user would write it: defaults left out, instants as dates. */
export function toRecurrenceRule(rule: Rule): RecurrenceRule {
  const { startAtMs, endAtMs, missedWithinMs, exclude, ...same } = stored(rule);
  const written = {
    ...same,
    ...(startAtMs !== undefined && { startAt: new Date(startAtMs) }),
    ...(endAtMs !== undefined && { endAt: new Date(endAtMs) }),
    ...(missedWithinMs !== undefined && { missedWithin: missedWithinMs }),
    ...(exclude && { exclude: exclude.map(toExcludedTime) }),
  };
  return written as RecurrenceRule;
}

function toExcludedTime(excluded: Exclusion) {
  if (typeof excluded !== 'object') return toEnd(excluded);
  return { from: toEnd(excluded.from), to: toEnd(excluded.to) };
}

function toEnd(end: number | string): Date | string {
  return typeof end === 'number' ? new Date(end) : end;
}

/** Its keys are sorted, and none is `undefined`. */
function stored({ timing, ...rule }: Rule): StoredRule {
  const fields = {
    cron: timing.cron,
    endAtMs: timing.endAtMs,
    everyMs: timing.everyMs,
    exclude: timing.exclude.length > 0 ? timing.exclude : undefined,
    jitterMs: unless(0, rule.jitterMs),
    limit: rule.limit,
    missedWithinMs: rule.missedWithinMs,
    offsetMs: unless(0, timing.offsetMs),
    onMissed: unless(DEFAULT_ON_MISSED, rule.onMissed),
    overlap: unless(DEFAULT_OVERLAP, rule.overlap),
    startAtMs: timing.startAtMs,
    timeZone: unless(DEFAULT_TIME_ZONE, timing.timeZone),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function unless<T>(byDefault: T, value: T): T | undefined {
  return value === byDefault ? undefined : value;
}
