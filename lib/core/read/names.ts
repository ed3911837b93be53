import { describe } from './describe.js';
import { UNPRINTABLE } from './one-line.js';
import type { Check } from './shape.js';

const KEY_PART = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const PRINTABLE = new RegExp(`^[^${UNPRINTABLE}]+$`, 'u');

/** A prefix of keys. It may contain a colon, because the first brace of a key always ends the prefix. */
const PREFIX = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]{0,62}[A-Za-z0-9._-])?$/;

/** A part of a Redis key: a queue, a worker id. Braces, colons or spaces would reach other keys or slots. */
export const keyPart: Check<string> = (value) =>
  typeof value === 'string' && KEY_PART.test(value)
    ? { value }
    : {
        problem: `got ${describe(value)}, expected 1 to 64 of the characters A-Z a-z 0-9 . _ -, a letter or digit first`,
      };

/** The first part of every key. Braces would move the hash tag, and with it the keys to other slots. */
export const keyPrefix: Check<string> = (value) =>
  typeof value === 'string' && PREFIX.test(value)
    ? { value }
    : {
        problem: `got ${describe(value)}, expected 1 to 64 of the characters A-Z a-z 0-9 . _ - and, inside, ':', a letter or digit first`,
      };

export function printable(max: number): Check<string> {
  return (value) =>
    typeof value === 'string' && value.length <= max && PRINTABLE.test(value)
      ? { value }
      : { problem: `got ${describe(value)}, expected 1 to ${max} printable characters` };
}

export const JOB_NAME_CHARACTERS = 128;

export const jobName: Check<string> = printable(JOB_NAME_CHARACTERS);
export const jobId: Check<string> = printable(256);
export const jobTag: Check<string> = printable(256);
export const jobGroup: Check<string> = printable(256);
/** Leaves room in the ids of its occurrences, which end with '@' and an instant. */
export const recurrenceId: Check<string> = printable(200);
export const pauseReason: Check<string> = printable(1_000);

/** As many as one call to Redis registers. A claim may look each name up by itself, so the number also keeps claims short. */
const MOST_NAMES = 1_000;

/** An array of at least one name, each answered once. `expected` says which names, and what to do for all of them. */
function listOf(one: Check<string>, expected: string): Check<string[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length === 0)
      return { problem: `got ${Array.isArray(value) ? 'none' : describe(value)}, expected ${expected}` };
    for (const [i, name] of value.entries()) {
      const read = one(name);
      if ('problem' in read) return { problem: `name ${i}: ${read.problem}` };
    }
    return { value: [...new Set<string>(value)] };
  };
}

const listOfJobNames = listOf(jobName, 'an array of job names; leave it out for every name');

/** Which names are meant: sorted, each once. */
export const jobNames: Check<readonly string[]> = (value) => {
  if (Array.isArray(value) && value.length > MOST_NAMES)
    return { problem: `got ${value.length} names, expected at most ${MOST_NAMES}; leave it out for every name` };
  const read = listOfJobNames(value);
  return 'problem' in read ? read : { value: read.value.sort() };
};

/** Which queues are meant, each once. An empty list is a mistake: a variable without a value would leave out every queue. */
export const queueNames: Check<readonly string[]> = listOf(
  keyPart,
  'an array of names of queues; leave it out for all queues',
);

/** A key of the caller's own. */
export const redisKey: Check<string> = printable(512);
