import { backoffCheck } from '../job/backoff.js';
import { headers, type LatenessRule, ON_LATE } from '../job/definition.js';
import { jobVersion } from '../job/job-versions.js';
import type { StoredStep } from '../job/new-job.js';
import { describe } from '../read/describe.js';
import { jobGroup, jobName, keyPart } from '../read/names.js';
import { type Check, duration, integer, isRecord, oneOf, options, readShape, type Shape } from '../read/shape.js';
import { tags } from '../read/tags.js';
import { MAX_PRIORITY, MOST_STEPS } from './defaults.js';

// The steps of a chain as a prepared job has them. Somebody has kept them meanwhile, and may have changed them: what ends up in a key, or in a line of
// an envelope, is looked at as the option was.

const text: Check<string> = (value) =>
  typeof value === 'string' ? { value } : { problem: `got ${describe(value)}, expected a string` };

const SETTINGS: Shape<StoredStep['settings']> = {
  maxAttempts: integer(1, 1_000),
  backoff: backoffCheck,
  timeoutMs: duration(),
  headers,
};

const LATENESS: Shape<LatenessRule> = { maxLatenessMs: duration(), onLate: oneOf(...ON_LATE) };

const STEP: Shape<{ -readonly [Field in keyof StoredStep]: StoredStep[Field] }> = {
  name: jobName,
  version: jobVersion,
  priority: integer(1, MAX_PRIORITY),
  worker: keyPart,
  group: jobGroup,
  tags,
  settings: options(SETTINGS) as Check<StoredStep['settings']>,
  lateness: options(LATENESS) as Check<LatenessRule>,
  codec: keyPart,
  delayMs: duration(),
  payload: text,
  encoding: oneOf('base64'),
};
const REQUIRED = ['name', 'priority', 'settings', 'delayMs', 'payload'] as const;

export const storedSteps: Check<readonly StoredStep[]> = (value) => {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_STEPS)
    return { problem: `got ${describe(value)}, expected the steps that prepare wrote` };
  const steps: StoredStep[] = [];
  for (const [i, each] of value.entries()) {
    const read = isRecord(each) ? readShape(STEP, each) : { problem: `got ${describe(each)}, expected a step` };
    if ('problem' in read) return { problem: `step ${i + 1}: ${read.problem}` };
    const missing = REQUIRED.find((field) => read.value[field] === undefined);
    if (missing !== undefined) return { problem: `step ${i + 1}: ${missing} is missing, expected what prepare wrote` };
    steps.push(read.value as StoredStep);
  }
  return { value: steps };
};
