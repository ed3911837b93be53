// Schedules jobs with `minReplicas: 1`, and runs others, while the server that has them is killed again and again and another one takes
// over; then looks for every job that a call answered for. Prints figures; exits with 1 where one is missing, or where after a failover no
// job began for too long, or a job whose holder said nothing any more.
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import {
  OnScheduledJob,
  type PoppedJob,
  QueueUnavailableError,
  RedisScheduledQueueModule,
  ScheduledQueueConsumer,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';
import { Topology } from './topology.js';

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '50000' },
    kills: { type: 'string', default: '5' },
    kind: { type: 'string', default: 'cluster' },
  },
});
const JOBS = Number(values.jobs);
const KILLS = Number(values.kills);
/** So many calls are under way at a time, one job each. */
const CALLERS = 100;
const TICK_MS = 250;
const LEASE_MS = 2_000;
/** What an answer, a reconnect and a look at the queue may add to failover and lease. */
const SPARE_MS = 2_000;

const topology = await Topology.start(values.kind);
/** When jobs began, times of `performance.now()`. */
const starts: number[] = [];

@Injectable()
class Ticks {
  @OnScheduledJob('tick')
  async run(): Promise<void> {
    starts.push(performance.now());
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: topology.connection,
      prefix: 'moved',
      minReplicas: 1,
      commandTimeoutMs: 2_000,
      queues: { default: { leaseMs: LEASE_MS } },
    }),
  ],
  providers: [Ticks],
})
class AppModule {}

Logger.overrideLogger(false);
const app = await NestFactory.createApplicationContext(AppModule);
const producer = app.get(ScheduledQueueProducer);
const consumer = app.get(ScheduledQueueConsumer);

const ids = { accepted: [] as string[], refused: [] as string[], unknown: [] as string[] };
let begun = 0;

async function keepScheduling(): Promise<void> {
  while (begun < JOBS) {
    const id = `job-${begun++}`;
    const schedule = () => producer.schedule('work', null, { id, delay: '1 day' });
    await untilAnswered(schedule, (outcome) => ids[outcome].push(id));
    ids.accepted.push(id);
  }
}

/** Calls again until Redis answers, as an application would. `failed` hears how the first call ended. */
async function untilAnswered<T>(call: () => Promise<T>, failed?: (outcome: 'refused' | 'unknown') => void): Promise<T> {
  for (let first = true; ; first = false) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof QueueUnavailableError)) throw error;
      if (first) failed?.(error.outcome);
      await sleep(20);
    }
  }
}

/** Pops a job of this name, and tells nothing of it any more. */
async function pop(): Promise<PoppedJob> {
  for (;;) {
    const [job] = await untilAnswered(() => consumer.pop({ names: ['held'], waitMs: '1s' }));
    if (job) return job;
  }
}

const recoveries: number[] = [];
const heldAgain: number[] = [];
const failovers: number[] = [];

/** In the midst of the work: each time another part of the jobs has been begun. */
async function keepKilling(): Promise<void> {
  for (let kill = 1; kill <= KILLS; kill++) {
    while (begun < (JOBS * kill) / (KILLS + 1)) await sleep(5);
    await untilAnswered(() => producer.dispatch('held', null));
    await pop();
    const killedAt = performance.now();
    await topology.killPrimary();
    const takenOverAt = performance.now();
    failovers.push(takenOverAt - killedAt);
    const again = pop().then((job) => {
      heldAgain.push(performance.now() - takenOverAt);
      return untilAnswered(() => job.complete());
    });
    // On a cluster calls are refused until the new primary has a replica.
    await topology.bringBack();
    await again;
    const lastAt = performance.now() + 60_000;
    while ((starts.at(-1) ?? 0) < takenOverAt && performance.now() < lastAt) await sleep(5);
    recoveries.push((starts.find((at) => at > takenOverAt) ?? Number.POSITIVE_INFINITY) - takenOverAt);
  }
}

const startedAt = performance.now();
// What workers have to do all the time, whatever producers can.
await producer.upsertRecurrence('ticks', 'tick', null, { everyMs: TICK_MS });
await Promise.all([keepKilling(), ...Array.from({ length: CALLERS }, keepScheduling)]);
const seconds = (performance.now() - startedAt) / 1_000;

const redis = new Redis((await topology.primary()).url);
const there = new Set(await redis.hkeys('moved:{default}:jobs'));
const waiting = new Set(await redis.zrange('moved:{default}:lane:5::work', '0', '-1'));
redis.disconnect();
const lost = ids.accepted.filter((id) => !there.has(id) || !waiting.has(id));
const tooLate = [...recoveries, ...heldAgain].filter((ms) => ms > LEASE_MS + SPARE_MS);
const told = (times: number[]) => times.map((ms) => Math.round(ms)).join(', ');
process.stdout.write(
  `${values.kind}: ${JOBS} jobs in ${seconds.toFixed(1)} s, the primary killed ${KILLS} times: ${ids.accepted.length} accepted, of which ${lost.length} are missing; ` +
    `first calls: ${ids.refused.length} refused, ${ids.unknown.length} unknown; failovers took ${told(failovers)} ms; ` +
    `after it the first job ran within ${told(recoveries)} ms, and the one that nobody held any more within ${told(heldAgain)} ms\n`,
);
await app.close();
await topology.stop();
process.exitCode = lost.length === 0 && tooLate.length === 0 && recoveries.length === KILLS ? 0 : 1;
