import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Cron } from 'croner';
import { nextOccurrences } from '../../../lib/index.js';
import { preview, quarters, workdays } from './recurrence/rules.js';

// What docs/recurrence.md says of rules, by their instants. All times of its tables are UTC, of one day of the wall clock.

const HOUR = 3_600_000;
const page = readFileSync('docs/recurrence.md', 'utf8');
const rows = [...page.matchAll(/^\| `(\S+ .+?)` \| `(\w+\/\w+)` \| (\d{4}-\d\d-\d\d) \| (.+) \|$/gm)].map(
  ([, cron, zone, day, rest]) => ({ cron: cron!, zone: zone!, day: day!, cells: rest!.split(' | ') }),
);

it('the rules of the first snippet', () => {
  expect(preview(workdays, new Date('2027-12-22T12:00:00Z'))).toEqual([
    new Date('2027-12-23T08:00:00Z'),
    new Date('2028-01-03T08:00:00Z'),
    new Date('2028-01-04T08:00:00Z'),
  ]);
  expect(preview(quarters, new Date('2027-01-01T00:00:00Z'))[0]).toEqual(new Date('2027-01-01T00:05:00Z'));
});

it('the page has both tables', () => {
  expect(rows.map(({ cells }) => cells.length)).toEqual([...Array(12).fill(2), ...Array(10).fill(3)]);
});

describe.each(rows)('$cron, $zone, $day', ({ cron, zone, day, cells }) => {
  /** Up to the end of the day as the offset before would have it, and a little later: an hour's shift may cross midnight. */
  const from = noonBefore(zone, day) + 12 * HOUR;
  const until = from + 24.6 * HOUR;

  it('fires here as the page says', () => {
    const found = nextOccurrences({ cron, timeZone: zone }, { from: from - 1, count: 30 }).map(Number);
    const told = times(found.filter((at) => at < until));
    expect(/^\d+ times$/.test(cells[0]!) ? `${told.split(', ').length} times` : told).toBe(cells[0]);
  });

  if (cells.length === 3) {
    it('fires in croner as the page says', () => {
      const found = new Cron(cron, { timezone: zone }).nextRuns(30, new Date(from - 1000)).map(Number);
      expect(times(found.filter((at) => at < until)) || 'none').toBe(cells[1]!.replace(/^none: .*/, 'none'));
    });
  }
});

/** The page's days are those of the wall clock, and no day before one of them has a change of the clock. */
function noonBefore(timeZone: string, day: string): number {
  const before = new Date(Date.parse(day) - 24 * HOUR);
  const cron = `0 0 12 ${before.getUTCDate()} ${before.getUTCMonth() + 1} * ${before.getUTCFullYear()}`;
  return nextOccurrences({ cron, timeZone }, { from: Date.UTC(2000, 0, 1), count: 1 })[0]!.getTime();
}

function times(instants: readonly number[]): string {
  return instants.map((at) => new Date(at).toISOString().slice(11, 16)).join(', ');
}
