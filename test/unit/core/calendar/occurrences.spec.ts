import { describe, expect, it } from '@jest/globals';
import { hasOccurrenceAfter, type Occurrence, occurrencesAfter } from '../../../../lib/core/calendar/occurrences.js';
import { readRule } from '../../../../lib/core/calendar/read-rule.js';
import type { RecurrenceRule } from '../../../../lib/core/calendar/rule.js';

const timingOf = (rule: RecurrenceRule) => readRule(rule, 'test').timing;
const shown = (ms: number) => new Date(ms).toISOString().replace(':00.000Z', '').replace('.000Z', '');

function first(count: number, rule: RecurrenceRule, after: string): Occurrence[] {
  const found: Occurrence[] = [];
  for (const occurrence of occurrencesAfter(timingOf(rule), Date.parse(after))) {
    found.push(occurrence);
    if (found.length === count) break;
  }
  return found;
}
const instants = (count: number, rule: RecurrenceRule, after: string) =>
  first(count, rule, after).map(({ atMs }) => shown(atMs));

describe('a skipped hour', () => {
  const PARIS = { timeZone: 'Europe/Paris' };

  it('a rule for every hour does not fire in it', () => {
    const expected = ['2027-03-28T00:30', '2027-03-28T01:30'];
    for (const cron of ['30 * * * *', '30 ? * * *', '30 0-23 * * *', '0 30 */1 * * *'])
      expect(instants(2, { cron, ...PARIS }, '2027-03-28T00:00Z')).toEqual(expected);
    expect(first(2, { cron: '30 * * * *', ...PARIS }, '2027-03-28T00:00Z').map(({ wallMs }) => shown(wallMs))).toEqual([
      '2027-03-28T01:30',
      '2027-03-28T03:30',
    ]);
  });

  it('any other rule fires at the instant that the offset before would have given, and tells the wall time that was meant', () => {
    expect(first(2, { cron: '30 2 * * *', ...PARIS }, '2027-03-27T12:00Z')).toEqual([
      { atMs: Date.parse('2027-03-28T01:30Z'), wallMs: Date.parse('2027-03-28T02:30Z') },
      { atMs: Date.parse('2027-03-29T00:30Z'), wallMs: Date.parse('2027-03-29T02:30Z') },
    ]);
  });

  it('keeps each of several wall times, be they lists or steps', () => {
    expect(instants(4, { cron: '*/20 2 * * *', ...PARIS }, '2027-03-27T12:00Z')).toEqual([
      '2027-03-28T01:00',
      '2027-03-28T01:20',
      '2027-03-28T01:40',
      '2027-03-29T00:00',
    ]);
    expect(instants(3, { cron: '15,45 2 9 3 *', timeZone: 'America/New_York' }, '2025-03-01T00:00Z')).toEqual([
      '2025-03-09T07:15',
      '2025-03-09T07:45',
      '2026-03-09T06:15',
    ]);
  });

  it('what falls together fires once, at the later one of the wall times', () => {
    expect(first(3, { cron: '30 2,3,4 * * *', ...PARIS }, '2027-03-28T00:00Z')).toEqual([
      { atMs: Date.parse('2027-03-28T01:30Z'), wallMs: Date.parse('2027-03-28T03:30Z') },
      { atMs: Date.parse('2027-03-28T02:30Z'), wallMs: Date.parse('2027-03-28T04:30Z') },
      { atMs: Date.parse('2027-03-29T00:30Z'), wallMs: Date.parse('2027-03-29T02:30Z') },
    ]);
  });

  it('*/2 names hours: it is no rule for every hour', () => {
    expect(instants(3, { cron: '15 */2 * * *', ...PARIS }, '2027-03-28T00:00Z')).toEqual([
      '2027-03-28T01:15',
      '2027-03-28T02:15',
      '2027-03-28T04:15',
    ]);
  });

  it('half an hour of Lord Howe: half past two is there, a quarter past is shifted', () => {
    expect(instants(2, { cron: '15 2 * * *', timeZone: 'Australia/Lord_Howe' }, '2026-10-03T12:00Z')).toEqual([
      '2026-10-03T15:45',
      '2026-10-04T15:15',
    ]);
    expect(instants(1, { cron: '30 2 * * *', timeZone: 'Australia/Lord_Howe' }, '2026-10-03T12:00Z')).toEqual([
      '2026-10-03T15:30',
    ]);
  });

  it('at midnight: the day is that of the wall time before it is shifted', () => {
    const SUNDAYS = { cron: '30 0 * * SUN', timeZone: 'America/Havana' };
    expect(first(1, SUNDAYS, '2024-03-05T00:00Z')).toEqual([
      { atMs: Date.parse('2024-03-10T05:30Z'), wallMs: Date.parse('2024-03-10T00:30Z') },
    ]);
  });

  it('across midnight: Saturday 23:30 of Nuuk, which the clock left out, is Sunday 00:30 and still a Saturday', () => {
    const SATURDAYS = { cron: '30 23 * * SAT', timeZone: 'America/Nuuk' };
    expect(first(1, SATURDAYS, '2024-03-28T00:00Z')).toEqual([
      { atMs: Date.parse('2024-03-31T01:30Z'), wallMs: Date.parse('2024-03-30T23:30Z') },
    ]);
    expect(instants(1, { ...SATURDAYS, exclude: ['2024-03-31'] }, '2024-03-28T00:00Z')).toEqual(['2024-03-31T01:30']);
    expect(instants(1, { ...SATURDAYS, exclude: ['2024-03-30'] }, '2024-03-28T00:00Z')).toEqual(['2024-04-07T00:30']);
  });

  it('a whole day: 30 December 2011 of Apia falls on the 31st', () => {
    const APIA = { cron: '0 9 * * *', timeZone: 'Pacific/Apia' };
    expect(first(3, APIA, '2011-12-29T12:00Z').map(({ atMs, wallMs }) => [shown(atMs), shown(wallMs)])).toEqual([
      ['2011-12-29T19:00', '2011-12-29T09:00'],
      ['2011-12-30T19:00', '2011-12-31T09:00'],
      ['2011-12-31T19:00', '2012-01-01T09:00'],
    ]);
    expect(instants(2, { ...APIA, cron: '0 9 30 12 *' }, '2011-01-01T00:00Z')).toEqual([
      '2011-12-30T19:00',
      '2012-12-29T19:00',
    ]);
    expect(instants(1, { ...APIA, cron: '0 * 30 12 *' }, '2011-01-01T00:00Z')).toEqual(['2012-12-29T10:00']);
  });
});

