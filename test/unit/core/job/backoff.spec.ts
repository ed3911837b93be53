import { describe, expect, it } from '@jest/globals';
import {
  askBackoff,
  type Backoff,
  backoffCheck,
  backoffDelayMs,
  backoffOrFunctionCheck,
} from '../../../../lib/core/job/backoff.js';
import type { ScheduledJob } from '../../../../lib/core/job/scheduled-job.js';
import { DEFAULT_BACKOFF, DEFAULT_MAX_ATTEMPTS } from '../../../../lib/core/options/defaults.js';

const CENTURY_MS = 100 * 365 * 24 * 3_600_000;
const never = () => 0;
const always = () => 1;
const problemOf = (value: unknown) => (backoffCheck(value) as { problem: string }).problem;

function waits(backoff: Backoff, attempts: number, random = never): number[] {
  return Array.from({ length: attempts }, (_, i) => backoffDelayMs(backoff, i + 1, random));
}

describe('a failed job', () => {
  it('waits the same time after each attempt where the backoff is fixed', () => {
    expect(waits({ type: 'fixed', delayMs: 5_000 }, 4)).toEqual([5_000, 5_000, 5_000, 5_000]);
  });

  it('waits twice as long after each further attempt where the backoff is exponential', () => {
    expect(waits({ type: 'exponential', delayMs: 1_000 }, 5)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
  });

  it('waits 60, 120, 240, 480 and 960 s unless something else is said', () => {
    expect(waits(DEFAULT_BACKOFF, DEFAULT_MAX_ATTEMPTS - 1)).toEqual([60_000, 120_000, 240_000, 480_000, 960_000]);
  });

  it('never waits longer than maxDelayMs', () => {
    expect(waits({ type: 'exponential', delayMs: 1_000, maxDelayMs: 3_000 }, 4)).toEqual([1_000, 2_000, 3_000, 3_000]);
    expect(waits({ type: 'fixed', delayMs: 5_000, maxDelayMs: 3_000 }, 1)).toEqual([3_000]);
    expect(waits({ type: 'exponential', delayMs: 1_000, maxDelayMs: 0 }, 1)).toEqual([0]);
  });

  it.each([1_000, 2 ** 31, Number.MAX_SAFE_INTEGER])('waits no longer than a century after attempt %d', (attempt) => {
    expect(backoffDelayMs({ type: 'exponential', delayMs: 60_000 }, attempt, never)).toBe(CENTURY_MS);
    expect(backoffDelayMs({ type: 'exponential', delayMs: 8.64e15 }, attempt, never)).toBe(CENTURY_MS);
    expect(backoffDelayMs({ type: 'exponential', delayMs: 60_000, maxDelayMs: 8.64e15 }, attempt, never)).toBe(
      CENTURY_MS,
    );
  });

  it('waits not at all where the delay is 0, however often it failed', () => {
    expect(waits({ type: 'exponential', delayMs: 0 }, 3)).toEqual([0, 0, 0]);
    expect(backoffDelayMs({ type: 'exponential', delayMs: 0 }, 1_000)).toBe(0);
  });

  it('waits between the delay and the delay less its jitter', () => {
    const backoff: Backoff = { type: 'exponential', delayMs: 1_000, jitter: 0.25 };
    expect(waits(backoff, 3, never)).toEqual([1_000, 2_000, 4_000]);
    expect(waits(backoff, 3, always)).toEqual([750, 1_500, 3_000]);
    expect(waits({ ...backoff, jitter: 1 }, 2, always)).toEqual([0, 0]);
    const drawn = Array.from({ length: 200 }, () => backoffDelayMs(backoff, 1));
    expect(drawn.filter((wait) => wait < 750 || wait > 1_000)).toEqual([]);
    expect(new Set(drawn).size).toBeGreaterThan(10);
  });

  it('waits the whole delay where no jitter is asked for', () => {
    expect(waits({ type: 'exponential', delayMs: 1_000 }, 2, always)).toEqual([1_000, 2_000]);
  });

  it('waits whole milliseconds', () => {
    expect(backoffDelayMs({ type: 'fixed', delayMs: 10, jitter: 0.33 }, 1, () => 0.5)).toBe(8);
  });
});

describe('a backoff', () => {
  it('takes durations as text', () => {
    expect(backoffCheck({ type: 'exponential', delayMs: '1s', maxDelayMs: '1h', jitter: 0.5 })).toEqual({
      value: { type: 'exponential', delayMs: 1_000, maxDelayMs: 3_600_000, jitter: 0.5 },
    });
  });

  it('may leave nothing or all of the wait to chance', () => {
    for (const jitter of [0, 1]) {
      const backoff = { type: 'fixed', delayMs: 5, jitter };
      expect(backoffCheck(backoff)).toEqual({ value: backoff });
    }
  });

  it.each([
    [{ type: 'linear', delayMs: 1 }, `type: got "linear", expected 'fixed' or 'exponential'`],
    [{ type: 'fixed', delayMs: -1 }, 'delayMs: got -1, expected 0 or more milliseconds'],
    [{ type: 'fixed', delayMs: Number.NaN }, 'delayMs: got NaN, expected a finite number of milliseconds'],
    [
      { type: 'fixed', delayMs: 1, maxDelayMs: '10' },
      `maxDelayMs: got "10", expected a number with a unit, such as '500ms', '10m', '2h' or '3 days'`,
    ],
    [{ type: 'fixed', delayMs: 1, jitter: 1.1 }, 'jitter: got 1.1, expected a number from 0 to 1'],
    [{ type: 'fixed', delayMs: 1, jitter: -0.1 }, 'jitter: got -0.1, expected a number from 0 to 1'],
    [{ type: 'fixed', delayMs: 1, jitter: Number.NaN }, 'jitter: got NaN, expected a number from 0 to 1'],
    [{ type: 'fixed', delayMs: 1, jitter: '0.5' }, 'jitter: got "0.5", expected a number from 0 to 1'],
    [{ type: 'fixed', delay: 1 }, `unknown option "delay", did you mean 'delayMs'?`],
    [{ type: 'fixed' }, `got an object without type or delayMs, expected { type: 'fixed' | 'exponential', delayMs }`],
    [{ delayMs: 1 }, `got an object without type or delayMs, expected { type: 'fixed' | 'exponential', delayMs }`],
    [5_000, 'got 5000, expected an object of options (type, delayMs, maxDelayMs, jitter)'],
    ['1s', 'got "1s", expected an object of options (type, delayMs, maxDelayMs, jitter)'],
    [null, 'got null, expected an object of options (type, delayMs, maxDelayMs, jitter)'],
    [[], 'got an array of 0, expected an object of options (type, delayMs, maxDelayMs, jitter)'],
  ])('of %p is refused, and says what is wrong', (value, problem) => {
    expect(problemOf(value)).toBe(problem);
  });
});

describe('a backoff function', () => {
  const job = {} as ScheduledJob;

  it('is asked with the attempt that failed, its error and the job, and may answer with any duration', () => {
    const asked: unknown[] = [];
    const error = new Error('no');
    const answer = askBackoff(
      (...args) => {
        asked.push(args);
        return '2m';
      },
      3,
      error,
      job,
    );
    expect(answer).toBe(120_000);
    expect(asked).toEqual([[3, error, job]]);
  });

  it.each([
    [undefined, 'got undefined'],
    [-1, 'got -1'],
    [Number.NaN, 'got NaN'],
    ['10', 'got "10"'],
    [Promise.resolve(10), 'got '],
  ])('that answers %p gives no wait, and says why', (answer, problem) => {
    expect(askBackoff(() => answer as never, 1, undefined, job)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it('that throws gives no wait, and says why', () => {
    const ask = () => {
      throw new Error('broken');
    };
    expect(askBackoff(ask, 1, undefined, job)).toEqual({ problem: expect.stringContaining('it threw') });
  });

  it('waits a century at the most', () => {
    expect(askBackoff(() => 8e15, 1, undefined, job)).toBe(100 * 365 * 24 * 3_600_000);
  });

  it('is accepted where the handler runs, and nothing else but options is', () => {
    const ask = () => 5;
    expect(backoffOrFunctionCheck(ask)).toEqual({ value: ask });
    expect(backoffOrFunctionCheck('1m')).toEqual({
      problem: 'got "1m", expected { type, delayMs } or a function (attempt, error, job) => duration',
    });
    expect(backoffOrFunctionCheck({ type: 'fixed' })).toEqual({ problem: expect.stringContaining('delayMs') });
  });
});
