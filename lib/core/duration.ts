import ms from 'ms';
import { describe } from './describe.js';

/** A length of time: milliseconds, or a string with a unit such as `'10m'`, `'2h'` or `'3 days'`. */
export type Duration = number | string;

/** Beyond this no instant can be reached from now: the range of `Date`, 8.64e15 ms. */
export const MAX_DURATION_MS = 8.64e15;

/** Milliseconds of a duration, or a sentence that says what is wrong with it. */
export function parseDuration(value: unknown): number | { problem: string } {
  if (typeof value === 'number') return inRange(value, value);
  if (typeof value === 'string') return parseText(value);
  return { problem: `got ${describe(value)}, expected milliseconds or a string such as '10m'` };
}

function parseText(text: string): number | { problem: string } {
  const expected = `expected a number with a unit, such as '500ms', '10m', '2h' or '3 days'`;
  const trimmed = text.trim();
  if (trimmed.length > 100 || !/[a-z]$/i.test(trimmed)) return { problem: `got ${describe(text)}, ${expected}` };
  const parsed = ms(trimmed as ms.StringValue);
  if (parsed === undefined || Number.isNaN(parsed)) return { problem: `got ${describe(text)}, ${expected}` };
  return inRange(parsed, text);
}

function inRange(durationMs: number, given: unknown): number | { problem: string } {
  const got = `got ${describe(given)}`;
  if (!Number.isFinite(durationMs)) return { problem: `${got}, expected a finite number of milliseconds` };
  if (durationMs < 0) return { problem: `${got}, expected 0 or more milliseconds` };
  if (durationMs > MAX_DURATION_MS) return { problem: `${got}, expected at most ${MAX_DURATION_MS} milliseconds` };
  return Math.ceil(durationMs);
}
