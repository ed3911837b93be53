import { describe } from '../read/describe.js';
import { type Duration, parseDuration } from '../read/duration.js';
import { type Check, duration, isRecord, oneOf, options } from '../read/shape.js';
import type { ScheduledJob } from './scheduled-job.js';

/** How long a failed job waits before its next attempt. */
export interface BackoffOptions {
  /** `fixed`: `delayMs` each time; `exponential`: doubled with every failed attempt, from `delayMs`. */
  type: 'fixed' | 'exponential';
  /** The wait after each failed attempt (`fixed`), or after the first one (`exponential`). 0: no wait. */
  delayMs: Duration;
  /** No wait is longer than this. Default and maximum: a century. */
  maxDelayMs?: Duration;
  /**
   * 0 to 1: the random part of the wait, so that jobs that failed together are not retried together. It only shortens a wait: 0.5
   * shortens it by up to half. Default 0.
   */
  jitter?: number;
}

/**
 * Decides how long a job waits after attempt `attempt` (from 1) has failed with `error`. It is called where the handler runs. If it
 * throws or returns something else than a duration, the log says so and the default backoff is used.
 */
// biome-ignore lint/suspicious/noExplicitAny: it may look into any payload
export type BackoffFunction = (attempt: number, error: unknown, job: ScheduledJob<any>) => Duration;

/** A backoff whose durations have been read. */
export interface Backoff {
  /** As in `BackoffOptions`, like all that follow. */
  type: 'fixed' | 'exponential';
  /** In ms. */
  delayMs: number;
  /** In ms; missing for a century. */
  maxDelayMs?: number;
  /** Missing for 0. */
  jitter?: number;
}

/** A century: beyond it doubling would leave the range of dates. */
const LONGEST_DELAY_MS = 100 * 365 * 24 * 3_600_000;

/** The wait in ms after attempt `attempt` (from 1) has failed. `random` is 0 to 1. */
export function backoffDelayMs(backoff: Backoff, attempt: number, random: () => number = Math.random): number {
  const factor = backoff.type === 'exponential' ? 2 ** Math.min(attempt - 1, 60) : 1;
  const delayMs = Math.min(backoff.delayMs * factor, backoff.maxDelayMs ?? LONGEST_DELAY_MS, LONGEST_DELAY_MS);
  return Math.round(delayMs * (1 - (backoff.jitter ?? 0) * random()));
}

/** The answer of a backoff function in ms, or a sentence that says why the answer cannot be used. Never throws. */
export function askBackoff(
  ask: BackoffFunction,
  attempt: number,
  error: unknown,
  job: ScheduledJob,
): number | { problem: string } {
  let answer: unknown;
  try {
    answer = ask(attempt, error, job);
  } catch (thrown) {
    return { problem: `it threw ${describe(thrown)}` };
  }
  const delayMs = parseDuration(answer);
  return typeof delayMs === 'number' ? Math.min(delayMs, LONGEST_DELAY_MS) : delayMs;
}

const fraction: Check<number> = (value) =>
  typeof value === 'number' && value >= 0 && value <= 1
    ? { value }
    : { problem: `got ${describe(value)}, expected a number from 0 to 1` };

const backoffOptions = options<Backoff>({
  type: oneOf('fixed', 'exponential'),
  delayMs: duration(),
  maxDelayMs: duration(),
  jitter: fraction,
});

export const backoffCheck: Check<Backoff> = (value) => {
  if (typeof value === 'function') {
    return {
      problem: `got ${describe(value)}, expected { type, delayMs }: a function can only be given to a definition, a handler or the module's jobs`,
    };
  }
  const read = backoffOptions(value);
  if ('problem' in read) return read;
  if (!read.value.type || read.value.delayMs === undefined) {
    return {
      problem: `got ${describe(value)} without type or delayMs, expected { type: 'fixed' | 'exponential', delayMs }`,
    };
  }
  return { value: read.value as Backoff };
};

/** For definitions and handlers, which run where a function can be asked. */
export const backoffOrFunctionCheck: Check<Backoff | BackoffFunction> = (value) => {
  if (typeof value === 'function') return { value: value as BackoffFunction };
  const read = backoffCheck(value);
  return 'problem' in read && !isRecord(value)
    ? { problem: `got ${describe(value)}, expected { type, delayMs } or a function (attempt, error, job) => duration` }
    : read;
};
