import { describe, expect, it } from '@jest/globals';
import { InvalidOptionsError } from '../../../../lib/core/errors.js';
import { DEFAULT_QUEUE, readQueueOptions } from '../../../../lib/core/options/queue-options.js';
import { thrown } from '../../thrown.js';

const refused = (options: unknown) => thrown<InvalidOptionsError>(() => readQueueOptions('mail', options));

describe('a queue', () => {
  it('that nothing is said of has the documented defaults', () => {
    const defaults = {
      concurrency: 10,
      leaseMs: 15_000,
      maxSleepMs: 5_000,
      keepCompleted: { count: 0, ageMs: 0 },
      keepDead: { count: 10_000, ageMs: 0 },
      keepEnded: { count: 0, ageMs: 0 },
      keepIdsMs: 600_000,
      maxCrashes: 3,
      ordering: { mode: 'strict' },
      globalConcurrency: Number.POSITIVE_INFINITY,
      rateLimit: undefined,
      groups: { concurrency: Number.POSITIVE_INFINITY, order: 'due' },
      stealAfterMs: 5_000,
      streamEvents: false,
    };
    expect(readQueueOptions('mail', undefined)).toEqual(defaults);
    expect(readQueueOptions('mail', {})).toEqual(defaults);
    expect(readQueueOptions('mail', { concurrency: undefined })).toEqual(defaults);
  });

  it("is 'default' where none is named", () => {
    expect(DEFAULT_QUEUE).toBe('default');
  });

  it('takes durations as text, and a number of jobs or an age for what it keeps', () => {
    const options = {
      concurrency: 50,
      leaseMs: '30s',
      maxSleepMs: '1s',
      keepCompleted: 100,
      keepDead: { ageMs: '7 days' },
      keepEnded: 100,
      keepIdsMs: 0,
      maxCrashes: 5,
      ordering: { mode: 'aging', msPerLevel: '1m' },
      globalConcurrency: 7,
      rateLimit: { max: 100, perMs: '1s' },
      groups: { concurrency: 2, rateLimit: { max: 10_000, perMs: '1 day' }, order: 'due' },
      stealAfterMs: '2s',
      streamEvents: { maxLength: 1 },
    } as const;
    expect(readQueueOptions('mail', options)).toEqual({
      concurrency: 50,
      leaseMs: 30_000,
      maxSleepMs: 1_000,
      keepCompleted: { count: 100, ageMs: 0 },
      keepDead: { count: Number.MAX_SAFE_INTEGER, ageMs: 604_800_000 },
      keepEnded: { count: 100, ageMs: 0 },
      keepIdsMs: 0,
      maxCrashes: 5,
      ordering: { mode: 'aging', msPerLevel: 60_000 },
      globalConcurrency: 7,
      rateLimit: { max: 100, perMs: 1_000 },
      groups: { concurrency: 2, rateLimit: { max: 10_000, perMs: 86_400_000 }, order: 'due' },
      stealAfterMs: 2_000,
      streamEvents: { maxLength: 1 },
    });
    expect(readQueueOptions('mail', { keepDead: { count: 5 } }).keepDead).toEqual({ count: 5, ageMs: 0 });
    expect(readQueueOptions('mail', { keepDead: { count: 5, ageMs: 1 } }).keepDead).toEqual({ count: 5, ageMs: 1 });
  });

  it("lets one job of each group run at once under 'fifo', and any number where nothing is said", () => {
    const one = { concurrency: 1, order: 'fifo' };
    expect(readQueueOptions('mail', { groups: { order: 'fifo' } }).groups).toEqual(one);
    expect(readQueueOptions('mail', { groups: { order: 'fifo', concurrency: 1 } }).groups).toEqual(one);
    const any = { concurrency: Number.POSITIVE_INFINITY, order: 'due' };
    expect(readQueueOptions('mail', { groups: {} }).groups).toEqual(any);
    expect(readQueueOptions('mail', { groups: { concurrency: undefined, order: undefined } }).groups).toEqual(any);
  });

  it('does not change for others when what was read for one is changed', () => {
    readQueueOptions('mail', {}).concurrency = 1;
    expect(readQueueOptions('mail', {}).concurrency).toBe(10);
  });
});

