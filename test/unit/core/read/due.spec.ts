import { describe, expect, it } from '@jest/globals';
import { readDue } from '../../../../lib/core/read/due.js';

const NINE = Date.UTC(2027, 0, 1, 9);
const LAST_INSTANT = 8.64e15;
const problemOf = (at: unknown, delay?: unknown) => (readDue(at, delay) as { problem: string }).problem;

describe('at', () => {
  it('takes a Date', () => {
    expect(readDue(new Date(NINE), undefined)).toEqual({ at: NINE });
  });

  it('takes a Date from March 1973 on', () => {
    expect(readDue(new Date(1e11), undefined)).toEqual({ at: 1e11 });
    expect(readDue(new Date(LAST_INSTANT), undefined)).toEqual({ at: LAST_INSTANT });
  });

  it.each([new Date(1_798_794_000), new Date(0), new Date(-LAST_INSTANT), new Date(1e11 - 1), '1970-01-21T19:39:54Z'])(
    'refuses %p, whose milliseconds look like seconds',
    (at) => {
      expect(problemOf(at)).toMatch(
        /^at: got .*19[67]\d-|-27\d{4}-.*, which looks like seconds: expected an instant of/,
      );
    },
  );

  it('takes epoch milliseconds, up to the last instant of Date', () => {
    expect(readDue(NINE, undefined)).toEqual({ at: NINE });
    expect(readDue(1e11, undefined)).toEqual({ at: 1e11 });
    expect(readDue(LAST_INSTANT, undefined)).toEqual({ at: LAST_INSTANT });
  });

  it('rounds a part of a millisecond up, so that no job is early', () => {
    expect(readDue(NINE + 0.25, undefined)).toEqual({ at: NINE + 1 });
  });

  it.each([
    ['2027-01-01T09:00:00Z', NINE],
    ['2027-01-01T09:00Z', NINE],
    ['2027-01-01t09:00:00z', NINE],
    ['2027-01-01T09:00:00.250Z', NINE + 250],
    ['2027-01-01T09:00:00,250Z', NINE + 250],
    ['2027-01-01T10:00:00+01:00', NINE],
    ['2027-01-01T10:00:00+0100', NINE],
    ['2027-01-01T10:00:00+01', NINE],
    ['2027-01-01T03:30:00-05:30', NINE],
    ['2028-02-29T09:00:00Z', Date.UTC(2028, 1, 29, 9)],
    ['2027-01-01T24:00:00Z', Date.UTC(2027, 0, 2)],
    ['+012027-01-01T09:00:00Z', Date.UTC(12_027, 0, 1, 9)],
  ])('takes ISO 8601 with Z or an offset: %s', (text, at) => {
    expect(readDue(text, undefined)).toEqual({ at });
  });

  it.each([
    ['without an offset', '2027-01-01T09:00:00'],
    ['without a time', '2027-01-01'],
    ['with a space', '2027-01-01 09:00:00Z'],
    ['in words', 'tomorrow'],
    ['that is empty', ''],
    ['that Date.parse would take', 'Fri, 01 Jan 2027 09:00:00 GMT'],
    ['of a month that is none', '2027-13-01T09:00:00Z'],
    ['of an hour that is none', '2027-01-01T25:00:00Z'],
    ['of an offset that is none', '2027-01-01T09:00:00+99:99'],
    ['with something behind it', '2027-01-01T09:00:00Z\n'],
    ['of digits', '1798794000000'],
  ])('refuses text %s', (_, text) => {
    expect(problemOf(text)).toBe(
      `at: got ${JSON.stringify(text)}, expected a Date, epoch milliseconds, or ISO 8601 with time and Z or offset, such as '2027-01-01T09:00:00Z'`,
    );
  });

  it.each(['2027-02-29T09:00:00Z', '2027-02-30T09:00:00Z', '2027-04-31T09:00:00+02:00'])(
    'refuses a day that its month does not have rather than move it: %s',
    (text) => {
      expect(problemOf(text)).toContain(`at: got "${text}", expected`);
    },
  );

  it.each([1_798_794_000, 0, -1, 99_999_999_999])('refuses %d, which looks like seconds', (at) => {
    expect(problemOf(at)).toBe(
      `at: got ${at}, which looks like seconds: expected an instant of at least 1e11 epoch milliseconds (1973-03-03)`,
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('refuses %d', (at) => {
    expect(problemOf(at)).toBe(`at: got ${at}, expected epoch milliseconds`);
  });

  it.each([LAST_INSTANT + 1, 2 ** 53 + 2, Number.MAX_VALUE])('refuses %d, which is after the last instant', (at) => {
    expect(problemOf(at)).toBe(`at: got ${at}, expected at most 8640000000000000, the last instant of Date`);
  });

  it('refuses an invalid Date', () => {
    expect(problemOf(new Date('tomorrow'))).toBe('at: got an invalid Date, expected a valid one');
  });

  it.each([
    [null, 'null'],
    [true, 'true'],
    [10n, 'the bigint 10'],
    [{ year: 2027 }, 'an object'],
    [() => NINE, 'a function'],
  ])('refuses %p', (at, shown) => {
    expect(problemOf(at)).toContain(`at: got ${shown}, expected a Date, epoch milliseconds, or ISO 8601`);
  });
});

describe('delay', () => {
  it('takes a duration as a number or as text', () => {
    expect(readDue(undefined, 1_500)).toEqual({ delayMs: 1_500 });
    expect(readDue(undefined, '25 days')).toEqual({ delayMs: 25 * 86_400_000 });
    expect(readDue(undefined, '100 years')).toEqual({ delayMs: 100 * 31_557_600_000 });
  });

  it.each([
    [Number.NaN, 'delay: got NaN, expected a finite number of milliseconds'],
    [Number.POSITIVE_INFINITY, 'delay: got Infinity, expected a finite number of milliseconds'],
    [-1, 'delay: got -1, expected 0 or more milliseconds'],
    [null, "delay: got null, expected milliseconds or a string such as '10m'"],
    ['later', `delay: got "later", expected a number with a unit, such as '500ms', '10m', '2h' or '3 days'`],
  ])('refuses %p', (delay, problem) => {
    expect(problemOf(undefined, delay)).toBe(problem);
  });

  it('refuses one that would end after the last instant', () => {
    expect(readDue(undefined, 4.32e15)).toEqual({ delayMs: 4.32e15 });
    expect(problemOf(undefined, 4.32e15 + 1)).toBe('delay: got 4320000000000001, expected at most 4320000000000000 ms');
  });
});

it('a job without at and delay is due now', () => {
  expect(readDue(undefined, undefined)).toEqual({ delayMs: 0 });
});

it('at together with delay is refused, and both are shown', () => {
  expect(problemOf(new Date(NINE), '2h')).toBe(
    'got both at (2027-01-01T09:00:00.000Z) and delay ("2h"), expected one of them',
  );
});
