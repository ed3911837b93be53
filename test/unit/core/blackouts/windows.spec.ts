import { describe, expect, it } from '@jest/globals';
import type { BlackoutRule } from '../../../../lib/core/blackouts/blackout.js';
import { windowsAt } from '../../../../lib/core/blackouts/windows.js';
import { cpuMs } from '../../../support/cpu-time.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const at = (text: string) => Date.parse(text);
const cron = (cron: string, durationMs: number, timeZone = 'UTC'): BlackoutRule => ({ cron, timeZone, durationMs });
const NOW = at('2027-06-01T12:00:00Z');

/** Of the windows those that are on or to come. */
const aheadAt = (nowMs: number, rules: readonly BlackoutRule[]) => {
  const { windows, ...known } = windowsAt(nowMs, rules);
  return { ...known, windows: windows.filter(({ toMs }) => toMs > nowMs) };
};

/** As texts, that failures can be read. */
const shown = (rules: readonly BlackoutRule[], nowMs = NOW) =>
  aheadAt(nowMs, rules).windows.map(
    ({ fromMs, toMs }) => `${new Date(fromMs).toISOString()} ${new Date(toMs).toISOString()}`,
  );

describe('the windows of blackouts', () => {
  it('are those of the last day, those that are on and those to come, in order; what overlaps or touches is one', () => {
    const range = (fromMs: number, toMs: number) => ({ fromMs: NOW + fromMs, toMs: NOW + toMs });
    const rules = [
      range(50, 60),
      range(10, 20),
      range(-9, -5),
      range(-20, -10),
      range(-2 * DAY, -DAY),
      range(-5, 5),
      range(20, 30),
      range(52, 55),
      range(5, 6),
    ];
    const windows = [range(-20, -10), range(-9, 6), range(10, 30), range(50, 60)];
    expect(windowsAt(NOW, rules)).toEqual({ windows, knownUntilMs: Number.POSITIVE_INFINITY, moreAtMs: undefined });
  });

  it('of a rule are known for 32 days, and more are wanted after half of that', () => {
    const { windows, knownUntilMs, moreAtMs } = aheadAt(NOW, [cron('0 22 * * *', 8 * HOUR)]);
    expect(windows).toHaveLength(32);
    expect(windows[0]).toEqual({ fromMs: NOW + 10 * HOUR, toMs: NOW + 18 * HOUR });
    expect(knownUntilMs).toBe(NOW + 32 * DAY + 10 * HOUR);
    expect(moreAtMs).toBe(NOW + 16 * DAY + 5 * HOUR);
  });

  it('of a rule that seldom fires are known until it fires next after these days', () => {
    const { windows, knownUntilMs } = windowsAt(NOW, [cron('0 0 1 1 *', DAY)]);
    expect(windows).toEqual([]);
    expect(knownUntilMs).toBe(at('2028-01-01T00:00:00Z'));
  });

  it('of a rule that fires a last time are known for ever', () => {
    const { windows, moreAtMs } = windowsAt(NOW, [cron('0 0 0 3 6 * 2027', HOUR)]);
    expect(windows).toEqual([{ fromMs: at('2027-06-03T00:00:00Z'), toMs: at('2027-06-03T01:00:00Z') }]);
    expect(moreAtMs).toBeUndefined();
  });

  it('of several rules are known as far as those of each, and none that comes once is told beyond', () => {
    const beyond = { fromMs: NOW + 400 * DAY, toMs: NOW + 401 * DAY };
    const { windows, knownUntilMs } = aheadAt(NOW, [cron('0 0 1 1 *', DAY), beyond, cron('0 22 * * *', HOUR)]);
    expect(knownUntilMs).toBe(NOW + 32 * DAY + 10 * HOUR);
    expect(windows).toHaveLength(32);
  });

  it('hold one that began before, however long ago', () => {
    expect(shown([cron('0 0 1 1 *', 200 * DAY)])).toEqual(['2027-01-01T00:00:00.000Z 2027-07-20T00:00:00.000Z']);
    expect(shown([cron('0 22 * * *', 8 * HOUR)], at('2027-06-01T05:59:59.999Z'))[0]).toBe(
      '2027-05-31T22:00:00.000Z 2027-06-01T06:00:00.000Z',
    );
    expect(shown([cron('0 22 * * *', 8 * HOUR)], at('2027-06-01T06:00:00Z'))[0]).toBe(
      '2027-06-01T22:00:00.000Z 2027-06-02T06:00:00.000Z',
    );
  });

  it.each([
    ['every minute', 1, '* * * * *', 30_000],
    ['every second', 1, '* * * * * *', 500],
    ['in a thousand rules', 1_000, '*/7 * * * *', MINUTE],
  ])('are no more than a hundred ahead, and known less far where they come %s', (_, count, expression, durationMs) => {
    const from = cpuMs();
    const { windows, knownUntilMs, moreAtMs } = aheadAt(NOW, Array(count).fill(cron(expression, durationMs)));
    expect(cpuMs() - from).toBeLessThan(3_000);
    expect(windows.length).toBeLessThanOrEqual(100);
    expect(windows.length).toBeGreaterThanOrEqual(50);
    expect(knownUntilMs).toBeGreaterThan(windows.at(-1)!.fromMs);
    expect(moreAtMs).toBeGreaterThan(NOW);
    expect(moreAtMs).toBeLessThan(knownUntilMs);
  });

  it('that come once are known as far as a hundred of them reach, and more are wanted after half of that', () => {
    const rules = Array.from({ length: 101 }, (_, i) => ({ fromMs: NOW + i * DAY, toMs: NOW + i * DAY + HOUR }));
    expect(windowsAt(NOW, rules)).toEqual({
      windows: rules.slice(0, 100),
      knownUntilMs: NOW + 100 * DAY,
      moreAtMs: NOW + 50 * DAY,
    });
    expect(windowsAt(NOW + HOUR, rules)).toMatchObject({ windows: rules, moreAtMs: undefined });
  });

  it('are known ahead of now where a long one is begun by very many occurrences', () => {
    // Half a day of seconds, each of which would shut the queue for a third of a day.
    const { windows, knownUntilMs } = windowsAt(NOW, [cron('* * 0-11 * * *', 8 * HOUR)]);
    expect(windows[0]!.toMs).toBe(at('2027-06-01T19:59:59Z'));
    expect(knownUntilMs).toBeGreaterThan(NOW);
  });

  it('that are over are those of the last day, and of very many the latest fifty', () => {
    const overOf = (rule: BlackoutRule) => windowsAt(NOW, [rule]).windows.filter(({ toMs }) => toMs <= NOW);
    expect(overOf(cron('0 * * * *', MINUTE))).toHaveLength(24);
    const many = overOf(cron('* * * * * *', 500));
    expect(many).toHaveLength(50);
    expect(many.at(-1)!.fromMs).toBe(NOW - 1_000);
  });

  it('go on without a gap where they are computed anew when more are wanted', () => {
    const rules = [cron('15 */5 * * 1-6', 2 * HOUR, 'America/New_York'), cron('0 22 * * *', 9 * HOUR, 'Asia/Tokyo')];
    const isOn = (windows: readonly { fromMs: number; toMs: number }[], ms: number) =>
      windows.some(({ fromMs, toMs }) => fromMs <= ms && ms < toMs);
    const first = windowsAt(NOW, rules);
    const second = windowsAt(first.moreAtMs!, rules);
    for (let ms = first.moreAtMs!; ms < first.knownUntilMs; ms += 7 * MINUTE)
      expect([ms, isOn(second.windows, ms)]).toEqual([ms, isOn(first.windows, ms)]);
  });
});

