import type { Benchmark, Case, Context } from '../benchmark.js';
import type { Job, Session } from '../contestants/contestant.js';
import { IN_AN_HOUR, payloadOf } from '../measure/payloads.js';
import { dueJob, passed, Starts } from '../measure/starts.js';
import { drain, fill } from '../measure/throughput.js';
import { WorkerProcesses } from '../measure/worker-processes.js';
import { median } from '../report/statistics.js';

/** Scripts shorter than this are not remembered. */
const SLOW_FROM_MICROS = 500;
/** How long the jobs of the large tenant take, and those of weighted groups. */
const WORK_MS = 20;
/** The name of jobs that run for ever, once they have begun. */
const HELD = 'held';
const OTHER = 'other';
const IN_GROUPS = 'in-groups';
const WEIGHTS = { heavy: 3, middling: 2, light: 1 } as const;

type Measured = (context: Context) => Promise<Record<string, number>>;

/** Whose jobs run one after the other. */
const ORDERS = 100;

const MEASURED: Readonly<Record<string, Measured>> = {
  Plain: (context) => drained(context, () => ({ payload: payloadOf() })),
  Groups: (context) => drained(context, inGroupsOfTheirOwn()),
  longest: longestScript,
  Beside: besideRunning,
  BesideHeld: besideRunning,
  idle,
  bytes,
  By1: shares,
  By3: shares,
  tenant,
  fifo,
};

const caseOf = (name: string, size: Case['size'], quick: Case['quick'], more: Partial<Case> = {}): Case => ({
  name,
  size,
  quick,
  contestants: ['ours'],
  ...more,
});

export const groups: Benchmark = {
  name: 'groups',
  about:
    'As drain: 100 000 jobs without a group, and each in a group of its own; the longest script meanwhile, by Redis’ ' +
    'slowlog. Beside 200 jobs that run, and beside 200 groups that may run one each, do so, and have 1 000 more due jobs each; the commands of ' +
    'such a worker. What a group of one waiting job takes. Of weights 3, 2 and 1 how far the shares of 1 000 starts are off. And when a ' +
    'single job starts beside 1 000 000 due ones of another group, of 20 ms each. All this of this library alone. Beside groupmq: 100 groups whose ' +
    'jobs run one after the other, concurrency 10; of each the first 50 warm up, and the next 50 are counted.',
  contestants: ['ours', 'groupmq'],
  cases: [
    caseOf('Plain', { jobs: 100_000 }, { jobs: 5_000 }),
    caseOf('Groups', { jobs: 100_000 }, { jobs: 5_000 }),
    // As in growth: with V8's helper threads beside it, what Redis waits for a core is the longest there is.
    caseOf('longest', { jobs: 100_000 }, { jobs: 5_000 }, { nodeOptions: ['--single-threaded'] }),
    caseOf('Beside', { groups: 200, each: 1, jobs: 100_000 }, { groups: 20, jobs: 2_000 }),
    caseOf('BesideHeld', { groups: 200, each: 1_001, jobs: 100_000 }, { groups: 20, each: 51, jobs: 2_000 }),
    caseOf('idle', { groups: 200, each: 1_001, seconds: 20 }, { groups: 20, each: 51, seconds: 5 }),
    caseOf('bytes', { jobs: 100_000 }, { jobs: 5_000 }),
    caseOf('By1', { workers: 1, starts: 1_000 }, { starts: 200 }),
    caseOf('By3', { workers: 3, starts: 1_000 }, { starts: 200 }),
    caseOf('tenant', { due: 1_000_000, times: 50 }, { due: 10_000, times: 5 }),
    caseOf('fifo', { each: 50 }, { each: 10 }, { contestants: ['ours', 'groupmq'] }),
  ],
  figures: [
    { key: 'drainPlain', title: 'Drain due jobs without groups', unit: 'jobs/s', better: 'more' },
    { key: 'drainGroups', title: 'Drain due jobs, each a group of its own', unit: 'jobs/s', better: 'more' },
    { key: 'longest', title: 'Longest script, 100 000 groups due', unit: 'ms', better: 'less' },
    { key: 'drainBeside', title: 'Drain beside 200 running jobs', unit: 'jobs/s', better: 'more' },
    { key: 'drainBesideHeld', title: 'Drain beside 200 groups at their limit', unit: 'jobs/s', better: 'more' },
    { key: 'idleRate', title: 'Commands of a worker beside 200 groups at their limit', unit: '/s', better: 'less' },
    { key: 'bytes', title: 'Redis memory of a group of one waiting job', unit: 'bytes', better: 'less' },
    { key: 'sharesBy1', title: 'Shares by weight off by, one process', unit: '%', better: 'less' },
    { key: 'sharesBy3', title: 'Shares by weight off by, three processes', unit: '%', better: 'less' },
    { key: 'tenant', title: 'Single job beside another’s 1 000 000, median', unit: 'ms', better: 'less' },
    { key: 'tenantWorst', title: 'Single job beside another’s 1 000 000, worst', unit: 'ms', better: 'less' },
    { key: 'fifo', title: 'Drain 100 groups in order, concurrency 10', unit: 'jobs/s', better: 'more' },
  ],
  bars: [
    { figure: 'drainGroups', over: { figure: 'drainPlain' }, atLeast: 0.4 },
    { figure: 'longest', atMost: 5 },
    { figure: 'drainBesideHeld', over: { figure: 'drainBeside' }, atLeast: 0.9 },
    { figure: 'idleRate', atMost: 1 },
    { figure: 'bytes', atMost: 1_000 },
    { figure: 'sharesBy1', atMost: 5 },
    { figure: 'sharesBy3', atMost: 5 },
    { figure: 'tenantWorst', atMost: WORK_MS + 100 },
    { figure: 'fifo', over: { contestant: 'groupmq' }, atLeast: 1.2 },
  ],
  timeoutMs: 300_000,

  run: (context) => MEASURED[context.case]!(context),
};

