import { expect, it } from '@jest/globals';
import { InvalidScheduleError } from '../../../../lib/core/errors.js';
import { nextOccurrences } from '../../../../lib/index.js';
import { thrown } from '../../thrown.js';

const HOURLY = { cron: '0 * * * *' };
const NINE = new Date('2027-01-01T09:00:00Z');

it('tells the next instants, all later than from', () => {
  expect(nextOccurrences(HOURLY, { from: NINE, count: 2 })).toEqual([
    new Date('2027-01-01T10:00:00Z'),
    new Date('2027-01-01T11:00:00Z'),
  ]);
  expect(nextOccurrences({ everyMs: '1h' }, { from: NINE.getTime() + 1, count: 1 })).toEqual([
    new Date('2027-01-01T10:00:00Z'),
  ]);
  expect(nextOccurrences(HOURLY, { from: NINE, count: 0 })).toEqual([]);
});

it('begins now unless said otherwise', () => {
  const before = Date.now();
  const [next] = nextOccurrences({ everyMs: 1000 }, { count: 1 });
  expect(next!.getTime()).toBeGreaterThan(before);
  expect(next!.getTime()).toBeLessThanOrEqual(Date.now() + 1000);
});

it('tells fewer where the rule ends', () => {
  const endAt = '2027-01-01T11:30:00Z';
  expect(nextOccurrences({ ...HOURLY, endAt }, { from: NINE, count: 9 })).toHaveLength(2);
  expect(nextOccurrences({ ...HOURLY, endAt }, { from: Date.parse(endAt), count: 9 })).toEqual([]);
  expect(nextOccurrences({ ...HOURLY, limit: 3 }, { from: NINE, count: 9 })).toHaveLength(3);
});

it.each<[object | undefined, RegExp]>([
  [undefined, /^nextOccurrences: count: got undefined, expected how many are wanted\.$/],
  [{ from: NINE }, /count: got undefined/],
  [{ count: -1 }, /count: got -1, expected a whole number of at least 0/],
  [{ count: 1.5 }, /count: got 1.5/],
  [{ count: 1, from: new Date(Number.NaN) }, /from: got an invalid Date/],
  [{ count: 1, after: NINE }, /unknown option "after"/],
])('refuses the options %j', (options, message) => {
  const error = thrown(() => nextOccurrences(HOURLY, options as { count: number }));
  expect(error).toBeInstanceOf(InvalidScheduleError);
  expect(error.message).toMatch(message);
});

it('refuses a rule that cannot be used, even where none is wanted', () => {
  expect(thrown(() => nextOccurrences({ cron: '0 0 30 2 *' }, { count: 0 })).message).toMatch(
    /^nextOccurrences: cron: got '0 0 30 2 \*', which names no instant/,
  );
});
