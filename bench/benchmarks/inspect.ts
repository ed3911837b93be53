import type { ScheduledQueueInspector } from 'nestjs-redis-scheduled-queue';
import type { Benchmark, Context } from '../benchmark.js';
import type { Job } from '../contestants/contestant.js';
import { payloadOf } from '../measure/payloads.js';
import { BULK } from '../measure/throughput.js';

/** Pages of a search that are read, from its start: each is as long as any other. */
const PAGES = 50;
const PAGE = 1_000;
/** The deepest place that a list can be asked for. */
const DEEPEST = 100_000;
const BUCKETS = 60;
const DAY_MS = 86_400_000;
/** Scripts shorter than this are not remembered; what Redis notes of each command inside a script takes time as well. */
const SLOW_FROM_MICROS = 200;
/** How many jobs carry one tag. */
const TAGGED = 10_000;

const NAMES = Array.from({ length: 1_000 }, (_, index) => `job-${index}`);

type Call = (inspector: ScheduledQueueInspector) => Promise<unknown>;

const FORECASTS: readonly Call[] = [
  (inspector) => inspector.forecast({ from: new Date(), to: new Date(Date.now() + DAY_MS), buckets: BUCKETS }),
  (inspector) =>
    inspector.forecast({ from: new Date(Date.now() - DAY_MS), to: new Date(Date.now() + DAY_MS), buckets: 1_000 }),
];

const COUNTS: readonly Call[] = [
  (inspector) => inspector.counts(),
  (inspector) => inspector.countsByPriority(),
  (inspector) => inspector.stats(),
  (inspector) => inspector.load(),
  (inspector) => inspector.queues(),
  (inspector) => inspector.workers(),
  (inspector) => inspector.latenessMs(),
  (inspector) => inspector.nextDueAt(),
];

/** By figure, what is asked. */
const CALLS: Readonly<Record<string, readonly Call[]>> = {
  find: [
    pages({}),
    pages({ idPrefix: 'no-such' }),
    pages({ states: ['due'] }),
    pages({ tags: ['tag-7'] }),
    pages({ tags: ['tag-7'], where: () => false }),
    pages({ dueFrom: new Date(Date.now() + DAY_MS / 2) }),
  ],
  list: [
    (inspector) => inspector.list('scheduled', { limit: PAGE }),
    (inspector) => inspector.list('scheduled', { offset: DEEPEST, limit: PAGE }),
    (inspector) => inspector.list('due', { offset: DEEPEST, limit: PAGE }),
    (inspector) => inspector.peek(PAGE),
  ],
  forecast: FORECASTS,
  counts: COUNTS,
  tagged: [(inspector) => inspector.shiftTagged('tag-7', 1_000), (inspector) => inspector.cancelTagged('tag-7')],
  priorities: [...FORECASTS, ...COUNTS],
};

export const inspect: Benchmark = {
  name: 'inspect',
  about:
    'With 1 000 000 jobs, half of them due and the others within a day, of 1 000 names and 32 priorities, 10 000 with the same tag, or of ' +
    '1 000 priorities with preferred workers: the longest that one script holds Redis while the inspector is asked, by Redis’ slowlog, ' +
    'Redis having a core of its own.',
  contestants: ['ours'],
  cases: Object.keys(CALLS).map((name) => ({
    name,
    size: { jobs: 1_000_000 },
    quick: { jobs: 20_000 },
    nodeOptions: ['--single-threaded'],
    isTied: true,
  })),
  figures: [
    { key: 'find', title: 'Longest script of `find`', unit: 'ms', better: 'less' },
    { key: 'list', title: 'Longest script of `list` and `peek`', unit: 'ms', better: 'less' },
    { key: 'forecast', title: 'Longest script of `forecast`', unit: 'ms', better: 'less' },
    { key: 'counts', title: 'Longest script of counts, load, queues and workers', unit: 'ms', better: 'less' },
    {
      key: 'priorities',
      title: 'Longest script of `forecast` and counts with 1 000 priorities',
      unit: 'ms',
      better: 'less',
    },
    { key: 'tagged', title: 'Longest script of `shiftTagged` and `cancelTagged`', unit: 'ms', better: 'less' },
  ],
  bars: Object.keys(CALLS).map((figure) => ({ figure, atMost: 5 })),
  timeoutMs: 400_000,

  async run({ open, probe, size, case: figure }: Context) {
    const { scheduleMany, inspector } = await open({ concurrency: 1, handle: () => {}, names: NAMES });
    const payload = payloadOf();
    const now = Date.now();
    for (let from = 0; from < size('jobs'); from += BULK) {
      const jobs = Array.from({ length: Math.min(BULK, size('jobs') - from) }, (_, index) => ({
        payload,
        ...(figure === 'priorities' ? ofManyPriorities(index) : ofManyNames(index)),
        dueAt: index % 2 === 0 ? now - index : now + ((from + index) * DAY_MS) / size('jobs'),
        ...(index % (size('jobs') / TAGGED) === 0 && { tags: ['tag-7'] }),
      }));
      await scheduleMany(jobs);
    }
    await probe.watchSlow(SLOW_FROM_MICROS);
    for (const call of CALLS[figure]!) await call(inspector!);
    return { [figure]: Math.max(SLOW_FROM_MICROS, ...(await probe.scriptMicros())) / 1_000 };
  },
};

/** Name, priority and preferred worker of a job. */
type Lane = Pick<Job, 'name' | 'priority' | 'worker'>;

const ofManyNames = (index: number): Lane => ({ name: NAMES[index % NAMES.length]!, priority: 1 + (index % 32) });

/** Two of three jobs prefer a worker. Neighbours, of which one is due, share all three. */
function ofManyPriorities(index: number): Lane {
  const pair = Math.floor(index / 2);
  const kind = Math.floor(pair / 1_000) % 3;
  return { name: NAMES[kind]!, priority: 1 + (pair % 1_000), ...(kind > 0 && { worker: `worker-${kind}` }) };
}

function pages(options: Parameters<ScheduledQueueInspector['find']>[0] & object): Call {
  return async (inspector) => {
    let cursor: string | undefined;
    for (let page = 0; page < PAGES; page++) {
      ({ cursor } = await inspector.find({ ...options, limit: PAGE, ...(cursor !== undefined && { cursor }) }));
      if (cursor === undefined) return;
    }
  };
}
