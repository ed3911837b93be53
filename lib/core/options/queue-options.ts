import { InvalidOptionsError } from '../errors.js';
import { describe } from '../read/describe.js';
import type { Duration } from '../read/duration.js';
import { type Check, duration, integer, oneOf, options, readOptions, type Shape } from '../read/shape.js';
import { MOST_JOBS_A_TURN } from './defaults.js';
import { type GroupsOptions, type GroupsRule, groups, NO_GROUPS_RULE } from './group-options.js';
import { type RateLimit, type RateRule, rateLimit } from './rate-limit.js';

/** How many ended jobs are kept: a number, or a number and an age. With an age alone, any number is kept for that time. 0 keeps none. */
export type Keep = number | { count?: number; ageMs?: Duration };

/** A `Keep` that has been read; `ageMs` 0 means any age. */
export interface KeepRule {
  count: number;
  ageMs: number;
}

/**
 * Which due job comes first. `strict`: the one with the lower priority number, however long the others have waited. `aging`: a
 * waiting job becomes more urgent by one level every `msPerLevel`. Then the job with the smallest due time + priority × `msPerLevel`
 * comes first, so a job can be overtaken only by jobs that become due within (priority − 1) × `msPerLevel` after it.
 */
export type Ordering = { mode: 'strict' } | { mode: 'aging'; msPerLevel: Duration };

/** An `Ordering` that has been read. */
export type OrderingRule = { mode: 'strict' } | { mode: 'aging'; msPerLevel: number };

/** How many events `ScheduledQueueEvents.stream` can go back. */
export interface StreamEvents {
  /**
   * How many of the latest events are kept: never fewer, and at most 1 000 more. One of a job that runs takes about 60 bytes in Redis,
   * and one with an error up to 1 KiB. At least 1.
   */
  maxLength: number;
}

/** The options of a queue. Give all processes that use it the same ones; only `concurrency` may differ. */
export interface QueueOptions {
  /** How many jobs may run at once in this process; a handler with a `weight` counts that much. At most 1 000. Default 10. */
  concurrency?: number;
  /**
   * How many jobs may run at once in all processes together, popped ones included. The places of a crashed process are freed when its
   * leases run out. If only an idle worker can run the next job, a free place is kept for that worker for at most 250 ms. Give all
   * processes the same. At least 1. Default: no limit.
   */
  globalConcurrency?: number;
  /**
   * How many jobs may start within how long, in all processes together, by the clock of Redis. Jobs beyond it wait; none is dropped.
   * Retries and popped jobs count, and so does a job that goes back at a shutdown. The window is 2 % longer than `perMs` (by at most
   * 50 ms), because the time between claim and start varies. Redis keeps 100 bytes for each millisecond of the window in which a job
   * started: at most 100 bytes times the smaller of `max` and `perMs`, which is up to a gigabyte for millions a day. Give all
   * processes the same. Default: no limit.
   */
  rateLimit?: RateLimit;
  /** What holds for each group of jobs (`schedule(…, { group })`). Give all processes the same. Default: no limits, in the order of due times. */
  groups?: GroupsOptions;
  /**
   * How long a due job waits for the worker that it prefers (`schedule(…, { worker })`), before any other worker may take it. 0: not at
   * all; the preferred worker only takes it first. Default 5 000.
   */
  stealAfterMs?: Duration;
  /**
   * How long a worker holds a job without renewing its lease. It renews every third of this time, so a lease may be shorter than a job.
   * The jobs of a dead worker wait for the rest of their lease and at most a second. If no other worker runs, they wait for up to a
   * lease after the first worker is back. At least 1 000. Default 15 000.
   */
  leaseMs?: Duration;
  /**
   * How long a worker sleeps at most before it looks for jobs again; never more than a third of a lease. Each worker has a pace of its own,
   * up to a fifth shorter. At least 10. Default 5 000.
   */
  maxSleepMs?: Duration;
  /**
   * Which due job comes first. Each process orders its own claims, so give all of them the same. `msPerLevel` is at least 1. Default
   * `{ mode: 'strict' }`.
   */
  ordering?: Ordering;
  /**
   * Completed jobs to keep, with what their handlers returned. A result that JSON cannot hold, or of more than `maxPayloadBytes`, is not
   * kept; the job completes all the same, and the log says so. Default 0.
   */
  keepCompleted?: Keep;
  /** How many dead jobs are kept; a job that is dropped to make room counts as `deadDropped`. Default 10 000. */
  keepDead?: Keep;
  /**
   * How many jobs that were discarded or cancelled are kept, without payload and result, so that `inspector.job` and `explain` say what has
   * become of them. Counts and lists leave them out, and a new job of the id takes their place. 0: none. Give all processes the same,
   * those that only call `cancel` as well. Default 0.
   */
  keepEnded?: Keep;
  /**
   * How long an id that you chose stays taken after its job has completed or was discarded, or after `keepDead` has dropped the job.
   * Until then `schedule` creates no job under it and answers `'ended'`. 0: not at all. Cancelling, removing, clearing and purging
   * free an id at once. Default 600 000.
   */
  keepIdsMs?: Duration;
  /**
   * How many times the lease of a job may run out, because its process died or froze. Then the job is dead, with the reason
   * `crashed`, so a job that kills its process cannot kill all workers. Before its last chance a job runs alone: nothing else of this
   * module instance runs in its process, so that other jobs do not die with it. With 1, a job is dead after its first crash, and no
   * job runs alone. At least 1. Default 3.
   */
  maxCrashes?: number;
  /**
   * Whether this process adds its events to a stream in Redis, which `ScheduledQueueEvents.stream` reads in any process. Give all
   * processes the same, as the events of the others are missing there. `false` costs nothing. Default `false`.
   */
  streamEvents?: false | StreamEvents;
}

