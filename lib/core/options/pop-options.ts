import { LONGEST_TIMEOUT_MS } from '../clock.js';
import { InvalidScheduleError, invalidOptions } from '../errors.js';
import type { Duration } from '../read/duration.js';
import { jobNames, keyPart } from '../read/names.js';
import { duration, integer, readOne, readOptions, type Shape } from '../read/shape.js';
import { MOST_JOBS_A_TURN } from './defaults.js';
import { DEFAULT_QUEUE } from './queue-options.js';

/** The options of `pop`. */
export interface PopOptions {
  /** The queue to take jobs from. Default `'default'`. */
  queue?: string;
  /**
   * Take only jobs of these names, 1 to 1 000. Default: all names, also future ones. While a pop waits for a set of names, every
   * `schedule` takes about 4 µs longer in Redis.
   */
  names?: readonly string[];
  /** How many jobs to take at most, 1 to 1 000. Default 1. */
  count?: number;
  /** How long to wait for a due job, at most 24 days. Default 0: no wait. */
  waitMs?: Duration;
}

/** A call to `pop` that has been read. */
export interface PopRequest {
  queue: string;
  /** Sorted, each once; `undefined` for every name. */
  names?: readonly string[];
  count: number;
  waitMs: number;
}

const SHAPE: Shape<PopRequest> = {
  queue: keyPart,
  names: jobNames,
  count: integer(1, MOST_JOBS_A_TURN),
  waitMs: duration(0, LONGEST_TIMEOUT_MS),
};

/** Reads a call to `pop`. Throws `InvalidOptionsError`. */
export function readPop(options: unknown): PopRequest {
  const read = readOptions(options, SHAPE, 'pop', invalidOptions);
  return { queue: DEFAULT_QUEUE, count: 1, waitMs: 0, ...read };
}

/** Half the range of dates: a longer lease would end beyond it. */
const LONGEST_LEASE_MS = 4.32e15;
const lease = duration(1, LONGEST_LEASE_MS);

/** Reads how long a lease is to hold from now. Throws `InvalidScheduleError`. */
export function readExtension(given: unknown, fields: { queue: string; jobName: string; jobId: string }): number {
  return readOne(lease, given, 'extend', (message) => new InvalidScheduleError(message, fields));
}
