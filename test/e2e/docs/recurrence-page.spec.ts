import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Cron } from 'croner';
import { nextOccurrences } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { Reports } from './recurrence/calls.js';
import { Digests } from './recurrence/declared.js';
import { preview, quarters, workdays } from './recurrence/rules.js';

// What docs/recurrence.md says of rules, by their instants, and its snippets. All times of its tables are UTC, of one day of the wall clock.

const HOUR = 3_600_000;
const page = readFileSync('docs/recurrence.md', 'utf8');
const rows = [...page.matchAll(/^\| `(\S+ .+?)` \| `(\w+\/\w+)` \| (\d{4}-\d\d-\d\d) \| (.+) \|$/gm)].map(
  ([, cron, zone, day, rest]) => ({ cron: cron!, zone: zone!, day: day!, cells: rest!.split(' | ') }),
);

afterEach(stopApps);

it('declared recurrences: the digest of the day and that of the month are armed, each with its payload', async () => {
  const { inspector, producer, get } = await startApp([Digests]);
  const armed = await until('both are armed', async () => {
    const jobs = await inspector.list('scheduled');
    return jobs.length === 2 && jobs;
  });
  const hours = armed.map(({ dueAt }) => dueAt.toLocaleTimeString('en-GB', { timeZone: 'Europe/Paris' }));
  expect(hours.sort()).toEqual(['07:00:00', '09:00:00']);
  for (const job of armed) await producer.runNow(job);
  await until('both have run', () => get(Digests).sent.length === 2);
  expect(get(Digests).sent.sort()).toEqual([1, 30]);
});

it('calls: a user gets the report of each Monday in the zone of the user, and not on holiday', async () => {
  const { producer, get } = await startApp([Reports]);
  const reports = get(Reports);
  const { nextAt } = await reports.subscribe(7, 'America/New_York');
  const inNewYork = { timeZone: 'America/New_York' };
  expect(nextAt!.toLocaleTimeString('en-GB', inNewYork)).toBe('08:00:00');
  expect(nextAt!.toLocaleDateString('en-GB', { ...inNewYork, weekday: 'long' })).toBe('Monday');
  await producer.runNow(`report/7@${nextAt!.getTime()}`);
  await until('it was sent', () => reports.sent.length === 1);
  expect(reports.sent).toEqual([`report of ${nextAt!.toISOString().slice(0, 10)} to 7`]);
  expect(await reports.holiday(7)).toBe(true);
  expect(await producer.recurrences()).toMatchObject([{ id: 'report/7', state: 'paused', reason: 'on holiday' }]);
  expect(await reports.unsubscribe(7)).toBe(true);
  expect(await producer.recurrences()).toEqual([]);
});

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
