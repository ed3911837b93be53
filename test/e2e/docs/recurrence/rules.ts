import {
  nextOccurrences,
  type RecurrenceRule,
} from 'nestjs-redis-scheduled-queue';

/** Each working day at nine, Paris time, but not between Christmas and New Year. */
export const workdays: RecurrenceRule = {
  cron: '0 9 * * MON-FRI',
  timeZone: 'Europe/Paris',
  exclude: [{ from: '2027-12-24', to: '2028-01-02' }],
};

/** Each quarter of an hour, five minutes after it, independent of any time zone. */
export const quarters: RecurrenceRule = { everyMs: '15m', offsetMs: '5m' };

/** What a form may show before the rule is saved. Nothing is asked of Redis. */
export function preview(rule: RecurrenceRule, from: Date): Date[] {
  return nextOccurrences(rule, { from, count: 3 });
}
