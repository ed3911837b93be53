import { describe, expect, it } from '@jest/globals';
import { instantsAhead } from '../../../../../lib/store/redis/recur/instants-ahead.js';
import { DAY, HOUR, MINUTE, ruleOf, SECOND } from '../../../../contract/recurring.js';

const NOON = Date.UTC(2027, 5, 15, 12);
const timesOf = (list: string) => (list.match(/\d{13}/g) ?? []).map(Number);

describe('the instants that are known ahead', () => {
  it('are five of a rule that fires seldom', () => {
    const { list, skipped } = instantsAhead(ruleOf({ cron: '0 * * * *' }), NOON, NOON);
    expect(list).toBe([1, 2, 3, 4, 5].map((hours) => NOON + hours * HOUR).join(' '));
    expect(skipped).toBe(0);
  });

  it('are those of 20 s of one that fires often', () => {
    const times = timesOf(instantsAhead(ruleOf({ cron: '* * * * * *' }), NOON, NOON).list);
    expect([times[0], times.at(-1)]).toEqual([NOON + 1_000, NOON + 21_000]);
  });

  it('are 300 at most', () => {
    const exclude = [NOON - DAY];
    expect(timesOf(instantsAhead(ruleOf({ everyMs: 50, exclude }), NOON, NOON).list)).toHaveLength(300);
  });

  it('tell how far their wall clock is from UTC', () => {
    const rule = ruleOf({ cron: '0 9 * * *', timeZone: 'Asia/Kolkata' });
    expect(instantsAhead(rule, NOON, NOON).list).toMatch(/^(\d{13}:330 ){4}\d{13}:330$/);
  });

  it('end with a point where the rule has none beyond', () => {
    const rule = ruleOf({ cron: '0 * * * *', endAtMs: NOON + 2 * HOUR });
    expect(instantsAhead(rule, NOON, NOON).list).toBe(`${NOON + HOUR} ${NOON + 2 * HOUR} .`);
    expect(instantsAhead(rule, NOON + 3 * HOUR, NOON + 3 * HOUR).list).toBe('.');
  });

  it('begin with the latest two of the past, and count the others', () => {
    const { list, skipped } = instantsAhead(ruleOf({ cron: '* * * * *' }), NOON - HOUR, NOON);
    expect(timesOf(list).slice(0, 3)).toEqual([NOON - MINUTE, NOON, NOON + MINUTE]);
    expect(skipped).toBe(58);
  });

  it('begin with all of the past that may be made up for, where all are', () => {
    const rule = ruleOf({ cron: '* * * * *', onMissed: 'all', missedWithinMs: 10 * MINUTE });
    const { list, skipped } = instantsAhead(rule, NOON - HOUR, NOON);
    expect(timesOf(list)[0]).toBe(NOON - 10 * MINUTE);
    expect(skipped).toBe(49);
  });

  it('leave out what would be more than ten thousand to make up for, and say so', () => {
    const rule = ruleOf({ cron: '* * * * *', onMissed: 'all', missedWithinMs: 100 * DAY });
    const { list, skipped } = instantsAhead(rule, NOON - 12_000 * MINUTE, NOON);
    expect(list).toMatch(/^! /);
    expect(timesOf(list)[0]).toBe(NOON - 10_000 * MINUTE);
    expect({ skipped, known: timesOf(list).length }).toEqual({ skipped: 1_999, known: 300 });
  });

  it('leave out wall times at the beginning that have been passed, as newer data may move them', () => {
    const rule = ruleOf({ cron: '0 9 * * *', timeZone: 'Europe/Berlin' });
    const passedWall = Date.UTC(2027, 5, 16, 9);
    const [first] = timesOf(instantsAhead(rule, NOON, NOON, passedWall).list);
    expect(first).toBe(Date.UTC(2027, 5, 17, 7));
  });

  it('of a rule for every hour leave out nothing of an hour that comes again', () => {
    // Paris, 2027-10-31: it is 02:45 for the first time, and at 03:00 the clock is set back.
    const passedMs = Date.UTC(2027, 9, 31, 0, 45);
    const passedWall = Date.UTC(2027, 9, 31, 2, 45);
    const timesAfter = (cron: string) =>
      timesOf(instantsAhead(ruleOf({ cron, timeZone: 'Europe/Paris' }), passedMs, passedMs, passedWall).list);
    expect(timesAfter('*/15 * * * *').slice(0, 3)).toEqual([15, 30, 45].map((minutes) => passedMs + minutes * MINUTE));
    expect(timesAfter('*/15 2 * * *')[0]).toBe(Date.UTC(2027, 10, 1, 1));
  });

  describe('of a rule for every second, after an outage', () => {
    const rule = ruleOf({ cron: '* * * * * *', onMissed: 'all' });

    it('of 30 hours, begin with the latest ten thousand, and count the others', () => {
      const { list, skipped } = instantsAhead(rule, NOON - 30 * HOUR, NOON);
      expect(list).toMatch(/^! /);
      expect({ first: timesOf(list)[0], skipped }).toEqual({ first: NOON - 10_000 * SECOND, skipped: 97_999 });
    });

    it.each([10, 400])('of %s days, begin with the latest ten thousand as well', (days) => {
      for (const more of [{}, { missedWithinMs: 1_000 * DAY }]) {
        const { list } = instantsAhead({ ...rule, ...more }, NOON - days * DAY, NOON);
        expect(list).toMatch(/^! /);
        expect(timesOf(list)[0]).toBe(NOON - 10_000 * SECOND);
      }
    });

    it('of 10 days, begin with those of the last hour where no older one is made up for', () => {
      const { list } = instantsAhead({ ...rule, missedWithinMs: HOUR }, NOON - 10 * DAY, NOON);
      expect(timesOf(list)[0]).toBe(NOON - HOUR);
      expect(list).not.toContain('!');
    });
  });

  it.each(['once', 'all'] as const)(
    'begin with the latest of a rule that fires often, but not lately (%s)',
    (onMissed) => {
      const march = Date.UTC(2027, 2, 1);
      const february = Date.UTC(2027, 1, 1);
      const rule = ruleOf({ cron: '* * * * 1 *', onMissed, missedWithinMs: 100 * DAY });
      const [first] = timesOf(instantsAhead(rule, Date.UTC(2027, 0, 1), march).list);
      expect(first).toBe(february - (onMissed === 'all' ? 10_000 : 2) * SECOND);
    },
  );
});
