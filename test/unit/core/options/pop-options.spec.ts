import { describe, expect, it } from '@jest/globals';
import { InvalidOptionsError, InvalidScheduleError } from '../../../../lib/core/errors.js';
import { readExtension, readPop } from '../../../../lib/core/options/pop-options.js';
import { thrown } from '../../thrown.js';

describe('a pop', () => {
  it('of which nothing is said takes one job of any name from the default queue, and does not wait', () => {
    const defaults = { queue: 'default', count: 1, waitMs: 0 };
    expect(readPop(undefined)).toEqual(defaults);
    expect(readPop({})).toEqual(defaults);
    expect(readPop({ names: undefined, count: undefined })).toEqual(defaults);
  });

  it('names a set: their order and repetitions do not matter', () => {
    expect(readPop({ names: ['b', 'a', 'b'] }).names).toEqual(['a', 'b']);
  });

  it('takes its wait as text', () => {
    expect(readPop({ waitMs: '30s' }).waitMs).toBe(30_000);
  });

  it('that cannot be read is refused', () => {
    const refused = thrown<InvalidOptionsError>(() => readPop({ names: new Set(['a']) }));
    expect(refused).toBeInstanceOf(InvalidOptionsError);
    expect(refused.message).toBe('pop: names: got a Set, expected an array of job names; leave it out for every name.');
    expect(thrown<Error>(() => readPop({ names: ['a', 7] })).message).toContain(
      'pop: names: name 1: got 7, expected 1',
    );
    const many = Array.from({ length: 1_001 }, (_, i) => `name-${i}`);
    expect(thrown<Error>(() => readPop({ names: many })).message).toBe(
      'pop: names: got 1001 names, expected at most 1000; leave it out for every name.',
    );
    expect(readPop({ names: many.slice(1) }).names).toHaveLength(1_000);
    expect(thrown<Error>(() => readPop({ queues: 'mail' })).message).toContain("did you mean 'queue'?");
    expect(thrown<Error>(() => readPop(null)).message).toContain('pop: got null');
  });
});

describe('an extension', () => {
  const about = { queue: 'q', jobName: 'n', jobId: 'i' };

  it('is a duration', () => {
    expect(readExtension('1m', about)).toBe(60_000);
    expect(readExtension(1, about)).toBe(1);
  });

  it.each([0, -1, Number.NaN, '5', undefined, null, 5e15])(
    'of %p is refused, and the error says of which job',
    (given) => {
      const refused = thrown<InvalidScheduleError>(() => readExtension(given, about));
      expect(refused).toBeInstanceOf(InvalidScheduleError);
      expect(refused).toMatchObject({ ...about, message: expect.stringMatching(/^extend: got /) });
    },
  );
});
