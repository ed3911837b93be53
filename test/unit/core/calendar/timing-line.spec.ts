import { describe, expect, it } from '@jest/globals';
import { readRule } from '../../../../lib/core/calendar/read-rule.js';
import type { RecurrenceRule } from '../../../../lib/core/calendar/rule.js';
import { timingLine } from '../../../../lib/core/calendar/timing-line.js';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const lineOf = (rule: RecurrenceRule) => timingLine(readRule(rule, 'rule').timing, NOW);

describe('the line of a rule at start says', () => {
  it.each<[string, RecurrenceRule, string]>([
    [
      'the zone and its offset',
      { cron: '30 2 * * *', timeZone: 'Europe/Berlin' },
      `cron '30 2 * * *' Europe/Berlin, next 2026-11-24T02:30+01:00`,
    ],
    [
      'an offset behind UTC that is no whole hour',
      { cron: '0 9 * * *', timeZone: 'America/St_Johns' },
      `cron '0 9 * * *' America/St_Johns, next 2026-11-23T09:00-03:30`,
    ],
    ['UTC where no zone is given', { cron: '30 2 * * *' }, `cron '30 2 * * *' UTC, next 2026-11-24T02:30Z`],
    ['seconds where there are any', { cron: '15 0 3 * * *' }, `cron '15 0 3 * * *' UTC, next 2026-11-24T03:00:15Z`],
    ['an interval', { everyMs: '1h', offsetMs: 250 }, 'everyMs 3600000, offsetMs 250, next 2026-11-23T12:00:00.250Z'],
    [
      'what exclude leaves out',
      { cron: '30 2 * * *', exclude: ['2026-11-24'] },
      `cron '30 2 * * *' UTC, next 2026-11-25T02:30Z`,
    ],
    [
      'that it has ended',
      { cron: '30 2 * * *', endAt: '2026-11-01T00:00:00Z' },
      `cron '30 2 * * *' UTC, no further instant`,
    ],
  ])('%s', (_, rule, line) => {
    expect(lineOf(rule)).toBe(line);
  });
});
