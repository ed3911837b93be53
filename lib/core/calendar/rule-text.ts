import type { Exclusion, RecurrenceRule, Rule } from './rule.js';

export const DEFAULT_TIME_ZONE = 'UTC';
export const DEFAULT_ON_MISSED = 'once';
export const DEFAULT_OVERLAP = 'allow';

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
  const stored: StoredRule = JSON.parse(text);
  const { timeZone = DEFAULT_TIME_ZONE, offsetMs = 0, exclude = [] } = stored;
  const { cron, everyMs, startAtMs, endAtMs, limit, missedWithinMs } = stored;
  return {
    timing: { cron, timeZone, everyMs, offsetMs, startAtMs, endAtMs, exclude },
    limit,
    onMissed: stored.onMissed ?? DEFAULT_ON_MISSED,
    missedWithinMs,
    overlap: stored.overlap ?? DEFAULT_OVERLAP,
    jitterMs: stored.jitterMs ?? 0,
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
