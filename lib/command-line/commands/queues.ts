import type { QueueLoad } from '../../api/inspection/queue-load.js';
import type { InspectedQueue } from '../../api/inspection/queue-reader.js';
import { QueueUnavailableError } from '../../core/errors.js';
import type { JobCounts } from '../../store/job-store.js';
import type { BareInstance } from '../bare-instance.js';
import { type Command, EXIT, type Next } from '../command.js';
import { table } from '../text/table.js';
import { about, fromNow } from '../text/time.js';

const LIMIT = 100;
/** So many queues are asked about at once: each takes some ten calls, and Redis serves others meanwhile. */
const AT_ONCE = 10;
/** A queue is looked into by `list` where its oldest job is late by so much. */
const LATE_MS = 10_000;

interface ListedQueue extends InspectedQueue {
  counts: JobCounts;
  load: QueueLoad;
}

export const queues: Command = {
  operands: '',
  takes: { queue: 'none', more: 0 },
  summary: 'every queue: how much is due and how late it is, what runs, what is dead',
  options: ['limit'],
  async run({ instance, options: { limit = LIMIT }, style, next }) {
    const all = await instance.inspector.queues();
    const listed: ListedQueue[] = [];
    const refusals: unknown[] = [];
    const notes: string[] = [];
    for (let from = 0; from < Math.min(limit, all.length); from += AT_ONCE) {
      const some = all.slice(from, Math.min(from + AT_ONCE, limit));
      const looks = await Promise.allSettled(some.map((queue) => look(instance, queue)));
      for (const [i, each] of looks.entries()) {
        if (each.status === 'fulfilled') listed.push(each.value);
        else if (!isRefusal(each.reason)) throw each.reason;
        else {
          refusals.push(each.reason);
          notes.push(`Queue '${some[i]!.name}' is not shown: ${each.reason.message}`);
        }
      }
    }
    if (listed.length === 0 && refusals.length > 0) throw refusals[0];
    if (all.length > limit) notes.push(`These are ${limit} of ${all.length} queues: --limit ${all.length} shows all.`);
    const nowMs = await instance.now();
    return {
      json: listed,
      text: () => {
        if (listed.length === 0)
          return `Nobody has used a queue under the prefix '${instance.prefix}'. Another one is named by --prefix.`;
        return [
          table(
            COLUMNS,
            listed.map((queue) => rowOf(queue, nowMs)),
            style,
          ),
          next(...nextOf(listed)),
        ].join('\n\n');
      },
      notes,
      code: refusals.length > 0 ? EXIT.redis : EXIT.done,
    };
  },
};

const COLUMNS = [
  { title: 'queue' },
  { title: 'due', side: 'right' },
  { title: 'oldest', side: 'right' },
  { title: 'scheduled', side: 'right' },
  { title: 'active', side: 'right' },
  { title: 'dead', side: 'right' },
  { title: 'places taken', side: 'right' },
  { title: 'held by' },
  { title: 'last used' },
] as const;

function rowOf({ name, lastSeenAt, counts, load }: ListedQueue, nowMs: number): string[] {
  const { latenessMs, running, capacity, blocked, due } = load;
  return [
    name,
    String(due),
    due === 0 || blocked !== null ? '-' : `${about(latenessMs)} late`,
    String(counts.scheduled),
    String(counts.active),
    String(counts.dead),
    `${running} of ${capacity}`,
    blocked ?? '-',
    fromNow(lastSeenAt, nowMs),
  ];
}

/** Redis answers, but not about this queue: a newer version may have written its data, and the others can be shown. */
function isRefusal(error: unknown): error is QueueUnavailableError {
  return error instanceof QueueUnavailableError && error.redisCode !== undefined;
}

async function look(instance: BareInstance, queue: InspectedQueue): Promise<ListedQueue> {
  const { name, lastSeenAt } = queue;
  const { inspector } = instance;
  await instance.learn(name);
  const [counts, load] = await Promise.all([inspector.counts({ queue: name }), inspector.load({ queue: name })]);
  return { name, lastSeenAt, counts, load };
}

/** Where most is dead, and where most is late; else one of them to begin with. */
function nextOf(listed: readonly ListedQueue[]): Next[] {
  const by = (of: (queue: ListedQueue) => number) => [...listed].sort((a, b) => of(b) - of(a))[0]!;
  const deadliest = by(({ counts }) => counts.dead);
  const latest = by(({ load }) => load.latenessMs);
  const said: Next[] = [];
  if (deadliest.counts.dead > 0)
    said.push([`Why ${deadliest.counts.dead} of ${deadliest.name} are dead`, 'failures', deadliest.name]);
  if (latest.load.latenessMs >= LATE_MS) said.push([`What is late in ${latest.name}`, 'list', latest.name]);
  return said.length > 0 ? said : [['More about one of them', 'stats', listed[0]!.name]];
}
