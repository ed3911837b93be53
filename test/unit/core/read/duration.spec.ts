import { describe, expect, it } from '@jest/globals';
import { parseDuration, parseSignedDuration, span } from '../../../../lib/core/read/duration.js';

const problemOf = (value: unknown) => (parseDuration(value) as { problem: string }).problem;

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['1s', 1_000],
    ['90 seconds', 90_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1.5h', 5_400_000],
    ['3 days', 259_200_000],
    ['1w', 604_800_000],
    ['1y', 31_557_600_000],
    ['10M', 600_000],
    ['  2h ', 7_200_000],
    ['0s', 0],
  ])('of %j is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([0, 1, 1_500, 8.64e15])('of the number %d is that many ms', (ms) => {
    expect(parseDuration(ms)).toBe(ms);
  });

  it('is rounded up to whole ms, so that nothing is early', () => {
    expect(parseDuration(0.1)).toBe(1);
    expect(parseDuration('0.1ms')).toBe(1);
  });

  it.each(['10', '0', '', '   ', '1.5', '-5', '1e3'])('needs a unit: %j is refused', (text) => {
    expect(problemOf(text)).toBe(
      `got ${JSON.stringify(text)}, expected a number with a unit, such as '500ms', '10m', '2h' or '3 days'`,
    );
  });

  it.each(['soon', 'm', '10 parsecs', '10m 5s', '1,5h', 'NaNms', 'Infinity days', '1h\n2m'])(
    'that cannot be read is refused: %j',
    (text) => {
      expect(problemOf(text)).toBe(
        `got ${JSON.stringify(text)}, expected a number with a unit, such as '500ms', '10m', '2h' or '3 days'${text === '10 parsecs' ? '; the units are ms, s, m (minutes), h, d, w and y, or their names' : ''}`,
      );
    },
  );

  it('of 10 kB of text is refused, and the message shows its beginning only', () => {
    const problem = problemOf(`${'1'.repeat(10_000)}ms`);
    expect(problem).toContain(`got "${'1'.repeat(60)}…" (10002 characters), expected`);
    expect(problem.length).toBeLessThan(250);
  });

  it.each([
    [-1, '-1'],
    [-0.5, '-0.5'],
    ['-5m', '"-5m"'],
    ['-1ms', '"-1ms"'],
  ])('below zero is refused as it was written: %j', (value, shown) => {
    expect(problemOf(value)).toBe(`got ${shown}, expected 0 or more milliseconds`);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('of %d is refused', (value) => {
    expect(problemOf(value)).toBe(`got ${value}, expected a finite number of milliseconds`);
  });

  it.each([
    [8.640_000_000_000_001e15, '8640000000000001'],
    [Number.MAX_VALUE, '1.7976931348623157e+308'],
    ['300000 years', '"300000 years"'],
  ])('beyond the range of dates is refused as it was written: %j', (value, shown) => {
    expect(problemOf(value)).toBe(`got ${shown}, expected at most 8640000000000000 milliseconds`);
  });

  it.each([
    [null, 'null'],
    [undefined, 'undefined'],
    [true, 'true'],
    [10n, 'the bigint 10'],
    [{ ms: 10 }, 'an object'],
    [['10m'], 'an array of 1'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
  ])('is a number or a text, not %p', (value, shown) => {
    expect(problemOf(value)).toBe(`got ${shown}, expected milliseconds or a string such as '10m'`);
  });
});

describe('a duration that may point back', () => {
  it.each<[number | string, number]>([
    ['-2h', -7_200_000],
    ['2h', 7_200_000],
    [-1, -1],
    [-0.5, 0],
    [-1.5, -1],
    [4.32e15, 4.32e15],
    [-4.32e15, -4.32e15],
  ])('of %p is %d ms', (value, ms) => {
    expect(parseSignedDuration(value)).toBe(ms);
  });

  it.each<[unknown, string]>([
    [-4.33e15, 'got -4330000000000000, expected at least -4320000000000000 milliseconds'],
    ['300000 years', 'got "300000 years", expected at most 4320000000000000 milliseconds'],
    [Number.NEGATIVE_INFINITY, 'got -Infinity, expected a finite number of milliseconds'],
    [null, "got null, expected milliseconds or a string such as '10m'"],
  ])('of %p is refused', (value, problem) => {
    expect(parseSignedDuration(value)).toEqual({ problem });
  });
});

it.each([
  [0, '0 ms'],
  [0.4, '0 ms'],
  [999, '999 ms'],
  [90_000, '1 min 30 s'],
  [5_400_000, '1 h 30 min'],
  [7_200_000, '2 h'],
  [93_784_005, '1 d 2 h'],
  [86_400_005, '1 d 5 ms'],
])('%d ms are shown in their two largest units, as %s', (lengthMs, shown) => {
  expect(span(lengthMs)).toBe(shown);
});