describe('options of a queue are refused', () => {
  it.each([
    [{ concurrency: 0 }, 'concurrency: got 0, expected a whole number from 1 to 1000.'],
    [{ concurrency: 1_001 }, 'concurrency: got 1001, expected a whole number from 1 to 1000.'],
    [{ concurrency: '10' }, 'concurrency: got "10", expected a whole number from 1 to 1000.'],
    [{ leaseMs: 999 }, 'leaseMs: got 999, expected at least 1000 ms.'],
    [{ leaseMs: Number.POSITIVE_INFINITY }, 'leaseMs: got Infinity, expected a finite number of milliseconds.'],
    [{ maxSleepMs: 9 }, 'maxSleepMs: got 9, expected at least 10 ms.'],
    [
      { maxSleepMs: '1' },
      `maxSleepMs: got "1", expected a number with a unit, such as '500ms', '10m', '2h' or '3 days'.`,
    ],
    [{ keepCompleted: -1 }, 'keepCompleted: got -1, expected a whole number of at least 0.'],
    [{ keepCompleted: Number.NaN }, 'keepCompleted: got NaN, expected a whole number of at least 0.'],
    [{ keepCompleted: true }, 'keepCompleted: got true, expected a number of jobs or { count, ageMs }.'],
    [{ keepDead: null }, 'keepDead: got null, expected a number of jobs or { count, ageMs }.'],
    [{ keepDead: { count: 1.5 } }, 'keepDead: count: got 1.5, expected a whole number of at least 0.'],
    [{ keepDead: { ageMs: 0 } }, 'keepDead: ageMs: got 0, expected at least 1 ms.'],
    [{ keepDead: { age: 5 } }, `keepDead: unknown option "age", did you mean 'ageMs'?`],
    [{ keepDead: [5] }, 'keepDead: got an array of 1, expected an object of options (count, ageMs).'],
    [{ ordering: 'aging' }, `ordering: got "aging", expected { mode: 'strict' } or { mode: 'aging', msPerLevel }.`],
    [{ ordering: {} }, `ordering: got no mode, expected { mode: 'strict' } or { mode: 'aging', msPerLevel }.`],
    [{ ordering: { mode: 'fair' } }, `ordering: mode: got "fair", expected 'strict' or 'aging'.`],
    [
      { ordering: { mode: 'aging' } },
      `ordering: got mode 'aging' without msPerLevel, expected { mode: 'strict' } or { mode: 'aging', msPerLevel }.`,
    ],
    [
      { ordering: { mode: 'strict', msPerLevel: 5 } },
      `ordering: got mode 'strict' with msPerLevel, expected { mode: 'strict' } or { mode: 'aging', msPerLevel }.`,
    ],
    [{ ordering: { mode: 'aging', msPerLevel: 0 } }, 'ordering: msPerLevel: got 0, expected at least 1 ms.'],
    [{ globalConcurrency: 0 }, 'globalConcurrency: got 0, expected a whole number of at least 1.'],
    [{ rateLimit: 100 }, 'rateLimit: got 100, expected { max, perMs }.'],
    [{ rateLimit: { max: 100 } }, 'rateLimit: got no perMs, expected { max, perMs }.'],
    [{ rateLimit: { max: 0, perMs: 5 } }, 'rateLimit: max: got 0, expected a whole number of at least 1.'],
    [{ rateLimit: { max: 1, perMs: '2 days' } }, 'rateLimit: perMs: got "2 days", expected at most 86400000 ms.'],
    [{ groups: 2 }, 'groups: got 2, expected an object of options (concurrency, rateLimit, order).'],
    [{ groups: { concurrency: 0 } }, 'groups: concurrency: got 0, expected a whole number of at least 1.'],
    [
      { groups: { concurrency: Number.POSITIVE_INFINITY } },
      'groups: concurrency: got Infinity, expected a whole number of at least 1.',
    ],
    [{ groups: { rateLimit: { max: 5 } } }, 'groups: rateLimit: got no perMs, expected { max, perMs }.'],
    [
      { groups: { rateLimit: { max: 10_001, perMs: 1 } } },
      'groups: rateLimit: max: got 10001, expected a whole number from 1 to 10000.',
    ],
    [
      { groups: { rateLimit: { max: 1, perMs: '2 days' } } },
      'groups: rateLimit: perMs: got "2 days", expected at most 86400000 ms.',
    ],
    [{ groups: { order: 'lifo' } }, `groups: order: got "lifo", expected 'due' or 'fifo'.`],
    [
      { groups: { weight: 2 } },
      'groups: unknown option "weight": it belongs to the handler, @OnScheduledJob(job, { weight }), or, that of a group, to inspector.setGroup.',
    ],
    [
      { groups: { order: 'fifo', concurrency: 2 } },
      `groups: got order 'fifo' with concurrency 2, expected concurrency 1, or none, which means 1.`,
    ],
    [{ stealAfterMs: -1 }, 'stealAfterMs: got -1, expected 0 or more milliseconds.'],
    [{ streamEvents: true }, 'streamEvents: got true, expected false or { maxLength }.'],
    [{ streamEvents: 1_000 }, 'streamEvents: got 1000, expected false or { maxLength }.'],
    [{ streamEvents: {} }, 'streamEvents: got no maxLength, expected false or { maxLength }.'],
    [{ streamEvents: { maxLength: 0 } }, 'streamEvents: maxLength: got 0, expected a whole number of at least 1.'],
    [{ streamEvents: { maxLength: 1.5 } }, 'streamEvents: maxLength: got 1.5, expected a whole number of at least 1.'],
    [{ streamEvents: { maxlength: 5 } }, `streamEvents: unknown option "maxlength", did you mean 'maxLength'?`],
    [{ keepIdsMs: -1 }, 'keepIdsMs: got -1, expected 0 or more milliseconds.'],
    [{ concurency: 5 }, `unknown option "concurency", did you mean 'concurrency'?`],
    [{ lease: 5_000 }, `unknown option "lease", did you mean 'leaseMs'?`],
    [null, 'got null, expected an object of options.'],
    [10, 'got 10, expected an object of options.'],
  ])('%p', (options, problem) => {
    const error = refused(options);
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toBe(`queues['mail']: ${problem}`);
    expect(error).toMatchObject({ code: 'INVALID_OPTIONS', queue: 'mail' });
  });
});
