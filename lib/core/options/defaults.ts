import type { Backoff } from '../job/backoff.js';
import { JobPriority } from '../job/priority.js';

/** What holds where neither the call, the module, the handler nor the definition says otherwise. */
export const DEFAULT_PRIORITY: number = JobPriority.MEDIUM;
export const DEFAULT_MAX_ATTEMPTS = 6;
export const DEFAULT_TIMEOUT_MS = 1_800_000;
export const DEFAULT_BACKOFF: Backoff = { type: 'exponential', delayMs: 60_000 };
