import { createHash } from 'node:crypto';
import type { NewJob } from '../job/new-job.js';
import type { Rule } from './rule.js';
import { ruleText } from './rule-text.js';

/** So much of a digest tells the declarations of one id apart. */
const LENGTH = 16;

/** Equal for equal declarations, in whatever order the fields of rule, job and JSON payload stand. */
export function fingerprintOf(rule: Rule, { payload, tags = [], ...job }: Omit<NewJob, 'id' | 'due'>): string {
  const isText = job.codec === undefined && typeof payload === 'string';
  const stored = isText ? parsed(payload) : Buffer.from(payload as string).toString('base64');
  const text = canonicalJson({ rule: ruleText(rule), job, tags, stored });
  return createHash('sha1').update(text).digest('hex').slice(0, LENGTH);
}

/** Text that is no JSON, such as none at all, stays as it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The same text for equal values: the fields of each object in order, and those that are undefined left out. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, (_, each) => sorted(each));

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
