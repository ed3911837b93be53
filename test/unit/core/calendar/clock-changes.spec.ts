import { describe, expect, it } from '@jest/globals';
import { type Occurrence, occurrencesAfter } from '../../../../lib/core/calendar/occurrences.js';
import { readRule } from '../../../../lib/core/calendar/read-rule.js';
import { seededRandom } from '../../../support/random.js';
import { clockTable, expectedOccurrences, jumpsOf } from './oracle.js';
import { randomCron } from './random-rule.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const RULES_A_CHANGE = 60;

/** All in the past, where data of any version agree. By how many minutes the clock was put forward. */
const CHANGES: [zone: string, day: string, minutes: number][] = [
  ['Europe/Paris', '2024-03-31', 60],
  ['Europe/Paris', '2024-10-27', -60],
  ['Europe/Dublin', '2024-03-31', 60],
  ['America/New_York', '2024-03-10', 60],
  ['America/New_York', '2024-11-03', -60],
  // By half an hour, or a quarter.
  ['Australia/Lord_Howe', '2024-10-06', 30],
  ['Australia/Lord_Howe', '2024-04-07', -30],
  ['America/Caracas', '2016-05-01', 30],
  ['Asia/Kathmandu', '1986-01-01', 15],
  // By two hours, by three.
  ['Antarctica/Troll', '2024-03-31', 120],
  ['Antarctica/Troll', '2024-10-27', -120],
  ['Antarctica/Casey', '2020-10-04', 180],
  // At midnight, or across it.
  ['America/Havana', '2024-03-10', 60],
  ['America/Havana', '2024-11-03', -60],
  ['Asia/Beirut', '2024-03-31', 60],
  ['Asia/Beirut', '2024-10-27', -60],
  ['America/Sao_Paulo', '2018-11-04', 60],
  ['America/Sao_Paulo', '2018-02-18', -60],
  ['Africa/Cairo', '2024-04-26', 60],
  ['Africa/Cairo', '2024-11-01', -60],
  ['Asia/Tehran', '2022-03-22', 60],
  ['Asia/Tehran', '2022-09-22', -60],
  ['Asia/Pyongyang', '2018-05-05', 30],
  ['America/St_Johns', '2010-03-14', 60],
  ['America/St_Johns', '2010-11-07', -60],
  ['America/Nuuk', '2024-03-31', 60],
  // A whole day left out.
  ['Pacific/Apia', '2011-12-30', 1440],
  ['Pacific/Kwajalein', '1993-08-21', 1440],
  // Before and after Ramadan.
  ['Africa/Casablanca', '2024-03-10', -60],
  ['Africa/Casablanca', '2024-04-14', 60],
  // No change at all, and changes of the zone itself.
  ['Asia/Tokyo', '2024-03-31', 0],
  ['Europe/Volgograd', '2020-12-27', -60],
  ['Pacific/Easter', '2024-04-07', -60],
];

describe.each(CHANGES)('%s, %s: the clock is put forward by %d minutes', (zone, day, minutes) => {
  const midnight = Date.parse(day);
  const table = clockTable(zone, midnight - 3 * DAY, midnight + 3 * DAY);
  const [jump] = jumpsOf(table);

  it('is a change that the data know', () => {
    if (minutes === 0) return expect(jump).toBeUndefined();
    const index = (jump! - table.fromMs) / 60_000;
    expect((table.shown[index]! - table.shown[index - 1]!) / 60_000 - 1).toBe(minutes);
  });

  it('random rules name the instants that brute force finds, wall times and exclusions included', () => {
    const random = seededRandom(midnight / DAY + minutes);
    const near = jump === undefined ? midnight : table.shown[(jump - table.fromMs) / 60_000 - 1]!;
    let compared = 0;
    for (let i = 0; i < RULES_A_CHANGE; i++) {
      const cron = randomCron(random, near);
      const { exclude, isExcluded } = randomExclusions(random, jump ?? midnight, near);
      const from = table.fromMs + DAY + Math.floor(random() * DAY);
      const until = table.toMs - DAY;
      const expected = expectedOccurrences(cron, table, isExcluded).filter(({ atMs }) => atMs > from && atMs <= until);
      const rule = i % 2 ? { cron, timeZone: zone, exclude, endAt: until } : { cron, timeZone: zone, exclude };
      // As text: `toEqual` would take most of the time of this file.
      expect(told(rule, foundIn(rule, from, until))).toBe(told(rule, expected));
      compared += expected.length;
    }
    expect(compared).toBeGreaterThan(1_000);
  });
});

const told = (rule: object, found: readonly Occurrence[]) =>
  JSON.stringify([rule, ...found.map(({ atMs, wallMs }) => `${atMs} ${wallMs}`)], null, 1);

function foundIn(rule: object, fromMs: number, untilMs: number): Occurrence[] {
  const found: Occurrence[] = [];
  let timing: Parameters<typeof occurrencesAfter>[0];
  try {
    timing = readRule(rule, 'test').timing;
  } catch (error) {
    if (/names no instant/.test((error as Error).message)) return [];
    throw error;
  }
  for (const occurrence of occurrencesAfter(timing, fromMs)) {
    if (occurrence.atMs > untilMs) break;
    found.push(occurrence);
  }
  return found;
}

/** In two of three rules nothing; else days and instants near the change. */
function randomExclusions(random: () => number, atMs: number, wallMs: number) {
  const kind = Math.floor(random() * 9);
  const dayText = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const from = Math.round((atMs + (random() - 0.5) * 12 * HOUR) / 60_000) * 60_000;
  const to = from + Math.ceil(random() * 300) * 60_000;
  const dayOf = (wall: number) => Math.floor(wall / DAY);
  if (kind === 0) {
    return { exclude: [dayText(wallMs)], isExcluded: (_at: number, wall: number) => dayOf(wall) === dayOf(wallMs) };
  }
  if (kind === 1) {
    const exclude = [{ from: dayText(wallMs), to: dayText(wallMs + DAY) }];
    return { exclude, isExcluded: (_at: number, wall: number) => [0, 1].includes(dayOf(wall) - dayOf(wallMs)) };
  }
  if (kind === 2) {
    const exclude = [{ from, to }, new Date(from - HOUR)];
    return { exclude, isExcluded: (at: number) => (at >= from && at < to) || at === from - HOUR };
  }
  return { exclude: [], isExcluded: () => false };
}
