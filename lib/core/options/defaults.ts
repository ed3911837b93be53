import type { Backoff } from '../job/backoff.js';

/** Names for common priorities; any integer from 1 to 1 000 will do, lower is more urgent. */
export const JobPriority = { CRITICAL: 1, HIGH: 2, MEDIUM: 5, LOW: 10, BACKGROUND: 100 } as const;

export const MAX_PRIORITY = 1_000;

/** The defaults of a run: used where call, module, handler and definition are all silent. */
export const DEFAULT_PRIORITY: number = JobPriority.MEDIUM;
export const DEFAULT_MAX_ATTEMPTS = 6;
export const DEFAULT_TIMEOUT_MS = 1_800_000;
export const DEFAULT_BACKOFF: Backoff = { type: 'exponential', delayMs: 60_000 };

/** At most so many steps follow a job: in the option `then`, and in a prepared job. */
export const MOST_STEPS = 100;

/** One claim takes at most so many jobs, and one turn settles no more: a larger number could be used nowhere. */
export const MOST_JOBS_A_TURN = 1_000;
