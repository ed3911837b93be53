import { type Backoff, type BackoffFunction, type BackoffOptions, backoffOrFunctionCheck } from './backoff.js';
import { DEFAULT_BACKOFF, DEFAULT_MAX_ATTEMPTS, DEFAULT_TIMEOUT_MS } from './defaults.js';
import type { Duration } from './duration.js';
import { duration, integer, type Shape } from './shape.js';

/** What a handler, and the module's `jobs`, may say of how its jobs run. */
export interface RunOptions {
  /** How often a job may run, the first time included: 1 to 1 000. Default 6. */
  maxAttempts?: number;
  /** How long a failed job waits, or a function that says it. Default exponential from 60 s. */
  backoff?: BackoffOptions | BackoffFunction;
  /** How long one run may take before its signal aborts and the attempt fails. 0 for none. Default 1 800 000, half an hour. */
  timeoutMs?: Duration;
}

/** Run options that have been read. */
export interface RunSettings {
  maxAttempts: number;
  backoff: Backoff | BackoffFunction;
  /** 0 for none. */
  timeoutMs: number;
}

export const RUN_OPTIONS_SHAPE: Shape<RunSettings> = {
  maxAttempts: integer(1, 1_000),
  backoff: backoffOrFunctionCheck,
  timeoutMs: duration(),
};

/** The settings of a handler: what each says wins over those after it, and what none says has its default. */
export function resolveRunSettings(...said: (Partial<RunSettings> | undefined)[]): RunSettings {
  const first = <K extends keyof RunSettings>(name: K) => said.find((one) => one?.[name] !== undefined)?.[name];
  return {
    maxAttempts: first('maxAttempts') ?? DEFAULT_MAX_ATTEMPTS,
    backoff: first('backoff') ?? DEFAULT_BACKOFF,
    timeoutMs: first('timeoutMs') ?? DEFAULT_TIMEOUT_MS,
  };
}
