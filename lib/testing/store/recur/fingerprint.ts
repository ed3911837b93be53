import type { Rule } from '../../../core/calendar/rule.js';
import { ruleText } from '../../../core/calendar/rule-text.js';
import type { OccurrenceTemplate } from '../../../store/job-store.js';

/** Equal for equal rules and jobs, in whatever order their fields stand; the payload is compared as it is stored. */
export function fingerprintOf(rule: Rule, { payload, ...job }: OccurrenceTemplate): string {
  const stored = typeof payload === 'string' ? payload : Buffer.from(payload).toString('base64');
  return canonical({ rule: ruleText(rule), job: { ...job, tags: job.tags ?? [] }, stored });
}

/** Equal for equal values, in whatever order the fields of their objects stand. */
export const canonical = (value: unknown): string => JSON.stringify(sorted(value));

/** The same value with the keys of its objects in order; fields that are undefined are not said at all. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, sorted(item)]));
}