function inGroupsOfTheirOwn(dueAt?: number): () => Job {
  const payload = payloadOf();
  let made = 0;
  return () => ({ payload, dueAt, group: `tenant-${made++}` });
}

async function drained(context: Context, job: () => Job): Promise<Record<string, number>> {
  const count = context.size('jobs');
  const { rate } = await drain(context, { count, concurrency: 100, fill: (session) => fill(session, count, job) });
  return { [`drain${context.case}`]: rate };
}

async function longestScript(context: Context): Promise<Record<string, number>> {
  const { probe, size } = context;
  await drain(context, {
    count: size('jobs'),
    concurrency: 100,
    before: () => probe.watchSlow(SLOW_FROM_MICROS),
    fill: (session) => fill(session, size('jobs'), inGroupsOfTheirOwn()),
  });
  return { longest: Math.max(SLOW_FROM_MICROS, ...(await probe.scriptMicros())) / 1_000 };
}

/** One session runs jobs for ever. The other one drains, and would run what the first one has left. */
async function besideRunning(context: Context): Promise<Record<string, number>> {
  const { size, open } = context;
  const groups = { concurrency: 1 };
  const { rate } = await drain(context, {
    count: size('jobs'),
    concurrency: 100,
    async before() {
      const running = new Running(size('groups'));
      const handle = () => running.forEver();
      const holder = await open({ concurrency: size('groups'), groups, names: [HELD], handle });
      await fillGroups(holder, size('groups'), size('each'));
      await holder.start();
      await running.reached;
    },
    fill: (session) => fill(session, size('jobs'), { name: OTHER, payload: payloadOf() }),
    session: { groups, names: [HELD, OTHER] },
  });
  return { [`drain${context.case}`]: rate };
}

async function idle({ open, probe, size }: Context): Promise<Record<string, number>> {
  const running = new Running(size('groups'));
  const session = await open({
    concurrency: 2 * size('groups'),
    groups: { concurrency: 1 },
    names: [HELD],
    handle: () => running.forEver(),
  });
  await fillGroups(session, size('groups'), size('each'));
  await session.start();
  await running.reached;
  await passed(3_000);
  const counter = await probe.countCommands();
  await passed(500);
  counter.take();
  await passed(size('seconds') * 1_000);
  const idleRate = counter.take() / size('seconds');
  counter.close();
  return { idleRate };
}

