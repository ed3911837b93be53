import { describe, expect, it } from '@jest/globals';
import { CronExpression } from '@nestjs/schedule';
import { parseRuleText, readRule, ruleText, toRecurrenceRule } from '../../../../lib/core/calendar/read-rule.js';
import { InvalidOptionsError, InvalidScheduleError } from '../../../../lib/core/errors.js';
import { cpuMs } from '../../../support/cpu-time.js';
import { thrown } from '../../thrown.js';

const DAILY = { cron: '0 9 * * *' };
const NEW_YEAR = Date.UTC(2027, 0, 1);
const FULL = {
  cron: '0  9 * * MON-FRI',
  timeZone: 'Europe/Paris',
  startAt: '2027-01-01T00:00:00Z',
  endAt: new Date(NEW_YEAR + 1e10),
  limit: 3,
  onMissed: 'all',
  missedWithin: '2h',
  overlap: 'queue',
  jitterMs: '30s',
  exclude: [
    '2027-05-01',
    NEW_YEAR,
    { from: '2027-12-24', to: '2027-12-26' },
    { from: NEW_YEAR, to: new Date(NEW_YEAR + 1) },
  ],
};
const messageOf = (rule: unknown) => thrown(() => readRule(rule, 'upsertRecurrence')).message;

it('a rule is read into the form in which it is used', () => {
  expect(readRule(FULL, 'test')).toEqual({
    timing: {
      cron: '0 9 * * MON-FRI',
      timeZone: 'Europe/Paris',
      offsetMs: 0,
      startAtMs: NEW_YEAR,
      endAtMs: NEW_YEAR + 1e10,
      exclude: expect.arrayContaining([
        '2027-05-01',
        NEW_YEAR,
        { from: '2027-12-24', to: '2027-12-26' },
        { from: NEW_YEAR, to: NEW_YEAR + 1 },
      ]),
    },
    limit: 3,
    onMissed: 'all',
    missedWithinMs: 7_200_000,
    overlap: 'queue',
    jitterMs: 30_000,
  });
});

it('what is not given has its default', () => {
  const policy = { onMissed: 'once', overlap: 'allow', jitterMs: 0 };
  expect(readRule(DAILY, 'test')).toEqual({
    timing: { cron: '0 9 * * *', timeZone: 'UTC', offsetMs: 0, exclude: [] },
    ...policy,
  });
  expect(readRule({ everyMs: '1h' }, 'test')).toEqual({
    timing: { everyMs: 3_600_000, timeZone: 'UTC', offsetMs: 0, exclude: [] },
    ...policy,
  });
});

it.each(Object.entries(CronExpression))('takes CronExpression.%s of @nestjs/schedule', (_name, cron) => {
  expect(readRule({ cron }, 'test').timing.cron).toBe(cron);
});

it.each([
  'Europe/Paris',
  'europe/paris',
  'UTC',
  'utc',
  'GMT',
  'EST',
  'Etc/GMT-2',
  'America/Argentina/Salta',
  'Asia/Calcutta',
  'Asia/Kolkata',
])('takes the zone %s', (timeZone) => {
  expect(readRule({ ...DAILY, timeZone }, 'test').timing.timeZone).toBe(timeZone);
});

