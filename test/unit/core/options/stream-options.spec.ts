import { describe, expect, it } from '@jest/globals';
import { InvalidOptionsError } from '../../../../lib/core/errors.js';
import { readStream } from '../../../../lib/core/options/stream-options.js';
import { thrown } from '../../thrown.js';

describe('a stream', () => {
  it('of which nothing is said is that of the default queue, from now on', () => {
    const defaults = { queue: 'default', from: 'end' };
    expect(readStream(undefined)).toEqual(defaults);
    expect(readStream({})).toEqual(defaults);
    expect(readStream({ queue: undefined, from: undefined })).toEqual(defaults);
  });

  it('begins with all that is kept, after an event, or with an instant', () => {
    expect(readStream({ queue: 'mail', from: '0' })).toEqual({ queue: 'mail', from: 'start' });
    expect(readStream({ from: '1795433037028-600000' }).from).toEqual({ after: '1795433037028-600000' });
    expect(readStream({ from: new Date(1_795_433_037_028) }).from).toEqual({ sinceMs: 1_795_433_037_028 });
  });
});

describe('options of a stream are refused', () => {
  const EXPECTED = "expected an eventId that an event of this queue had, '0' for all events that are kept, or a Date.";

  it.each([
    [{ from: 'yesterday' }, `from: got "yesterday", ${EXPECTED}`],
    [{ from: '2027-01-01T00:00:00Z' }, `from: got "2027-01-01T00:00:00Z", ${EXPECTED}`],
    [{ from: 0 }, `from: got 0, ${EXPECTED}`],
    [{ from: 1_795_433_037_028 }, `from: got 1795433037028, ${EXPECTED}`],
    [{ from: '' }, `from: got "", ${EXPECTED}`],
    [{ from: '-' }, `from: got "-", ${EXPECTED}`],
    [{ from: '$' }, `from: got "$", ${EXPECTED}`],
    [{ from: null }, `from: got null, ${EXPECTED}`],
    [{ from: new Date(Number.NaN) }, 'from: got an invalid Date, expected a valid one.'],
    [
      { from: new Date(1_795_433) },
      'from: got 1970-01-01T00:29:55.433Z, which looks like seconds: expected an instant of at least 1e11 epoch milliseconds (1973-03-03).',
    ],
    [
      { queue: 'a:b' },
      'queue: got "a:b", expected 1 to 64 of the characters A-Z a-z 0-9 . _ -, a letter or digit first.',
    ],
    [{ form: '0' }, `unknown option "form", did you mean 'from'?`],
    ['default', 'got "default", expected an object of options (queue, from).'],
  ])('%p', (options, problem) => {
    const error = thrown<InvalidOptionsError>(() => readStream(options));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toBe(`stream: ${problem}`);
  });
});
