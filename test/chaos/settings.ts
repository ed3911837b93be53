// What worker processes, producers, nemesis and checker must agree on.

/** Short, so that a run of seconds holds many leases. */
export const LEASE_MS = 1_500;
export const COMMAND_TIMEOUT_MS = 2_000;
/** Shorter than slow jobs take, so that an orderly stop has jobs to put back. */
export const SHUTDOWN_TIMEOUT_MS = 1_000;
export const BACKOFF_MS = 150;
export const SNOOZE_MS = 200;
export const CONCURRENCY = 16;
/** Of jobs of the kind `timed`. */
export const TIMEOUT_MS = 250;
/** Of jobs of the kind `perishable`: less than a worker's death costs. */
export const MAX_LATENESS_MS = 700;
/** Of jobs of the kind `debounced`: shorter than a lease, so that a row ends before one that nobody has seen. */
export const MAX_WAIT_MS = 700;
/** Of jobs of the kind `throttled`. */
export const THROTTLE_MS = 500;

/** After so many lost leases a job is dead as crashed, be attempts left or not. */
export const MAX_CRASHES = 3;

export const PREFIX = 'chaos';
/**
 * Completed jobs leave nothing in the one, and are kept with their results in the other: two ways through the scripts. So are a limit of
 * each group, and one job of a group after the other.
 */
export const QUEUES = {
  default: { keepCompleted: 0, groups: { concurrency: 2 } },
  kept: { keepCompleted: 1_000_000, groups: { order: 'fifo' } },
} as const;
/** How many jobs of a group may run at once. */
export const OF_A_GROUP = { default: 2, kept: 1 } as const;
/** Few, so that each has jobs that wait for others of it; one that keys hold in another form than it is written. */
export const GROUPS = ['tenant', 'order:1', 'order:2'] as const;
export type QueueName = keyof typeof QUEUES;
export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];

/** Of every process alike. Ids are remembered for longer than any run takes, so that a chosen id that ended by
 * itself is not scheduled a second time. */
export const QUEUE_OPTIONS = {
  concurrency: CONCURRENCY,
  leaseMs: LEASE_MS,
  keepDead: 1_000_000,
  keepIdsMs: 86_400_000,
  maxCrashes: MAX_CRASHES,
};

export const PRODUCERS = ['p1', 'p2'] as const;
export const WORKERS = ['w1', 'w2', 'w3'] as const;
/** The only one that handles jobs of the kind `solo`. */
export const SOLOIST = 'w3';