/** Queue options that have been read, with every default in its place. */
export interface QueueSettings {
  concurrency: number;
  /** Infinite for any number. */
  globalConcurrency: number;
  rateLimit?: RateRule;
  groups: GroupsRule;
  stealAfterMs: number;
  leaseMs: number;
  maxSleepMs: number;
  ordering: OrderingRule;
  keepCompleted: KeepRule;
  keepDead: KeepRule;
  keepEnded: KeepRule;
  keepIdsMs: number;
  maxCrashes: number;
  streamEvents: false | StreamEvents;
}

export const DEFAULT_QUEUE = 'default';

/** The count that is kept if only an age is given. */
export const ANY_COUNT = Number.MAX_SAFE_INTEGER;

const DEFAULTS: QueueSettings = {
  concurrency: 10,
  globalConcurrency: Number.POSITIVE_INFINITY,
  rateLimit: undefined,
  groups: NO_GROUPS_RULE,
  stealAfterMs: 5_000,
  leaseMs: 15_000,
  maxSleepMs: 5_000,
  ordering: { mode: 'strict' },
  keepCompleted: { count: 0, ageMs: 0 },
  keepDead: { count: 10_000, ageMs: 0 },
  keepEnded: { count: 0, ageMs: 0 },
  keepIdsMs: 600_000,
  maxCrashes: 3,
  streamEvents: false,
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

const STREAM_EVENTS = 'false or { maxLength }';

const streamEventsOptions = options<StreamEvents>({ maxLength: integer(1) }, STREAM_EVENTS);

const streamEvents: Check<false | StreamEvents> = (value) => {
  if (value === false) return { value };
  const read = streamEventsOptions(value);
  if ('problem' in read) return read;
  const { maxLength } = read.value;
  return maxLength === undefined
    ? { problem: `got no maxLength, expected ${STREAM_EVENTS}` }
    : { value: { maxLength } };
};

const SHAPE: Shape<QueueSettings> = {
  concurrency: integer(1, MOST_JOBS_A_TURN),
  globalConcurrency: integer(1),
  rateLimit,
  groups,
  stealAfterMs: duration(),
  leaseMs: duration(1_000),
  maxSleepMs: duration(10),
  ordering,
  keepCompleted: keep,
  keepDead: keep,
  keepEnded: keep,
  keepIdsMs: duration(),
  maxCrashes: integer(1),
  streamEvents,
};

export const QUEUE_OPTION_NAMES = Object.keys(SHAPE);

/** Reads the options of one queue and fills in the defaults. Throws `InvalidOptionsError`. */
export function readQueueOptions(queue: string, given: unknown): QueueSettings {
  const read = readOptions(
    given,
    SHAPE,
    `queues['${queue}']`,
    (message) => new InvalidOptionsError(message, { queue }),
  );
  return { ...DEFAULTS, ...read };
}
