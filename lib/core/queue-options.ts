import { describe } from './describe.js';
import type { Duration } from './duration.js';
import { InvalidOptionsError } from './errors.js';
import { type Check, duration, integer, oneOf, options, readOptions, type Shape } from './shape.js';

/** How many ended jobs are kept: a number of jobs, or a number and an age; an age alone keeps any number. 0 keeps none. */
export type Keep = number | { count?: number; ageMs?: Duration };

/** A `Keep` that has been read; `ageMs` 0 means any age. */
export interface KeepRule {
  count: number;
  ageMs: number;
}

/**
 * Which of two due jobs is claimed first. `strict`: the one of the lower priority number, whatever the other has waited.
 * `aging`: a job that waits grows more urgent by one level every `msPerLevel`, so the one of the lower rank, which is its due
 * time plus its priority times `msPerLevel`; of equal ranks the lower priority number. So nothing that is due more than
 * (priority − 1) × `msPerLevel` after a job is claimed before it.
 */
export type Ordering = { mode: 'strict' } | { mode: 'aging'; msPerLevel: Duration };

/** An `Ordering` that has been read. */
export type OrderingRule = { mode: 'strict' } | { mode: 'aging'; msPerLevel: number };

/** At most `max` jobs begin within any `perMs`. */
export interface RateLimit {
  /** At least 1. */
  max: number;
  /** At least 1, at most a day. */
  perMs: Duration;
}

/** A `RateLimit` that has been read. */
export interface RateRule {
  max: number;
  perMs: number;
}

export interface QueueOptions {
  /** How many jobs may run at once in this process, each with its handler's `weight`. At most 1 000. Default 10. */
  concurrency?: number;
  /**
   * How many jobs may run at once over all processes, popped ones included; a dead process's places come back with its leases.
   * A freed place is offered, for at most 250 ms, to a better job that only an idle worker with room for that job can run.
   * Each process claims by its own, so give all of them the same. At least 1. Default: any number.
   */
  globalConcurrency?: number;
  /**
   * How many jobs may begin within how long, over all processes, counted by Redis' clock as they are claimed: what is too much
   * waits, and nothing is dropped. Retries and popped jobs count, and so does a job that goes back at a shutdown. As the way
   * from a claim to its handler is not always equally long, the window is taken 2 % longer, and 50 ms at the most. Redis keeps
   * 100 bytes for each millisecond of the window in which a job began: at most 100 bytes times the smaller of `max` and `perMs`,
   * which for millions a day is up to a gigabyte. Give all processes the same. Default: none.
   */
  rateLimit?: RateLimit;
  /**
   * How late a job that prefers a worker (`schedule(…, { worker })`) must be before any other may take it while that worker is
   * there. 0: at once, so that the preferred one only comes first. Default 5 000.
   */
  stealAfterMs?: Duration;
  /**
   * How long a claim holds without a renewal; renewed every third of it, so it need not exceed `timeoutMs`. The jobs of a dead
   * worker wait for the rest of it, and a second at the most; where no other worker runs, for up to a lease after the first
   * one is back. At least 1 000. Default 15 000.
   */
  leaseMs?: Duration;
  /** The longest that a worker sleeps without looking, and never more than a third of a lease. At least 10. Default 5 000. */
  maxSleepMs?: Duration;
  /**
   * Which due job is claimed first. Each process orders its own claims, so give all of them the same. `msPerLevel` is at least
   * 1. Default `{ mode: 'strict' }`.
   */
  ordering?: Ordering;
  /**
   * Completed jobs to keep, with what their handlers returned. A result that JSON cannot hold, or of more than `maxPayloadBytes`, is not
   * kept; the job completes all the same, and the log says so. Default 0.
   */
  keepCompleted?: Keep;
  /** Dead jobs to keep; one that is pushed out is counted as `deadDropped`. Default 10 000. */
  keepDead?: Keep;
  /**
   * For how long `schedule` answers `'ended'` for an id that the caller chose, after its job completed, was discarded or was pushed
   * out of the dead. 0: not at all. Cancelling, removing, clearing and purging free an id at once, whatever is said here. Default
   * 600 000.
   */
  keepIdsMs?: Duration;
  /**
   * How often a job's lease may run out, its worker having died or frozen with it, before the job is dead with the reason
   * `crashed`: so a job that kills its process cannot kill a fleet. A job that has crashed and has one crash left runs alone in its
   * process, with nothing else of this module instance, so that jobs which merely ran beside it do not die with it. With 1, the first
   * crash is the last, and no job runs alone. At least 1. Default 3.
   */
  maxCrashes?: number;
}

