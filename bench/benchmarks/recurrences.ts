import type { Benchmark, Context } from '../benchmark.js';
import type { Recurrence, Session } from '../contestants/contestant.js';
import { payloadOf } from '../measure/payloads.js';
import { passed } from '../measure/starts.js';
import { callRate, type Drained, drain, fillWith } from '../measure/throughput.js';

/** Where the users live. */
const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Sydney', 'America/Sao_Paulo', 'UTC'];
const HOUR_MS = 3_600_000;
const CONCURRENCY = 100;
/** How often each recurrence is looked after: see lib/store/redis/recur/redis-tending.ts. */
const ROUND_MS = 7_000;
/** A worker begins a round when it starts. It starts so long before the drain that neither this round nor the next falls into that. */
const IDLE_MS = ROUND_MS / 2;

export const recurrences: Benchmark = {
  name: 'recurrences',
  about:
    '100 000 recurrences, one of each user, daily at a wall time of one of six zones: upserted one a call, 1 000 calls under way; what Redis uses ' +
    'more afterwards, the armed jobs included; and what it takes to look after them while none is due. Then 10 000 occurrences that are due ' +
    'run in one process beside 10 000 ordinary jobs whose ids are chosen: what an occurrence costs Redis more is the arming of the next.',
  contestants: ['ours', 'bullmq'],
  cases: [
    {
      name: 'users',
      size: { recurrences: 100_000, warm: 2_000, rounds: 4 },
      quick: { recurrences: 2_000, warm: 200, rounds: 1 },
    },
    { name: 'due', size: { jobs: 10_000 }, quick: { jobs: 2_000 }, contestants: ['ours'] },
  ],
  figures: [
    { key: 'upserts', title: 'Upsert recurrences, one call each', unit: '/s', better: 'more' },
    { key: 'bytes', title: 'Redis memory a recurrence', unit: 'bytes', better: 'less' },
    { key: 'tendShare', title: 'Redis CPU to look after all of them', unit: '%', better: 'less' },
    { key: 'tendMicros', title: 'Redis CPU to look after one, once', unit: 'µs', better: 'less' },
    { key: 'occurrenceCpu', title: 'Redis CPU a drained occurrence', unit: 'µs', better: 'less' },
    { key: 'ordinaryCpu', title: 'Redis CPU a drained job with a chosen id', unit: 'µs', better: 'less' },
    { key: 'arming', title: 'Redis CPU to arm the next occurrence', unit: 'µs', better: 'less' },
  ],
  bars: [
    { figure: 'upserts', atLeast: 2_000 },
    { figure: 'bytes', atMost: 1_500 },
    { figure: 'arming', atMost: 10 },
  ],
  timeoutMs: 400_000,

  run: (context) => (context.case === 'due' ? arming(context) : users(context)),
};

async function users(context: Context): Promise<Record<string, number>> {
  const { open, probe, size, name } = context;
  const count = size('recurrences');
  const session = await open({ concurrency: CONCURRENCY, handle: () => {} });
  const upsert = (index: number) => session.upsertRecurrence!(daily(index));
  // The first calls load scripts and run code that has not run before.
  await callRate(size('warm'), upsert);
  const before = await probe.dataBytes();
  const rate = await callRate(count - size('warm'), (index) => upsert(size('warm') + index));
  const bytes = ((await probe.dataBytes()) - before) / (count - size('warm'));
  if (name !== 'ours') return { upserts: rate, bytes };
  return { upserts: rate, bytes, ...(await tending(context, session)) };
}

/** Of an idle worker in whose queue nothing is due; what it sends without recurrences is next to nothing. */
async function tending({ probe, size }: Context, session: Session): Promise<Record<string, number>> {
  await session.start();
  // In the middle between two rounds, so that whole rounds are counted.
  await passed(ROUND_MS / 2);
  const before = await probe.cpuMicros();
  const passedMs = size('rounds') * ROUND_MS;
  await passed(passedMs);
  const micros = (await probe.cpuMicros()) - before;
  const tended = size('rounds') * size('recurrences');
  return { tendShare: (micros / 1_000 / passedMs) * 100, tendMicros: micros / tended };
}

/** What each occurrence costs Redis more than an ordinary job, both with ids of the same length, due at one instant. */
async function arming(context: Context): Promise<Record<string, number>> {
  const ordinary = await drainOne(context, 'ordinary', async (session, ids, dueAt) => {
    const jobs = ids.map((id) => ({ id: `${id}@${dueAt}`, payload: payloadOf(), dueAt, queue: 'ordinary' }));
    await fillWith(session, jobs);
  });
  const occurrences = await drainOne(context, 'recurring', async (session, ids, dueAt) => {
    const rule = { everyMs: HOUR_MS, offsetMs: dueAt % HOUR_MS };
    await callRate(ids.length, (index) =>
      session.upsertRecurrence!({ id: ids[index]!, rule, payload: payloadOf(), queue: 'recurring' }),
    );
  });
  const [occurrenceCpu, ordinaryCpu] = [occurrences.redisCpu, ordinary.redisCpu];
  return { occurrenceCpu, ordinaryCpu, arming: occurrenceCpu - ordinaryCpu };
}

function drainOne(
  context: Context,
  queue: string,
  put: (session: Session, ids: readonly string[], dueAt: number) => Promise<unknown>,
): Promise<Drained> {
  const count = context.size('jobs');
  const ids = Array.from({ length: count }, (_, index) => idOf(index));
  return drain(context, {
    count,
    concurrency: CONCURRENCY,
    session: { queues: [queue] },
    async fill(session) {
      // A millisecond for each is long enough to put it there.
      const dueAt = Date.now() + IDLE_MS + count;
      await put(session, ids, dueAt);
      await passed(dueAt - IDLE_MS - Date.now());
    },
  });
}

/** Due twelve hours from now, so that none is while this runs. */
function daily(index: number): Recurrence {
  const timeZone = ZONES[index % ZONES.length]!;
  const cron = `${index % 60} ${(hourIn(timeZone) + 12) % 24} * * *`;
  return { id: idOf(index), payload: payloadOf(), rule: { cron, timeZone } };
}

const hours = new Map<string, number>();
function hourIn(timeZone: string): number {
  let hour = hours.get(timeZone);
  if (hour === undefined) {
    hour = Number(new Intl.DateTimeFormat('en-US', { timeZone, hour: 'numeric', hourCycle: 'h23' }).format(new Date()));
    hours.set(timeZone, hour);
  }
  return hour;
}

const idOf = (index: number) => `digest:user-${String(index).padStart(6, '0')}`;
