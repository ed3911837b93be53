import { FIRST_INSTANT_MS, LAST_INSTANT_MS } from '../constants.js';
import { describe } from './describe.js';
import { parseDuration } from './duration.js';
import type { Check } from './shape.js';

/** When a job is to run: at an instant (epoch ms), or a time after Redis has taken it in. */
export type Due = { at: number } | { delayMs: number };

export const DUE_NOW: Due = { delayMs: 0 };

/** More digits of a second than any clock has. */
const ISO_CHARACTERS = 64;
const ISO_INSTANT = /^([+-]\d{6}|\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)$/i;

/** Reads `at` or `delay`; neither means now. Answers the due time or a sentence that says what is wrong. */
export function readDue(at: unknown, delay: unknown): Due | { problem: string } {
  if (at !== undefined && delay !== undefined) {
    return { problem: `got both at (${describe(at)}) and delay (${describe(delay)}), expected one of them` };
  }
  if (delay !== undefined) {
    const delayMs = parseDuration(delay);
    if (typeof delayMs === 'object') return { problem: `delay: ${delayMs.problem}` };
    // The largest instant less any present: a longer delay would end beyond the range of dates.
    if (delayMs > LAST_INSTANT_MS / 2)
      return { problem: `delay: got ${describe(delay)}, expected at most ${LAST_INSTANT_MS / 2} ms` };
    return { delayMs };
  }
  if (at === undefined) return DUE_NOW;
  const read = instant(at);
  return 'problem' in read ? { problem: `at: ${read.problem}` } : { at: read.value };
}

/** Answers epoch ms. */
export const instant: Check<number> = (at) => {
  if (at instanceof Date) {
    const time = at.getTime();
    return Number.isNaN(time) ? { problem: 'got an invalid Date, expected a valid one' } : notInSeconds(time, at);
  }
  if (typeof at === 'number') {
    if (!Number.isFinite(at)) return { problem: `got ${at}, expected epoch milliseconds` };
    if (at > LAST_INSTANT_MS)
      return { problem: `got ${at}, expected at most ${LAST_INSTANT_MS}, the last instant of Date` };
    return notInSeconds(Math.ceil(at), at);
  }
  const expected = `expected a Date, epoch milliseconds, or ISO 8601 with time and Z or offset, such as '2027-01-01T09:00:00Z'`;
  const time = typeof at === 'string' ? parseIso(at) : Number.NaN;
  return Number.isNaN(time) ? { problem: `got ${describe(at)}, ${expected}` } : notInSeconds(time, at);
};

/** Dates are checked too: `new Date(seconds)` is as common a mistake as bare seconds, and such a job would be due at once, decades late. */
function notInSeconds(time: number, got: unknown): ReturnType<Check<number>> {
  if (time >= FIRST_INSTANT_MS) return { value: time };
  return {
    problem: `got ${describe(got)}, which looks like seconds: expected an instant of at least 1e11 epoch milliseconds (1973-03-03)`,
  };
}

/** Epoch ms of ISO 8601 text, else NaN. `Date.parse` knows no comma and no offset of hours alone, and takes 30 February for 2 March. */
function parseIso(text: string): number {
  const parts = text.length <= ISO_CHARACTERS ? ISO_INSTANT.exec(text) : null;
  if (!parts) return Number.NaN;
  const [, year, month, day] = parts.map(Number);
  const daysInMonth = new Date(Date.UTC(year!, month!, 0)).getUTCDate();
  if (day! > daysInMonth) return Number.NaN;
  return Date.parse(text.replace(',', '.').replace(/T.*[+-]\d{2}$/i, '$&:00'));
}