/** Queue options that have been read, with every default in its place. */
export interface QueueSettings {
  concurrency: number;
  /** Infinite for any number. */
  globalConcurrency: number;
  rateLimit?: RateRule;
  stealAfterMs: number;
  leaseMs: number;
  maxSleepMs: number;
  ordering: OrderingRule;
  keepCompleted: KeepRule;
  keepDead: KeepRule;
  keepIdsMs: number;
  maxCrashes: number;
}

export const DEFAULT_QUEUE = 'default';

/** One claim takes at most this many jobs, so more could not be used at once. */
export const MAX_CONCURRENCY = 1_000;
/** Redis keeps a number for each millisecond in which jobs began within the window. */
const MAX_RATE_WINDOW_MS = 24 * 3_600_000;
/** What is kept where only an age is given. */
export const ANY_COUNT = Number.MAX_SAFE_INTEGER;

const DEFAULTS: QueueSettings = {
  concurrency: 10,
  globalConcurrency: Number.POSITIVE_INFINITY,
  rateLimit: undefined,
  stealAfterMs: 5_000,
  leaseMs: 15_000,
  maxSleepMs: 5_000,
  ordering: { mode: 'strict' },
  keepCompleted: { count: 0, ageMs: 0 },
  keepDead: { count: 10_000, ageMs: 0 },
  keepIdsMs: 600_000,
  maxCrashes: 3,
};

const keepOptions = options<KeepRule>({ count: integer(0), ageMs: duration(1) });

const keep: Check<KeepRule> = (value) => {
  if (typeof value === 'number') {
    const count = integer(0)(value);
    return 'problem' in count ? count : { value: { count: count.value, ageMs: 0 } };
  }
  if (value === null || typeof value !== 'object') {
    return { problem: `got ${describe(value)}, expected a number of jobs or { count, ageMs }` };
  }
  const read = keepOptions(value);
  return 'problem' in read ? read : { value: { count: read.value.count ?? ANY_COUNT, ageMs: read.value.ageMs ?? 0 } };
};

const ORDERING = "{ mode: 'strict' } or { mode: 'aging', msPerLevel }";

const orderingOptions = options<{ mode: 'strict' | 'aging'; msPerLevel: number }>(
  { mode: oneOf('strict', 'aging'), msPerLevel: duration(1) },
  ORDERING,
);

const ordering: Check<OrderingRule> = (value) => {
  const read = orderingOptions(value);
  if ('problem' in read) return read;
  const { mode, msPerLevel } = read.value;
  if (mode === 'aging' && msPerLevel !== undefined) return { value: { mode, msPerLevel } };
  if (mode === 'strict' && msPerLevel === undefined) return { value: { mode } };
  const got = mode ? `mode '${mode}' ${msPerLevel === undefined ? 'without' : 'with'} msPerLevel` : 'no mode';
  return { problem: `got ${got}, expected ${ORDERING}` };
};

const RATE_LIMIT = '{ max, perMs }';

const rateLimitOptions = options<RateRule>({ max: integer(1), perMs: duration(1, MAX_RATE_WINDOW_MS) }, RATE_LIMIT);

const rateLimit: Check<RateRule> = (value) => {
  const read = rateLimitOptions(value);
  if ('problem' in read) return read;
  const { max, perMs } = read.value;
  if (max === undefined || perMs === undefined)
    return { problem: `got no ${max === undefined ? 'max' : 'perMs'}, expected ${RATE_LIMIT}` };
  return { value: { max, perMs } };
};

const SHAPE: Shape<QueueSettings> = {
  concurrency: integer(1, MAX_CONCURRENCY),
  globalConcurrency: integer(1),
  rateLimit,
  stealAfterMs: duration(),
  leaseMs: duration(1_000),
  maxSleepMs: duration(10),
  ordering,
  keepCompleted: keep,
  keepDead: keep,
  keepIdsMs: duration(),
  maxCrashes: integer(1),
};

export const QUEUE_OPTION_NAMES = Object.keys(SHAPE);

/** Reads the options of one queue and fills in the defaults. Throws `InvalidOptionsError`. */
export function readQueueOptions(queue: string, given: unknown): QueueSettings {
  const read = readOptions<QueueSettings>(
    given,
    SHAPE,
    `queues['${queue}']`,
    (message) => new InvalidOptionsError(message, { queue }),
  );
  return { ...DEFAULTS, ...read };
}
