import { invalidSchedule } from '../../core/errors.js';
import { DEFAULT_QUEUE } from '../../core/options/queue-options.js';
import { instant } from '../../core/read/due.js';
import { keyPart } from '../../core/read/names.js';
import { integer, readOptions, type Shape } from '../../core/read/shape.js';

const MOST_BUCKETS = 1_000;

/** The options of `forecast`. */
export interface ForecastOptions {
  /** The first instant: a Date, epoch ms, or ISO 8601 with time and `Z` or offset. */
  from: Date | number | string;
  /** The end, which is not included. At least a millisecond a bucket later. */
  to: Date | number | string;
  /** Into how many equal spans the time is divided, 1 to 1 000. Default 1. */
  buckets?: number;
  /** Default `'default'`. */
  queue?: string;
}

/** The jobs that become due in one part of the time that `forecast` looks ahead. */
export interface ForecastBucket {
  /** Where the span begins; it ends before the next one begins. */
  from: Date;
  /** How many waiting jobs are due in it. */
  count: number;
}

const SHAPE: Shape<{ from: number; to: number; buckets: number; queue: string }> = {
  from: instant,
  to: instant,
  buckets: integer(1, MOST_BUCKETS),
  queue: keyPart,
};

/** Reads a call to `forecast`: the bounds of its spans, in whole ms as due times are. Throws `InvalidScheduleError`. */
export function readForecast(given: unknown): { queue: string; boundsMs: number[] } {
  const { from, to, buckets = 1, queue = DEFAULT_QUEUE } = readOptions(given, SHAPE, 'forecast', invalidSchedule);
  if (from === undefined || to === undefined)
    throw invalidSchedule(
      `forecast: ${from === undefined ? 'from' : 'to'}: got undefined, expected an instant: it has no default.`,
    );
  if (to - from < buckets)
    throw invalidSchedule(
      `forecast: to: got ${to - from} ms after from, expected at least a millisecond for each of the ${buckets} buckets.`,
    );
  const boundsMs = Array.from({ length: buckets + 1 }, (_, i) => Math.ceil(from + (i * (to - from)) / buckets));
  return { queue, boundsMs };
}
