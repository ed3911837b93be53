import type { Command } from '../command.js';
import { table } from '../text/table.js';
import { fromNow } from '../text/time.js';

const LIMIT = 100;

export const workers: Command = {
  operands: '<queue>',
  takes: { queue: 'needed', more: 0 },
  summary: 'the live workers: where they are, how busy, and what they handle',
  options: ['limit'],
  async run({ queue, options: { limit = LIMIT }, instance, style, next }) {
    const all = await instance.inspector.workers({ queue });
    const shown = all.slice(0, limit);
    const nowMs = await instance.now();
    return {
      json: shown,
      text: () => {
        if (shown.length === 0)
          return `Queue '${queue}' has no live worker.\n\n${next(['What waits there', 'list', queue])}`;
        const rows = shown.map(({ id, host, pid, running, concurrency, stuck, handles, lastSeenAt }) => {
          const numbers = [running, concurrency, stuck].map(String);
          return [id, ...numbers, fromNow(lastSeenAt, nowMs), `${host}:${pid}`, handles.join(' ')];
        });
        return `${table(COLUMNS, rows, style)}\n\n${next(
          ['What runs there', 'list', queue, 'active'],
          ['Their options and versions', 'workers', queue, '--json'],
        )}`;
      },
      notes:
        all.length > limit ? [`These are ${limit} of ${all.length} workers: --limit ${all.length} shows all.`] : [],
    };
  },
};

const COLUMNS = [
  { title: 'worker' },
  // Two columns: `running` counts jobs and `concurrency` weight, and with `batch` a hundred jobs may take one place.
  { title: 'running', side: 'right' },
  { title: 'concurrency', side: 'right' },
  { title: 'stuck', side: 'right' },
  { title: 'seen' },
  { title: 'host:pid', most: 24 },
  { title: 'handles', most: 'rest' },
] as const;