describe('where the clocks change, a blackout lasts as long as ever in real time', () => {
  const paris = (expression: string, durationMs: number, from: string) =>
    shown([cron(expression, durationMs, 'Europe/Paris')], at(from))[0];

  it('also where it begins before the change and ends after it', () => {
    // 22:00 to 07:00 by the clock in spring, to 05:00 in autumn.
    expect(paris('0 22 * * *', 8 * HOUR, '2027-03-27T12:00:00Z')).toBe(
      '2027-03-27T21:00:00.000Z 2027-03-28T05:00:00.000Z',
    );
    expect(paris('0 22 * * *', 8 * HOUR, '2027-10-30T12:00:00Z')).toBe(
      '2027-10-30T20:00:00.000Z 2027-10-31T04:00:00.000Z',
    );
  });

  it('and one whose beginning is skipped begins an hour later by the clock, one whose beginning comes twice at the first', () => {
    expect(paris('30 2 * * *', HOUR, '2027-03-27T12:00:00Z')).toBe('2027-03-28T01:30:00.000Z 2027-03-28T02:30:00.000Z');
    const autumn = shown([cron('30 2 * * *', HOUR, 'Europe/Paris')], at('2027-10-30T12:00:00Z'));
    expect(autumn.slice(0, 2)).toEqual([
      '2027-10-31T00:30:00.000Z 2027-10-31T01:30:00.000Z',
      '2027-11-01T01:30:00.000Z 2027-11-01T02:30:00.000Z',
    ]);
  });
});
