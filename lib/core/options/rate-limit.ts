import type { Duration } from '../read/duration.js';
import { type Check, duration, integer, options } from '../read/shape.js';

/** At most `max` jobs start within any `perMs`. */
export interface RateLimit {
  /** How many jobs may start. At least 1. */
  max: number;
  /** Within how long. At least 1, at most a day. */
  perMs: Duration;
}

/** A `RateLimit` that has been read. */
export interface RateRule {
  /** How many jobs may start. */
  max: number;
  /** Within how long, in ms. */
  perMs: number;
}

/** A rate's window is taken this much longer than said, as the way from a claim to its handler is not always equally long. */
const LONGER_BY = 0.02;
const LONGER_AT_MOST_MS = 50;

/** How long a start counts. */
export function rateWindowMs({ perMs }: RateRule): number {
  return perMs + Math.min(LONGER_AT_MOST_MS, Math.ceil(perMs * LONGER_BY));
}

/** Redis keeps a number for each millisecond in which jobs began within the window. */
const MAX_RATE_WINDOW_MS = 24 * 3_600_000;

const RATE_LIMIT = '{ max, perMs }';

/** A rate of at most `most` starts. */
export function rateLimitUpTo(most?: number): Check<RateRule> {
  const rate = options<RateRule>({ max: integer(1, most), perMs: duration(1, MAX_RATE_WINDOW_MS) }, RATE_LIMIT);
  return (value) => {
    const read = rate(value);
    if ('problem' in read) return read;
    const { max, perMs } = read.value;
    if (max === undefined || perMs === undefined)
      return { problem: `got no ${max === undefined ? 'max' : 'perMs'}, expected ${RATE_LIMIT}` };
    return { value: { max, perMs } };
  };
}

export const rateLimit: Check<RateRule> = rateLimitUpTo();
