import { describe } from './describe.js';
import { jobTag } from './names.js';
import type { Check } from './shape.js';

/** Each tag costs one index entry, which is written when its job is scheduled and deleted when the job ends. */
const MAX_TAGS = 16;
/** A list may name a tag several times. Each item is looked at, so this many are too long a list, whatever they are. */
const MOST_ITEMS = 1_000;

/** The tags of a job, each once. */
export const tags: Check<readonly string[]> = (value) => {
  if (!Array.isArray(value)) return { problem: `got ${describe(value)}, expected an array of tags` };
  if (value.length > MOST_ITEMS) return { problem: `got ${value.length} tags, expected at most ${MAX_TAGS}` };
  const read = new Set<string>();
  for (const [i, given] of value.entries()) {
    const tag = jobTag(given);
    if ('problem' in tag) return { problem: `tag ${i}: ${tag.problem}` };
    read.add(tag.value);
  }
  if (read.size > MAX_TAGS) return { problem: `got ${read.size} tags, expected at most ${MAX_TAGS}` };
  return { value: Object.freeze([...read]) };
};
