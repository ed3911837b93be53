import ms from 'ms';
import { describe } from './describe.js';

type NamedUnit =
  | 'Millisecond'
  | 'Msec'
  | 'Second'
  | 'Sec'
  | 'Minute'
  | 'Min'
  | 'Hour'
  | 'Hr'
  | 'Day'
  | 'Week'
  | 'Year'
  | 'Yr';
type Unit = NamedUnit | `${NamedUnit}s` | 'Ms' | 'S' | 'M' | 'H' | 'D' | 'W' | 'Y';

type UnitInAnyCase = Unit | Lowercase<Unit> | Uppercase<Unit>;

/**
 * A length of time: milliseconds, or a number with a unit, such as `'500ms'`, `'10m'`, `'2h'` or `'3 days'`; the units are those of
 * the package `ms`. The compiler checks literals. Text that is only known at run time, such as that of an environment variable,
 * needs `as Duration`; it is checked when it is used.
 */
export type Duration = number | `${number}${UnitInAnyCase}` | `${number} ${UnitInAnyCase}`;

/** Beyond this no instant can be reached from now: the range of `Date`, 8.64e15 ms. */
export const MAX_DURATION_MS = 8.64e15;

/** Milliseconds of a duration, or a sentence that says what is wrong with it. */
export function parseDuration(value: unknown): number | { problem: string } {
  return parseBetween(0, MAX_DURATION_MS, value);
}

/** As `parseDuration`, but the length may be negative, as in `-500` or `'-2h'`. Its size is at most half of the longest duration. */
export function parseSignedDuration(value: unknown): number | { problem: string } {
  return parseBetween(-MAX_DURATION_MS / 2, MAX_DURATION_MS / 2, value);
}

function parseBetween(min: number, max: number, value: unknown): number | { problem: string } {
  const parsed = toMs(value);
  if (typeof parsed === 'object') return parsed;
  const got = `got ${describe(value)}`;
  if (!Number.isFinite(parsed)) return { problem: `${got}, expected a finite number of milliseconds` };
  if (parsed < min) return { problem: `${got}, expected ${min === 0 ? '0 or more' : `at least ${min}`} milliseconds` };
  if (parsed > max) return { problem: `${got}, expected at most ${max} milliseconds` };
  // Up, so that nothing is early; and no -0.
  return Math.ceil(parsed) + 0;
}

function toMs(value: unknown): number | { problem: string } {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return parseText(value);
  return { problem: `got ${describe(value)}, expected milliseconds or a string such as '10m'` };
}

/** The package `ms` throws beyond it. */
const DURATION_CHARACTERS = 100;
/** Those of the package `ms`. A month has no fixed length. */
const UNITS = 'ms, s, m (minutes), h, d, w and y, or their names';

function parseText(text: string): number | { problem: string } {
  const expected = `expected a number with a unit, such as '500ms', '10m', '2h' or '3 days'`;
  const trimmed = text.length <= DURATION_CHARACTERS ? text.trim() : '';
  if (!/[a-z]$/i.test(trimmed)) return { problem: `got ${describe(text)}, ${expected}` };
  const parsed = ms(trimmed as ms.StringValue);
  if (parsed === undefined || Number.isNaN(parsed)) {
    const isNumbered = /^-?[\d.]+ *[a-z]+$/i.test(trimmed);
    return { problem: `got ${describe(text)}, ${expected}${isNumbered ? `; the units are ${UNITS}` : ''}` };
  }
  return parsed;
}

const SPANS: [unit: string, lengthMs: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
];

/** A length of time for people, in its two largest units, such as `1 min 30 s`. */
export function span(lengthMs: number): string {
  let left = Math.round(lengthMs);
  const parts: string[] = [];
  for (const [unit, size] of SPANS) {
    if (left < size || parts.length === 2) continue;
    parts.push(`${Math.floor(left / size)} ${unit}`);
    left %= size;
  }
  return parts.join(' ') || '0 ms';
}
