// One process that schedules and handles a steady mix of jobs, and measures at regular intervals, with nothing under way,
// whether anything has grown: its heap, Redis' memory, keys, listeners, open resources. Ends with code 1 where it has.
// Arguments: --jobs <number>; environment: REDIS. Needs node --expose-gc.
//
// The library keeps some things for a time, by default 10 000 dead jobs and the ids of ended ones for ten minutes. Here it
// is told to keep fewer and for less, so that a steady state is reached within the first few thousand jobs.
import 'reflect-metadata';
import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import {
  JobOutcome,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledJob,
  ScheduledQueueEvents,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const JOBS = Number(process.argv[process.argv.indexOf('--jobs') + 1]);
const SAMPLES = 20;
const BATCH = 500;
/** How many jobs wait or run at the same time. */
const AT_ONCE = 4_000;
const KEPT = { keepDead: 300, keepCompleted: 300, keepIdsMs: 1_000 };
const RECURRING_IDS = 500;

/** What may be more in the last tenth than in the first: a share of it, and what a measurement is off by anyway. */
const TOLERANCES = {
  heapMiB: { share: 0.1, more: 2 },
  redisMiB: { share: 0.1, more: 0.5 },
  keys: { share: 0, more: 2 },
  listeners: { share: 0, more: 0 },
  resources: { share: 0, more: 2 },
};
type Sample = Record<keyof typeof TOLERANCES, number> & { jobs: number; rssMiB: number };

const warnings: string[] = [];
process.on('warning', (warning) => warnings.push(`${warning.name}: ${warning.message}`));

const clients = new Set<Redis>();
const connect = Redis.prototype.connect;
Redis.prototype.connect = function (this: Redis, ...args) {
  clients.add(this);
  return connect.apply(this, args);
};

type Kind = 'fine' | 'flaky' | 'broken' | 'snoozing';

@Injectable()
class Handlers {
  @OnScheduledJob('soak', { maxAttempts: 3, backoff: { type: 'fixed', delayMs: 5 } })
  async soak({ kind, text }: { kind: Kind; text: string }, job: ScheduledJob): Promise<unknown> {
    await Promise.resolve();
    if (kind === 'broken' || (kind === 'flaky' && job.attempt === 1)) throw new Error(`no, this is ${kind}`);
    // Due so long after it was created only once it has been snoozed.
    const waitMs = job.dueAt.getTime() - job.createdAt.getTime();
    if (kind === 'snoozing' && waitMs < 60) return JobOutcome.snooze(70);
    return text.length;
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: process.env.REDIS!,
      prefix: 'soak',
      queues: { default: { concurrency: 500, ...KEPT } },
    }),
  ],
  providers: [Handlers],
})
class SoakModule {}

Logger.overrideLogger(false);
const app = await NestFactory.createApplicationContext(SoakModule);
const producer = app.get(ScheduledQueueProducer);
const inspector = app.get(ScheduledQueueInspector);
const redis = new Redis(process.env.REDIS!);

let underWay = 0;
let onRoom = () => {};
app.get(ScheduledQueueEvents).events$.subscribe(({ type }) => {
  if (type !== 'completed' && type !== 'dead' && type !== 'cancelled') return;
  underWay--;
  onRoom();
});

async function fallsTo(most: number): Promise<void> {
  while (underWay > most)
    await new Promise<void>((resolve) => {
      onRoom = resolve;
    });
}

/** Of a hundred jobs 70 succeed, 8 have one of a few ids over and over, 10 fail once, 2 always, 5 snooze, 5 are cancelled. */
function job(i: number) {
  const lot = (i * 37) % 100;
  const kind: Kind = lot < 10 ? 'flaky' : lot < 12 ? 'broken' : lot < 17 ? 'snoozing' : 'fine';
  const id = lot >= 17 && lot < 25 ? `recurring-${i % RECURRING_IDS}` : undefined;
  const delay = lot >= 95 ? 3_600_000 : (i * 7) % 40;
  return {
    job: 'soak',
    payload: { kind, text: 'x'.repeat(50 + lot) },
    options: { id, delay, priority: 1 + (lot % 5) },
  };
}

async function run(from: number, to: number): Promise<void> {
  for (let i = from; i < to; i += BATCH) {
    await fallsTo(AT_ONCE);
    const jobs = Array.from({ length: Math.min(BATCH, to - i) }, (_, k) => job(i + k));
    underWay += jobs.length;
    const refs = await producer.scheduleMany(jobs);
    underWay -= refs.filter(({ created }) => !created).length;
    await Promise.all(refs.filter((_, k) => jobs[k]!.options.delay === 3_600_000).map((ref) => producer.cancel(ref)));
  }
  await fallsTo(0);
}

async function measure(jobs: number): Promise<Sample> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc!();
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  const { heapUsed, rss } = process.memoryUsage();
  const memory = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))![1]);
  const listeners = [...clients].flatMap((client) => client.eventNames().map((name) => client.listenerCount(name)));
  return {
    jobs,
    heapMiB: heapUsed / 2 ** 20,
    rssMiB: rss / 2 ** 20,
    redisMiB: memory / 2 ** 20,
    keys: await redis.dbsize(),
    listeners: listeners.reduce((sum, count) => sum + count, 0),
    resources: process.getActiveResourcesInfo().length,
  };
}

// Everything has been compiled, and what is kept has been filled, before the first measurement.
const warmUp = Math.max(30_000, JOBS / 20);
await run(0, warmUp);
const samples: Sample[] = [];
const startedAt = performance.now();
for (let i = 0; i < SAMPLES; i++) {
  await run(warmUp + (i * JOBS) / SAMPLES, warmUp + ((i + 1) * JOBS) / SAMPLES);
  samples.push(await measure(((i + 1) * JOBS) / SAMPLES));
}
const seconds = (performance.now() - startedAt) / 1_000;

console.table(
  samples.map((sample) => Object.fromEntries(Object.entries(sample).map(([k, v]) => [k, Number(v.toFixed(2))]))),
);
console.log(`${JOBS} jobs in ${seconds.toFixed(1)} s: ${Math.round(JOBS / seconds)} a second, measuring included`);
console.log(await inspector.stats());

const tenth = SAMPLES / 10;
const problems = warnings.map((warning) => `a process warning: ${warning}`);
for (const [name, { share, more }] of Object.entries(TOLERANCES) as [
  keyof typeof TOLERANCES,
  { share: number; more: number },
][]) {
  const mean = (some: Sample[]) => some.reduce((sum, sample) => sum + sample[name], 0) / some.length;
  const [first, last] = [mean(samples.slice(0, tenth)), mean(samples.slice(-tenth))];
  const most = first * (1 + share) + more;
  console.log(
    `${name}: ${first.toFixed(2)} in the first tenth, ${last.toFixed(2)} in the last, at most ${most.toFixed(2)} allowed`,
  );
  if (last > most) problems.push(`${name} has grown from ${first.toFixed(2)} to ${last.toFixed(2)}`);
}
await app.close();
redis.disconnect();
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
