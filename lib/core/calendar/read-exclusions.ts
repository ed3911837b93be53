import { describe } from '../read/describe.js';
import { instant } from '../read/due.js';
import { isRecord, unknownOption } from '../read/shape.js';
import type { Exclusion } from './rule.js';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** Who claims an occurrence looks through them, and each is stored with the rule. */
const MOST_EXCLUSIONS = 10_000;
const EXPECTED = `an instant, a day such as '2027-12-25', or { from, to }`;

/** In a fixed order, each once; or a sentence that says what is wrong. */
export function readExclusions(given: unknown): { value: readonly Exclusion[] } | { problem: string } {
  if (!Array.isArray(given)) return { problem: `got ${describe(given)}, expected an array, each ${EXPECTED}` };
  if (given.length > MOST_EXCLUSIONS)
    return { problem: `got ${given.length} items, expected at most ${MOST_EXCLUSIONS}; a range is one item` };
  const read = new Map<string, Exclusion>();
  for (const [i, item] of given.entries()) {
    const one = readOne(item);
    if ('problem' in one) return { problem: `item ${i}: ${one.problem}` };
    read.set(JSON.stringify(one.value), one.value);
  }
  return { value: [...read].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, exclusion]) => exclusion) };
}

function readOne(given: unknown): { value: Exclusion } | { problem: string } {
  if (!isRecord(given)) return readEnd(given);
  const other = Object.keys(given).find((name) => name !== 'from' && name !== 'to');
  if (other !== undefined) return { problem: unknownOption(other, ['from', 'to']) };
  const range = given as { from?: unknown; to?: unknown };
  const from = readEnd(range.from);
  if ('problem' in from) return { problem: `from: ${from.problem}` };
  const to = readEnd(range.to);
  if ('problem' in to) return { problem: `to: ${to.problem}` };
  const got = `got from ${describe(range.from)} to ${describe(range.to)}`;
  if (typeof from.value === 'number' && typeof to.value === 'number') {
    if (from.value < to.value) return { value: { from: from.value, to: to.value } };
    return { problem: `${got}, expected 'to' to be later than 'from'` };
  }
  if (typeof from.value === 'string' && typeof to.value === 'string') {
    if (from.value < to.value) return { value: { from: from.value, to: to.value } };
    if (from.value === to.value) return from;
    return { problem: `${got}, expected 'to' not to be before 'from'` };
  }
  return { problem: `${got}, expected two instants or two days` };
}

function readEnd(given: unknown): { value: number | string } | { problem: string } {
  if (typeof given === 'string' && DAY.test(given)) {
    return isDay(given) ? { value: given } : { problem: `got ${describe(given)}, expected a day that there is` };
  }
  const read = instant(given);
  return 'value' in read ? read : { problem: `${read.problem}, or a day such as '2027-12-25'` };
}

/** `Date.parse` takes 30 February for 2 March. */
function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