describe('refused, with field, value and remedy:', () => {
  it.each<[string, unknown, RegExp]>([
    ['no object', '0 9 * * *', /: got "0 9 \* \* \*", expected a rule, \{ cron, … \} or \{ everyMs, … \}\.$/],
    ['both kinds', { ...DAILY, everyMs: 1000 }, /got both cron \('0 9 \* \* \*'\) and everyMs \(1000\), expected one/],
    ['neither kind', { timeZone: 'UTC' }, /: got neither cron nor everyMs, expected one of them\.$/],
    ['an unknown field', { ...DAILY, timezone: 'UTC' }, /: unknown option "timezone", did you mean 'timeZone'\?$/],
    [
      'a wrong number',
      { cron: '61 * * * *' },
      /: cron: got "61 \* \* \* \*", whose field minute is "61": expected 0 to 59/,
    ],
    [
      '0/5',
      { cron: '0/5 * * * *' },
      /: cron: .* field minute is "0\/5": expected a range before the step, write '\*\/5'\.$/,
    ],
    ['/5', { cron: '*  * /5 * * *' }, /: cron: .* field hour is "\/5": .* write '\*\/5'\.$/],
    ['5/15 in a list', { cron: '1,5/15 * * * *' }, /: cron: .* write '1,5-59\/15'\.$/],
    ['1/2 of days', { cron: '0 0 1/2 * *' }, /: cron: .* field day of month is "1\/2": .* write '\*\/2'\.$/],
    [
      'too few fields',
      { cron: '0 9 *' },
      /: cron: got "0 9 \*", expected five fields \(minute, .*seconds first, or seven/,
    ],
    ['a nickname', { cron: '@reboot' }, /: cron: got "@reboot", expected fields or one of @yearly/],
    ['no text', { cron: 5 }, /: cron: got 5, expected a cron expression such as/],
    ['a date', { cron: '2027-01-01T00:00:00Z' }, /: cron: got "2027-01-01T00:00:00Z", expected five fields/],
    [
      'an unknown zone',
      { ...DAILY, timeZone: 'Europe/Pari' },
      /: timeZone: got "Europe\/Pari", expected an IANA name .*did you mean 'Europe\/Paris'\?$/,
    ],
    [
      'an offset',
      { ...DAILY, timeZone: '+02:00' },
      /: timeZone: got "\+02:00", .*: an offset knows no daylight saving; .* 'Etc\/GMT-2'/,
    ],
    ['an offset from UTC', { ...DAILY, timeZone: 'UTC-5' }, /: timeZone: got "UTC-5", .*: an offset knows no/],
    ['no zone', { ...DAILY, timeZone: '' }, /: timeZone: got "", expected an IANA name/],
    ['null as a zone', { ...DAILY, timeZone: null }, /: timeZone: got null, expected an IANA name/],
    ['NaN', { everyMs: Number.NaN }, /: everyMs: got NaN, expected a finite number of milliseconds\.$/],
    ['Infinity', { everyMs: Number.POSITIVE_INFINITY }, /: everyMs: got Infinity, expected a finite/],
    ['too short an interval', { everyMs: 99 }, /: everyMs: got 99, expected at least 100 ms\.$/],
    ['a negative offset', { everyMs: 1000, offsetMs: -1 }, /: offsetMs: got -1, expected 0 or more/],
    [
      'an offset with cron',
      { ...DAILY, offsetMs: 5 },
      /: got offsetMs \(5\) with cron, expected it with everyMs only: write/,
    ],
    [
      'a zone with everyMs',
      { everyMs: 1000, timeZone: 'UTC' },
      /: got timeZone \('UTC'\) with everyMs, expected it with cron only/,
    ],
    ['a limit of 0', { ...DAILY, limit: 0 }, /: limit: got 0, expected a whole number of at least 1\.$/],
    [
      'another policy',
      { ...DAILY, onMissed: 'never' },
      /: onMissed: got "never", expected 'skip' or 'once' or 'all'\.$/,
    ],
    ['another overlap', { ...DAILY, overlap: true }, /: overlap: got true, expected 'allow' or 'skip' or 'queue'\.$/],
    ['a jitter without unit', { ...DAILY, jitterMs: '30' }, /: jitterMs: got "30", expected a number with a unit/],
    ['seconds', { ...DAILY, startAt: 1_800_000_000 }, /: startAt: got 1800000000, which looks like seconds/],
    ['an invalid Date', { ...DAILY, endAt: new Date(Number.NaN) }, /: endAt: got an invalid Date/],
    [
      'bounds that contradict',
      { ...DAILY, startAt: NEW_YEAR, endAt: NEW_YEAR - 1 },
      /: got endAt \(2026-12-31T23:59:59.999Z\) before startAt \(2027/,
    ],
    [
      'no array',
      { ...DAILY, exclude: '2027-01-01' },
      /: exclude: got "2027-01-01", expected an array, each an instant, a day/,
    ],
    [
      'a day that there is not',
      { ...DAILY, exclude: ['2027-02-30'] },
      /: exclude: item 0: got "2027-02-30", expected a day that there is/,
    ],
    [
      'an empty range',
      { ...DAILY, exclude: [{ from: NEW_YEAR, to: NEW_YEAR }] },
      /: exclude: item 0: got from .*expected 'to' to be later/,
    ],
    [
      'days backwards',
      { ...DAILY, exclude: [{ from: '2027-01-02', to: '2027-01-01' }] },
      /: exclude: item 0: .*'to' not to be before 'from'/,
    ],
    [
      'a day and an instant',
      { ...DAILY, exclude: [{ from: '2027-01-02', to: NEW_YEAR }] },
      /: exclude: item 0: .*two instants or two days/,
    ],
    ['half a range', { ...DAILY, exclude: [{ from: '2027-01-02' }] }, /: exclude: item 0: to: got undefined, expected/],
    [
      'more than a range',
      { ...DAILY, exclude: [{ from: '2027-01-02', till: 1 }] },
      /: exclude: item 0: unknown option "till"/,
    ],
    [
      'a day that never comes',
      { cron: '0 0 30 2 *' },
      /: cron: got '0 0 30 2 \*', which names no instant among 10000 wall times/,
    ],
    [
      'all of it excluded',
      { cron: '0 0 0 25 12 * 2027', exclude: ['2027-12-25'] },
      /which names no instant, with 1 excluded,? among/,
    ],
    [
      'nothing before endAt',
      { cron: '0 9 * * *', startAt: NEW_YEAR, endAt: NEW_YEAR + 1 },
      /names no instant from startAt \(2027-01-01T00.*\) on up to endAt/,
    ],
    [
      'nothing of an interval',
      { everyMs: '1h', startAt: NEW_YEAR + 1, endAt: NEW_YEAR + 2 },
      /: everyMs: got 3600000, which names no instant from/,
    ],
    ['years gone by', { cron: '0 0 0 1 1 * 2020', startAt: NEW_YEAR }, /which names no instant from startAt/],
  ])('%s', (_what, rule, message) => {
    expect(messageOf(rule)).toMatch(message);
    expect(messageOf(rule)).toMatch(/^upsertRecurrence: /);
  });

  it('a rule that never fires is refused in a moment', () => {
    const begun = cpuMs();
    for (const cron of ['0 0 31 4 *', '* * * 30 2 * 1-9999', '0 0 30 2 +1', '* * * 31 2,4,6,9,11 *'])
      expect(messageOf({ cron, timeZone: 'Europe/Paris' })).toMatch(/names no instant/);
    expect(cpuMs() - begun).toBeLessThan(5_000);
  });
});

it('the error is InvalidScheduleError, or what the caller makes of it', () => {
  expect(thrown(() => readRule({}, 'test'))).toBeInstanceOf(InvalidScheduleError);
  const refuse = (message: string) => new InvalidOptionsError(message);
  expect(thrown(() => readRule({}, 'test', refuse))).toBeInstanceOf(InvalidOptionsError);
});

it('a rule whose endAt has passed is read all the same, so that an application with an old one starts', () => {
  expect(readRule({ ...DAILY, endAt: '2020-01-01T00:00:00Z' }, 'test').timing.endAtMs).toBe(Date.UTC(2020, 0, 1));
});

describe('the text of a rule', () => {
  const textOf = (rule: unknown) => ruleText(readRule(rule, 'test'));

  it('leaves defaults out and sorts keys, so that equal rules have equal texts', () => {
    expect(textOf({ timeZone: 'UTC', cron: '0  9 * * *', onMissed: 'once', exclude: [], limit: undefined })).toBe(
      '{"cron":"0 9 * * *"}',
    );
    expect(textOf({ offsetMs: 3_600_000 + 5, everyMs: '1h', jitterMs: 0 })).toBe('{"everyMs":3600000,"offsetMs":5}');
    const reversed = Object.fromEntries(Object.entries(FULL).reverse());
    expect(textOf({ ...reversed, exclude: [...FULL.exclude, '2027-05-01'].reverse() })).toBe(textOf(FULL));
  });

  it.each([DAILY, FULL, { everyMs: 100, offsetMs: 1, overlap: 'skip', onMissed: 'skip' }])(
    'gives the rule back: %j',
    (given) => {
      const rule = readRule(given, 'test');
      expect(parseRuleText(ruleText(rule))).toEqual(rule);
      expect(readRule(toRecurrenceRule(rule), 'test')).toEqual(rule);
    },
  );

  it('is no longer than the rule', () => {
    expect(textOf({ everyMs: '1 day', missedWithin: '1h' })).toBe('{"everyMs":86400000,"missedWithinMs":3600000}');
  });
});

it('a rule is shown as a user would write it', () => {
  expect(toRecurrenceRule(readRule(FULL, 'test'))).toEqual({
    ...FULL,
    cron: '0 9 * * MON-FRI',
    startAt: new Date(NEW_YEAR),
    missedWithin: 7_200_000,
    jitterMs: 30_000,
    exclude: expect.arrayContaining([
      '2027-05-01',
      new Date(NEW_YEAR),
      { from: '2027-12-24', to: '2027-12-26' },
      { from: new Date(NEW_YEAR), to: new Date(NEW_YEAR + 1) },
    ]),
  });
  expect(toRecurrenceRule(readRule(DAILY, 'test'))).toEqual(DAILY);
});
