import type { Command } from '../command.js';
import { table } from '../text/table.js';
import { fromNow } from '../text/time.js';

const LIMIT = 100;

export const sets: Command = {
  operands: '<queue>',
  takes: { queue: 'needed', more: 0 },
  summary: 'the sets: how many of their members are pending, and how the others have ended',
  options: ['limit'],
  async run({ queue, options: { limit = LIMIT }, instance, style, next }) {
    const all = await instance.inspector.sets({ queue, limit });
    const nowMs = await instance.now();
    return {
      json: all,
      text: () => {
        const [first] = all;
        if (!first) return `Queue '${queue}' has no set.\n\n${next(['How it is', 'stats', queue])}`;
        const rows = all.map((set) => [
          set.id,
          set.state,
          ...[set.total, set.pending, set.completed, set.dead, set.discarded, set.cancelled].map(String),
          fromNow(set.openedAt, nowMs),
        ]);
        return `${table(COLUMNS, rows, style)}\n\n${next(
          ['The pending members of the first', 'find', queue, '--set', first.id],
          ['Its dead members', 'find', queue, '--set', first.id, '--state', 'dead'],
        )}`;
      },
      notes:
        all.length < limit ? [] : [`These are ${limit} sets, and there may be more: --limit ${10 * limit} shows them.`],
    };
  },
};

const COLUMNS = [
  { title: 'id' },
  { title: 'state' },
  { title: 'total', side: 'right' },
  { title: 'pending', side: 'right' },
  { title: 'completed', side: 'right' },
  { title: 'dead', side: 'right' },
  { title: 'discarded', side: 'right' },
  { title: 'cancelled', side: 'right' },
  { title: 'opened' },
] as const;
