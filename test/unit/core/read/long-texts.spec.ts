import { describe, expect, it } from '@jest/globals';
import { readBlackouts } from '../../../../lib/core/blackouts/read-blackouts.js';
import { readRule } from '../../../../lib/core/calendar/read-rule.js';
import type { RecurrenceRule } from '../../../../lib/core/calendar/rule.js';
import { JobOutcome } from '../../../../lib/core/job/outcome.js';
import { readDeadFilter } from '../../../../lib/core/options/dead-filter.js';
import { readFind } from '../../../../lib/core/options/find-options.js';
import { readRef } from '../../../../lib/core/options/job-ref.js';
import { readSchedule, type ScheduleOptions } from '../../../../lib/core/options/schedule-options.js';
import { readStream } from '../../../../lib/core/options/stream-options.js';
import { cpuMs } from '../../../support/cpu-time.js';
import { thrown } from '../../thrown.js';

const LENGTH = 1_000_000;
const long = (piece: string, end = '') => piece.repeat(LENGTH / piece.length) + end;
const TEXTS = [
  long('a'),
  long('1'),
  long(' ', '10m'),
  long('\n'),
  long('1,', '1 * * * *'),
  `0 0 0 1 1 * ${long('1-9999,', '1')}`,
  long('1/5,', '1 * * * *'),
  `2027-01-01T09:00:00.${long('1', 'Z')}`,
  `2027-01-01T09:00:${long('T', '+01')}`,
];
/** A list of a million items. */
const items = (item: (i: number) => unknown) => Array.from({ length: LENGTH }, (_, i) => item(i)) as never;

const schedule = (options: object) => readSchedule('ping', options as ScheduleOptions);
const rule = (fields: object) => readRule(fields as RecurrenceRule, 'rule');

/** Each way in for a text that may come from a form. */
const READERS: [string, (text: string) => unknown][] = [
  ['a name', (text) => readSchedule(text, undefined)],
  ['at', (text) => schedule({ at: text })],
  ['delay', (text) => schedule({ delay: text })],
  ['id', (text) => schedule({ id: text })],
  ['worker', (text) => schedule({ worker: text })],
  ['a queue', (text) => schedule({ queue: text })],
  ['a tag', (text) => schedule({ tags: [text] })],
  ['a header', (text) => schedule({ headers: { tenant: text } })],
  ['the name of a header', (text) => schedule({ headers: { [text]: 1 } })],
  ['onLate', (text) => schedule({ onLate: text })],
  ['the name of an option', (text) => schedule({ [text]: 1 })],
  ['a ref', (text) => readRef(text, undefined, 'cancel')],
  ['snooze', (text) => JobOutcome.snooze(text as never)],
  ['cron', (text) => rule({ cron: text })],
  ['timeZone', (text) => rule({ cron: '@daily', timeZone: text })],
  ['everyMs', (text) => rule({ everyMs: text })],
  ['an excluded time', (text) => rule({ everyMs: 1_000, exclude: [text] })],
  ['the zone of a blackout', (text) => readBlackouts([{ cron: '@daily', timeZone: text, durationMs: 1 }], 'set')],
  ['the name of a field of a blackout', (text) => readBlackouts([{ [text]: 1 }], 'set')],
  ['idPrefix', (text) => readFind({ idPrefix: text })],
  ['a reason', (text) => readDeadFilter({ reason: text as never }, undefined, 'purgeDead')],
  ['from', (text) => readStream({ from: text })],
];

/**
 * A million characters are looked at in 20 ms at most, however slow the machine. Comparing them with each name of a zone took 100 s,
 * and reading as many ranges of years 40 s; half a second lies between the two by orders of magnitude.
 */
const MS = 500;

describe('a text of a million characters is refused at once, in a short message', () => {
  it.each(READERS)('as %s', (_, read) => {
    for (const text of TEXTS) {
      const startedAt = cpuMs();
      const { message } = thrown<Error>(() => read(text));
      expect(message.length).toBeLessThan(600);
      expect(cpuMs() - startedAt).toBeLessThan(MS);
    }
  });
});

describe('a list of a million items is refused before each of them is read', () => {
  it.each<[string, () => unknown, string]>([
    ['tags', () => schedule({ tags: items(() => 'vip') }), 'got 1000000 tags, expected at most 16'],
    ['states', () => readFind({ states: items(() => 'due') }), 'got 1000000 states, expected each of them once'],
    [
      'excluded times',
      () => rule({ everyMs: 1_000, exclude: items((i) => 1e12 + i) }),
      'exclude: got 1000000 items, expected at most 10000; a range is one item',
    ],
  ])('as %s', (_, read, message) => {
    expect(thrown<Error>(read).message).toContain(message);
  });
});

it('texts as long as they may be are read', () => {
  const seconds = Array.from({ length: 60 }, (_, i) => i).join(',');
  expect(rule({ cron: `${seconds} ${seconds} * * * *` }).timing.cron).toContain('58,59 0,1');
  expect(schedule({ at: `2027-01-01T09:00:00.${'1'.repeat(40)}Z` }).due).toEqual({ at: 1_798_794_000_111 });
  expect(schedule({ delay: `${' '.repeat(90)}10m` }).due).toEqual({ delayMs: 600_000 });
  expect(schedule({ headers: { tenant: 'x'.repeat(4_000) } }).settings.headers).toBeDefined();
});