describe('a repeated hour', () => {
  const NEW_YORK = { timeZone: 'America/New_York' };

  it('a rule for every hour fires twice in it', () => {
    expect(instants(4, { cron: '0,30 * * * *', ...NEW_YORK }, '2025-11-02T04:45Z')).toEqual([
      '2025-11-02T05:00',
      '2025-11-02T05:30',
      '2025-11-02T06:00',
      '2025-11-02T06:30',
    ]);
  });

  it('any other rule fires once, the first time', () => {
    const expected = ['2025-11-02T05:00', '2025-11-02T05:30', '2025-11-03T06:00'];
    expect(instants(3, { cron: '0,30 1 * * *', ...NEW_YORK }, '2025-11-01T12:00Z')).toEqual(expected);
    // Asked in the middle of either hour as well.
    expect(instants(2, { cron: '0,30 1 * * *', ...NEW_YORK }, '2025-11-02T05:15Z')).toEqual(expected.slice(1));
    expect(instants(1, { cron: '0,30 1 * * *', ...NEW_YORK }, '2025-11-02T06:15Z')).toEqual(expected.slice(2));
  });

  it('at midnight of Beirut the last hour of a day is shown twice, the second time for rules for every hour', () => {
    const BEIRUT = { timeZone: 'Asia/Beirut' };
    expect(instants(3, { cron: '30 * 26 10 *', ...BEIRUT }, '2024-10-26T19:00Z')).toEqual([
      '2024-10-26T19:30',
      '2024-10-26T20:30',
      '2024-10-26T21:30',
    ]);
    expect(instants(2, { cron: '30 23 26 10 *', ...BEIRUT }, '2024-10-26T19:00Z')).toEqual([
      '2024-10-26T20:30',
      '2025-10-26T21:30',
    ]);
  });
});