/** So many due jobs in each of so many groups. */
function fillGroups(session: Session, count: number, each: number): Promise<void> {
  const payload = payloadOf();
  let made = 0;
  return fill(session, count * each, () => ({ name: HELD, payload, group: `tenant-${made++ % count}` }));
}

/** In two queues, so that their tables are of one size. */
async function bytes({ open, probe, size }: Context): Promise<Record<string, number>> {
  const queues = ['default', IN_GROUPS];
  const session = await open({ concurrency: 1, handle: () => {}, queues });
  const dueAt = IN_AN_HOUR();
  // Scripts and whatever a queue has once.
  await session.scheduleMany(queues.map((queue) => ({ payload: payloadOf(), dueAt, queue })));
  const empty = await probe.dataBytes();
  await fill(session, size('jobs'), { payload: payloadOf(), dueAt });
  const plain = await probe.dataBytes();
  const inGroups = inGroupsOfTheirOwn(dueAt);
  await fill(session, size('jobs'), () => ({ ...inGroups(), queue: IN_GROUPS }));
  const all = await probe.dataBytes();
  return { bytes: (all - plain - (plain - empty)) / size('jobs') };
}

async function shares({ open, name, redis, size, case: which }: Context): Promise<Record<string, number>> {
  const session = await open({ concurrency: 1, handle: () => {} });
  const { inspector } = session;
  const all = Object.entries(WEIGHTS);
  for (const [group, weight] of all) {
    await inspector!.setGroup(group, { weight });
    await fill(session, size('starts'), { payload: payloadOf(), group });
  }
  const workers = await WorkerProcesses.start(size('workers'), {
    contestant: name,
    redis,
    concurrency: 10,
    handlerMs: WORK_MS,
  });
  workers.begin();
  await workers.settled(size('starts'));
  await inspector!.pause();
  while ((await inspector!.counts()).active > 0) await passed(WORK_MS);
  const started = await Promise.all(
    all.map(async ([group]) => size('starts') - (await inspector!.group(group)).waiting),
  );
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  const ofWeights = sum(Object.values(WEIGHTS));
  const off = all.map(([, weight], i) => Math.abs((started[i]! / sum(started)) * (ofWeights / weight) - 1));
  return { [`shares${which}`]: 100 * Math.max(...off) };
}

async function tenant({ open, size }: Context): Promise<Record<string, number>> {
  const starts = new Starts();
  const session = await open({
    concurrency: 10,
    handle: (payload) => (typeof payload === 'object' && 'dueAt' in payload ? starts.handle(payload) : passed(WORK_MS)),
  });
  await fill(session, size('due'), { payload: payloadOf(), group: 'large' });
  await session.start();
  await passed(1_000);
  for (let i = 1; i <= size('times'); i++) {
    await session.schedule({ ...dueJob(Date.now()), group: 'small' });
    await starts.reached(i);
    // Anywhere between two starts of the others.
    await passed(50 + Math.random() * WORK_MS);
  }
  return { tenant: median(starts.lateMs), tenantWorst: Math.max(...starts.lateMs) };
}

async function fifo(context: Context): Promise<Record<string, number>> {
  const measured = ORDERS * context.size('each');
  // A tenth of so few jobs would leave both contestants half cold.
  const count = 2 * measured;
  const payload = payloadOf();
  let made = 0;
  const { rate } = await drain(context, {
    count,
    warm: count - measured,
    concurrency: 10,
    fill: (session) => fill(session, count, () => ({ payload, group: `order-${made++ % ORDERS}` })),
    session: { groups: { order: 'fifo' } },
  });
  return { fifo: rate };
}

/** Resolves once so many run, each for ever. */
class Running {
  readonly reached: Promise<void>;
  private resolve!: () => void;

  constructor(private left: number) {
    this.reached = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  forEver(): Promise<never> {
    if (--this.left === 0) this.resolve();
    return new Promise(() => {});
  }
}
