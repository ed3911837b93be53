import { describe, expect, it } from '@jest/globals';
import { InvalidScheduleError } from '../../../../lib/core/errors.js';
import { readGroupSettings } from '../../../../lib/core/options/group-options.js';
import { thrown } from '../../thrown.js';

const read = (settings: unknown) => readGroupSettings(settings, 'setGroup');

describe('settings of a group', () => {
  it.each([
    [{}, {}],
    [{ weight: undefined }, {}],
    [{ weight: 0.01 }, { weight: 0.01 }],
    [
      { weight: 1_000, concurrency: 1 },
      { weight: 1_000, concurrency: 1 },
    ],
    [
      { concurrency: 'unlimited', rateLimit: 'unlimited' },
      { concurrency: 'unlimited', rateLimit: 'unlimited' },
    ],
    [{ rateLimit: { max: 10_000, perMs: '1 day' } }, { rateLimit: { max: 10_000, perMs: 86_400_000 } }],
  ])('may be %j', (given, expected) => {
    expect(read(given)).toEqual(expected);
  });

  it.each<[unknown, string]>([
    [undefined, 'got undefined, expected an object of options (weight, concurrency, rateLimit).'],
    [null, 'got null, expected an object of options (weight, concurrency, rateLimit).'],
    [{ weight: 0.009 }, 'weight: got 0.009, expected a number from 0.01 to 1000.'],
    [{ weight: 1_001 }, 'weight: got 1001, expected a number from 0.01 to 1000.'],
    [{ weight: Number.NaN }, 'weight: got NaN, expected a number from 0.01 to 1000.'],
    [{ weight: '2' }, 'weight: got "2", expected a number from 0.01 to 1000.'],
    [{ concurrency: 0 }, `concurrency: got 0, expected a whole number of at least 1, or 'unlimited'.`],
    [{ concurrency: 1.5 }, `concurrency: got 1.5, expected a whole number of at least 1, or 'unlimited'.`],
    [
      { concurrency: Number.POSITIVE_INFINITY },
      `concurrency: got Infinity, expected a whole number of at least 1, or 'unlimited'.`,
    ],
    [{ concurrency: 'none' }, `concurrency: got "none", expected a whole number of at least 1, or 'unlimited'.`],
    [{ rateLimit: 5 }, `rateLimit: got 5, expected { max, perMs }, or 'unlimited'.`],
    [{ rateLimit: { max: 5 } }, `rateLimit: got no perMs, expected { max, perMs }, or 'unlimited'.`],
    [
      { rateLimit: { max: 10_001, perMs: 1 } },
      `rateLimit: max: got 10001, expected a whole number from 1 to 10000, or 'unlimited'.`,
    ],
    [{ order: 'fifo' }, 'unknown option "order", known are weight, concurrency, rateLimit.'],
    [{ wieght: 2 }, `unknown option "wieght", did you mean 'weight'?`],
  ])('are not %p', (given, message) => {
    const error = thrown(() => read(given));
    expect(error).toBeInstanceOf(InvalidScheduleError);
    expect(error.message).toBe(`setGroup: ${message}`);
  });
});
