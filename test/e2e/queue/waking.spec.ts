import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { CommandCount } from '../../support/command-count.js';
import { newPrefix, type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

@Injectable()
class Handlers {
  static runs: string[] = [];

  @OnScheduledJob('work')
  work(_payload: unknown, { id }: ScheduledJob): void {
    Handlers.runs.push(id);
  }
}

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  await stopApps();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** Commands that `jobs` due jobs cost on one queue with so many idle workers, what they cost anyway taken off. */
async function commandsPerJob(url: string, workers: number, jobs: number): Promise<number> {
  const prefix = newPrefix();
  const apps: QueueApp[] = [];
  for (let i = 0; i < workers; i++) apps.push(await startApp([Handlers], { connection: url, prefix }));
  const producer = await startApp([], { connection: url, prefix, role: 'producer' });
  await producer.producer.schedule('work', null, { delay: '1h' });
  const count = new CommandCount(url);
  cleanups.push(() => count.close());
  const idleFrom = await count.sent();
  const idleMs = 4_000;
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  const idleRate = ((await count.sent()) - idleFrom) / idleMs;
  const before = await count.sent();
  const started = performance.now();
  Handlers.runs = [];
  for (let job = 1; job <= jobs; job++) {
    const delay = job % 2 === 0 ? 0 : 30;
    await producer.producer.schedule('work', null, { delay });
    await until('it runs', () => Handlers.runs.length === job);
    // Settled, and asleep again in the same step: the next job finds everybody idle.
    await until('it is settled', async () => (await producer.inspector.stats()).completed === job);
  }
  const sent = (await count.sent()) - before - idleRate * (performance.now() - started);
  await stopApps();
  return sent / jobs;
}

it('a due job costs no more commands with sixteen idle workers than with four', async () => {
  const server = await startOwnServer();
  cleanups.push(() => server.stop());
  const few = await commandsPerJob(server.url, 4, 40);
  const many = await commandsPerJob(server.url, 16, 40);
  process.stdout.write(`commands a due job: ${few.toFixed(1)} with 4 idle workers, ${many.toFixed(1)} with 16\n`);
  expect(many).toBeLessThan(few * 1.5 + 1);
});

it.each([
  ['runNow', (app: QueueApp, id: string) => app.producer.runNow(id)],
  ['reschedule', (app: QueueApp, id: string) => app.producer.reschedule(id, { delay: 0 })],
] as const)('after a %s the job runs at once, however long all workers meant to sleep', async (_name, act) => {
  const redis = new Redis(redisUrl());
  cleanups.push(() => redis.disconnect());
  const app = await startApp([Handlers], { queues: { default: { maxSleepMs: 60_000, leaseMs: 600_000 } } });
  const { id } = await app.producer.schedule('work', null, { delay: '1h' });
  await until('the worker sleeps for long', async () => {
    const [sleepers] = await redis.keys(`${app.prefix}:{default}:sleepers:*`);
    const [, at] = sleepers ? await redis.zrange(sleepers, '0', '0', 'WITHSCORES') : [];
    return Number(at) > Date.now() + 30_000;
  });
  Handlers.runs = [];
  expect(await act(app, id)).toBe(true);
  await until('it runs', () => Handlers.runs.includes(id), BEFORE_NEXT_LOOK_MS);
});

it('a burst is shared by all idle workers at once', async () => {
  const workers = new WorkerProcesses();
  cleanups.push(() => workers.stop());
  const { producer, inspector } = await startApp([], { prefix: workers.prefix, role: 'producer' });
  for (const id of ['a', 'b', 'c']) await workers.start(id, { concurrency: 2, workMs: 3_000, leaseMs: 15_000 });
  await producer.scheduleMany(Array.from({ length: 6 }, () => ({ job: 'work', payload: null })));
  await until('all run at the same time', async () => (await inspector.counts()).active === 6, BEFORE_NEXT_LOOK_MS);
  // Redis counts a job as active before its worker has heard of it.
  const starts = await until('all have begun', () => {
    const lines = workers.history().filter(({ event }) => event === 'start');
    return lines.length === 6 && lines;
  });
  const byWorker = starts.map(({ worker }) => worker).sort();
  expect(byWorker).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
});