describe('bounds', () => {
  it('startAt and endAt are included', () => {
    const bounded = { everyMs: '1h', startAt: '2027-01-01T02:00:00Z', endAt: '2027-01-01T04:00:00Z' } as const;
    const expected = ['2027-01-01T02:00', '2027-01-01T03:00', '2027-01-01T04:00'];
    expect(instants(9, bounded, '2026-12-01T00:00Z')).toEqual(expected);
    const { startAt, endAt } = bounded;
    expect(instants(9, { cron: '0 * * * *', startAt, endAt }, '2026-12-01T00:00Z')).toEqual(expected);
  });

  it('bound the instant, not the wall time: a shifted one may be past endAt', () => {
    const rule = { cron: '30 2 * * *', timeZone: 'Europe/Paris', endAt: '2027-03-28T01:00:00Z' };
    expect(instants(9, rule, '2027-03-26T12:00Z')).toEqual(['2027-03-27T01:30']);
  });

  it('an occurrence at the instant asked for is not later', () => {
    expect(instants(1, { cron: '0 9 * * *' }, '2027-01-01T09:00Z')).toEqual(['2027-01-02T09:00']);
    expect(instants(1, { everyMs: '1h' }, '2027-01-01T09:00Z')).toEqual(['2027-01-01T10:00']);
    expect(instants(1, { cron: '0 9 * * *' }, '2027-01-01T08:59:59.999Z')).toEqual(['2027-01-01T09:00']);
  });

  it('end with the last year', () => {
    expect(instants(9, { cron: '0 0 0 31 12 * 2026-2027' }, '2026-01-01T00:00Z')).toEqual([
      '2026-12-31T00:00',
      '2027-12-31T00:00',
    ]);
    expect(instants(2, { cron: '0 0 31 12 *', timeZone: 'Europe/Paris' }, '9999-01-01T00:00Z')).toHaveLength(1);
    expect(first(1, { cron: '* * * * *' }, '+012000-01-01T00:00Z')).toEqual([]);
  });
});

describe('intervals', () => {
  it('are multiples since the epoch plus the offset', () => {
    expect(instants(2, { everyMs: '1 day', offsetMs: '90m' }, '2027-01-01T01:30Z')).toEqual([
      '2027-01-02T01:30',
      '2027-01-03T01:30',
    ]);
    expect(first(2, { everyMs: 100 }, '2027-01-01T00:00:00.001Z').map(({ atMs }) => atMs % 1000)).toEqual([100, 200]);
  });

  it('follow no wall clock: wall time and instant are one', () => {
    const [found] = first(1, { everyMs: '7m' }, '2027-01-01T00:00Z');
    expect(found!.wallMs).toBe(found!.atMs);
  });
});

