import { describe, expect, it } from '@jest/globals';
import { readBlackouts } from '../../../../lib/core/blackouts/read-blackouts.js';
import { InvalidOptionsError } from '../../../../lib/index.js';
import { cpuMs } from '../../../support/cpu-time.js';
import { thrown } from '../../thrown.js';

const read = (...blackouts: unknown[]) => readBlackouts(blackouts, 'setBlackouts');

describe('a list of blackouts', () => {
  it('is read in its order, whatever form its instants and durations have', () => {
    const from = new Date('2027-01-01T00:00:00Z');
    expect(
      read(
        { from, to: from.getTime() + 1 },
        { from: '2027-01-01T00:00:00+01:00', to: from },
        { cron: '0 22 * * *', durationMs: '8h' },
        { cron: '0 22 * * MON-FRI', durationMs: 1, timeZone: 'Europe/Paris' },
        { from, to: from.getTime() + 5 },
      ),
    ).toEqual([
      { fromMs: from.getTime(), toMs: from.getTime() + 1 },
      { fromMs: from.getTime() - 3_600_000, toMs: from.getTime() },
      { cron: '0 22 * * *', durationMs: 28_800_000, timeZone: 'UTC' },
      { cron: '0 22 * * MON-FRI', durationMs: 1, timeZone: 'Europe/Paris' },
      { fromMs: from.getTime(), toMs: from.getTime() + 5 },
    ]);
    expect(read()).toEqual([]);
  });

  it.each([
    [
      'no list',
      undefined,
      'setBlackouts: got undefined, expected an array of blackouts; an empty one ends all of them.',
    ],
    ['one alone', { from: 1e12, to: 2e12 }, 'setBlackouts: got an object, expected an array'],
    ['too many', Array(1_001).fill({ from: 1e12, to: 2e12 }), 'got 1001 blackouts, expected at most 1000.'],
    ['a hole', Array(1), 'setBlackouts: blackout 0: got undefined, expected { from, to } or { cron, durationMs'],
    ['a text', ['0 22 * * *'], `blackout 0: got "0 22 * * *", expected { from, to } or`],
    ['a range that is over at once', [{ from: 1e12, to: 1e12 }], 'is not before to (2001-09-09T01:46:40.000Z)'],
    ['a range the wrong way round', [{ from: 2e12, to: 1e12 }], 'blackout 0: from (2033-05-18T03:33:20.000Z) is not'],
    ['seconds', [{ from: 1e9, to: 2e9 }], 'blackout 0: from: got 1000000000, which looks like seconds'],
    ['NaN', [{ from: 1e12, to: Number.NaN }], 'blackout 0: to: got NaN, expected epoch milliseconds'],
    ['a day without a time', [{ from: '2027-01-01', to: 2e12 }], `from: got "2027-01-01", expected a Date`],
    ['no end', [{ from: 1e12 }], 'blackout 0: to: got undefined, expected an instant'],
    ['no beginning', [{ to: 1e12 }], 'blackout 0: from: got undefined, expected an instant'],
    [
      'fields of both kinds',
      [{ from: 1e12, to: 2e12, durationMs: 5 }],
      'got fields of both kinds (from, to, durationMs)',
    ],
    ['no field of either', [{}], 'got an object without any of these fields (), expected { from, to } or'],
    ['a field that is none', [{ from: 1e12, too: 2e12 }], `unknown option "too", did you mean 'to'?`],
    [
      'another one',
      [{ cron: '@daily', durationMs: 1, limit: 2 }],
      `unknown option "limit", known are cron, durationMs`,
    ],
    ['no cron', [{ durationMs: 1 }], `blackout 0: cron: got undefined, expected the beginnings of the blackout`],
    ['no duration', [{ cron: '@daily' }], 'blackout 0: durationMs: got undefined, expected how long it lasts'],
    ['a duration of 0', [{ cron: '@daily', durationMs: 0 }], 'durationMs: got 0, expected at least 1 ms'],
    [
      'a duration of NaN',
      [{ cron: '@daily', durationMs: Number.NaN }],
      'durationMs: got NaN, expected a finite number',
    ],
    ['a duration without a unit', [{ cron: '@daily', durationMs: '8' }], `durationMs: got "8", expected a number with`],
    ['a duration of years', [{ cron: '@yearly', durationMs: '2 years' }], 'durationMs: got'],
    ['a cron that is none', [{ cron: '61 * * * *', durationMs: 1 }], 'setBlackouts: blackout 0: cron: got'],
    ['a cron of another type', [{ cron: 5, durationMs: 1 }], 'setBlackouts: blackout 0: cron: got 5'],
    ['a cron that never comes', [{ cron: '0 0 30 2 *', durationMs: 1 }], 'setBlackouts: blackout 0: '],
    ['an unknown zone', [{ cron: '@daily', durationMs: 1, timeZone: 'Mars' }], 'blackout 0: timeZone: got'],
    ['an offset for a zone', [{ cron: '@daily', durationMs: 1, timeZone: '+02:00' }], 'blackout 0: timeZone: got'],
    [
      'what is wrong with the second',
      [{ from: 1e12, to: 2e12 }, null],
      'setBlackouts: blackout 1: got null, expected {',
    ],
  ])('is refused where it is or holds %s', (_, given, message) => {
    const error = thrown(() => readBlackouts(given, 'setBlackouts'));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error).toHaveProperty('message', expect.stringContaining(message));
  });

  it.each([
    ['* * * * *', 60_000],
    ['0 * * * *', '1h'],
    ['0 * * * *', '3h'],
    ['0 0 * * *', '1 day'],
    ['0 0 * * 1,4', '4 days'],
    ['0 0 1 * *', '31 days'],
    ['0 0 1 1 *', '366 days'],
  ])('is refused where a blackout would never end: %s for %s', (cron, durationMs) => {
    expect(() => read({ cron, durationMs })).toThrow(
      /^setBlackouts: blackout 0: durationMs: got \d+ ms, after which it would always have begun again.* pause it\.$/,
    );
  });

  it.each([
    ['* * * * *', 59_999],
    ['0 8-18 * * *', '1h'],
    ['0 0 * * 1-5', '1 day'],
    ['0 0 1 * *', '30 days'],
    ['0 0 1 1 *', '365 days'],
    ['0 0 0 1 1 * 2030-2035', '366 days'],
    ['0 0 29 2 *', '366 days'],
  ])('is taken where a blackout ends once in a while: %s for %s', (cron, durationMs) => {
    expect(read({ cron, durationMs })).toHaveLength(1);
  });

  it('of a thousand blackouts is read in a moment', () => {
    const from = cpuMs();
    read(...Array.from({ length: 1_000 }, (_, i) => ({ cron: `${i % 60} ${i % 24} * * *`, durationMs: '5m' })));
    expect(cpuMs() - from).toBeLessThan(2_000);
  });
});
