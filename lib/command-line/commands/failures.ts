import type { InspectedJob } from '../../api/inspection/inspected-job.js';
import type { Command, Next } from '../command.js';
import { lastError } from '../text/jobs.js';
import { table } from '../text/table.js';
import { fromNow } from '../text/time.js';

const LIMIT = 100;
const JOBS_A_CALL = 1_000;
/** No more dead jobs are looked at, which takes some ten seconds: ten times as many as a queue keeps unless it is told otherwise. */
const MOST_LOOKED_AT = 100_000;

/** Dead jobs of one name that died for one reason, with one error. */
interface Kind {
  name: string;
  reason: string;
  /** What the last attempt failed with, in one line; '' where there was none. */
  error: string;
  count: number;
  lastAt: Date;
  /** The one that died last. */
  jobId: string;
}

export const failures: Command = {
  operands: '<queue>',
  takes: { queue: 'needed', more: 0 },
  summary: 'the dead jobs, counted by name, reason and error, most first',
  options: ['limit'],
  async run({ queue, options: { limit = LIMIT }, instance, style, next }) {
    const kinds = new Map<string, Kind>();
    let looked = 0;
    let cursor: string | undefined;
    do {
      const page = await instance.inspector.find({ queue, states: ['dead'], limit: JOBS_A_CALL, cursor });
      for (const job of page.jobs) add(kinds, job);
      looked += page.jobs.length;
      cursor = page.cursor;
    } while (cursor !== undefined && looked < MOST_LOOKED_AT);
    const all = [...kinds.values()].sort((a, b) => b.count - a.count || b.lastAt.getTime() - a.lastAt.getTime());
    const shown = all.slice(0, limit);
    const nowMs = await instance.now();
    const notes: string[] = [];
    if (cursor !== undefined) notes.push(`Only ${looked} dead jobs were looked at, and there are more.`);
    if (all.length > limit) notes.push(`These are ${limit} of ${all.length} kinds: --limit ${all.length} shows all.`);
    return {
      json: shown,
      text: () => {
        const [first] = shown;
        if (!first) return `Queue '${queue}' has no dead job.\n\n${next(['How it is', 'stats', queue])}`;
        const rows = shown.map(({ jobId, count, lastAt, name, reason }) => {
          return [jobId, String(count), fromNow(lastAt, nowMs), name, reason];
        });
        const errors = shown.map(({ error }) => error);
        const commands: Next[] = [
          ['All that is known of one of the most frequent kind', 'show', queue, first.jobId],
          ['To run those of that kind again, once the cause is mended', ...replay(queue, first)],
        ];
        return `${table(COLUMNS, rows, style, errors)}\n\n${next(...commands)}`;
      },
      notes,
    };
  },
};

const COLUMNS = [
  { title: 'one of them' },
  { title: 'count', side: 'right' },
  { title: 'last died' },
  { title: 'name', most: 40 },
  { title: 'reason' },
] as const;

function add(kinds: Map<string, Kind>, job: InspectedJob): void {
  const { id: jobId, name, reason = '', endedAt: lastAt = job.dueAt } = job;
  const error = lastError(job);
  const key = JSON.stringify([name, reason, error]);
  const kind = kinds.get(key);
  if (!kind) kinds.set(key, { name, reason, error, count: 1, lastAt, jobId });
  else {
    kind.count++;
    if (lastAt > kind.lastAt) Object.assign(kind, { lastAt, jobId });
  }
}

/** By what a filter of dead jobs knows. Content that is lost has taken the name along. */
function replay(queue: string, { name, reason }: Kind): string[] {
  return [
    'replay-dead',
    queue,
    ...(name === '' ? [] : ['--name', name]),
    ...(reason === '' ? [] : ['--reason', reason]),
  ];
}