describe('exclusions', () => {
  it('a day is one of the zone of the rule', () => {
    const rule = { cron: '0 20 * * *', timeZone: 'America/New_York', exclude: ['2027-12-25'] };
    expect(instants(2, rule, '2027-12-24T12:00Z')).toEqual(['2027-12-25T01:00', '2027-12-27T01:00']);
  });

  it('a range of days holds both ends, a range of instants ends before the last', () => {
    const days = { cron: '0 9 * * *', exclude: [{ from: '2027-01-02', to: '2027-01-03' }] };
    expect(instants(2, days, '2027-01-01T00:00Z')).toEqual(['2027-01-01T09:00', '2027-01-04T09:00']);
    const exclude = [{ from: '2027-01-01T10:00:00Z', to: '2027-01-01T12:00:00Z' }];
    expect(instants(2, { cron: '0 * * * *', exclude }, '2027-01-01T08:00Z')).toEqual([
      '2027-01-01T09:00',
      '2027-01-01T12:00',
    ]);
    expect(instants(2, { everyMs: '1h', exclude }, '2027-01-01T08:00Z')).toEqual([
      '2027-01-01T09:00',
      '2027-01-01T12:00',
    ]);
  });

  it('an instant leaves out just that one', () => {
    const exclude = [new Date('2027-01-01T10:00Z')];
    const expected = ['2027-01-01T09:00', '2027-01-01T11:00'];
    expect(instants(2, { cron: '0 * * * *', exclude }, '2027-01-01T08:00Z')).toEqual(expected);
    expect(instants(2, { everyMs: '1h', exclude }, '2027-01-01T08:00Z')).toEqual(expected);
  });

  it('one of two wall times that fall together may be excluded without the other', () => {
    const rule = { cron: '30 0,23 * * *', timeZone: 'America/Nuuk' };
    // Saturday 23:30 is shifted to Sunday 00:30.
    for (const day of ['2024-03-30', '2024-03-31']) {
      const exclude = [day];
      expect(instants(9, { ...rule, exclude }, '2024-03-31T00:00Z')).toContain('2024-03-31T01:30');
    }
    const exclude = [{ from: '2024-03-30', to: '2024-03-31' }];
    expect(instants(1, { ...rule, exclude }, '2024-03-31T00:00Z')).toEqual(['2024-04-01T01:30']);
  });

  it('are jumped over whole, however many wall times they hold', () => {
    const exclude = [{ from: '2027-01-01', to: '2999-12-31' }];
    for (const timeZone of ['UTC', 'Europe/Paris']) {
      const [found] = first(1, { cron: '* * * * * *', timeZone, exclude }, '2027-01-01T00:00Z');
      expect(shown(found!.wallMs)).toBe('3000-01-01T00:00');
    }
    expect(instants(1, { everyMs: 100, exclude }, '2027-01-01T00:00Z')).toEqual(['3000-01-01T00:00']);
    const instantRange = [{ from: '2027-01-01T00:00:00Z', to: '2999-12-31T00:00:00Z' }];
    for (const rule of [{ cron: '* * * * * *' }, { everyMs: 100 }])
      expect(instants(1, { ...rule, exclude: instantRange }, '2027-01-01T00:00Z')).toEqual(['2999-12-31T00:00']);
  });

  it('10 000 excluded wall times in a row end the search', () => {
    const midnight = Date.UTC(2027, 0, 1);
    const minutes = (count: number) => Array.from({ length: count }, (_, i) => midnight + i * 60_000);
    for (const rule of [{ cron: '* * * * *' }, { everyMs: 60_000 }]) {
      const few = timingOf({ ...rule, exclude: minutes(9_999) });
      expect([...occurrencesAfter({ ...few, endAtMs: midnight + 9_999 * 60_000 }, midnight - 1)]).toHaveLength(1);
      expect(hasOccurrenceAfter(timingOf({ ...rule, exclude: minutes(10_000) }), midnight - 1)).toBe(false);
    }
  });
});

it('asks the same of each call, whatever was asked before', () => {
  const rule = { cron: '*/7 1-3 * * *', timeZone: 'Europe/Paris' };
  const atOnce = first(200, rule, '2027-03-20T00:00Z');
  const timing = timingOf(rule);
  let after = Date.parse('2027-03-20T00:00Z');
  const oneByOne = atOnce.map(() => {
    const [next] = occurrencesAfter(timing, after);
    after = next!.atMs;
    return next;
  });
  expect(oneByOne).toEqual(atOnce);
});
