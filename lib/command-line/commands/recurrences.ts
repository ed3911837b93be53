import type { RecurrenceView } from '../../api/recurrence/recurrence-view.js';
import { span } from '../../core/read/duration.js';
import type { Command } from '../command.js';
import { table } from '../text/table.js';
import { fromNow } from '../text/time.js';

const LIMIT = 100;

export const recurrences: Command = {
  operands: '<queue>',
  takes: { queue: 'needed', more: 0 },
  summary: 'the recurrences: their rules, and when they run next',
  options: ['offset', 'limit'],
  async run({ queue, options: { offset = 0, limit = LIMIT }, instance, redaction, style, next }) {
    const all = await instance.producer.recurrences({ queue, offset, limit });
    const nowMs = await instance.now();
    return {
      json: all.map((recurrence) => redaction.redactJob(recurrence)),
      text: () => {
        const [first] = all;
        if (!first) return `Queue '${queue}' has no recurrence.\n\n${next(['How it is', 'stats', queue])}`;
        const when = (at: Date | null) => (at ? fromNow(at, nowMs) : '-');
        const rows = all.map((each) => {
          return [
            each.id,
            each.state,
            when(each.nextAt),
            when(each.lastAt),
            String(each.count),
            each.name,
            ruleOf(each),
          ];
        });
        return `${table(COLUMNS, rows, style)}\n\n${next(
          ['To run one now, beside its rule', 'run-now', queue, '--recurrence', first.id],
          ['To pause one', 'pause', queue, '--recurrence', first.id],
        )}`;
      },
      notes:
        all.length < limit
          ? []
          : [`These are ${limit} recurrences, and there may be more: --offset ${offset + limit} goes on.`],
    };
  },
};

const COLUMNS = [
  { title: 'id' },
  { title: 'state' },
  { title: 'next' },
  { title: 'last' },
  { title: 'count', side: 'right' },
  { title: 'name', most: 24 },
  { title: 'rule', most: 'rest' },
] as const;

function ruleOf({ rule }: RecurrenceView): string {
  return rule.cron === undefined ? `every ${span(rule.everyMs as number)}` : `${rule.cron} ${rule.timeZone ?? 'UTC'}`;
}
