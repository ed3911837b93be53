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

/** How late jobs begin of which each is scheduled just before one of three idle workers is killed: for each list three new ones. */
async function latenessBesideDead(...lists: string[][]): Promise<number[]> {
  const lateness: number[] = [];
  for (const list of lists) {
    const workers = new WorkerProcesses();
    cleanups.push(() => workers.stop());
    const { producer } = await startApp([], { prefix: workers.prefix, role: 'producer' });
    for (const id of ['a', 'b', 'c']) await workers.start(id, { leaseMs: 15_000 });
    for (const dying of list) {
      const { id, dueAt } = await producer.schedule('work', null, { delay: 700 });
      workers.signal(dying, 'SIGKILL');
      await workers.ended(dying);
      const start = await until('it runs', () =>
        workers.history().find((line) => line.event === 'start' && line.id === id),
      );
      lateness.push(start.at - dueAt!.getTime());
    }
  }
  return lateness;
}

it('a job is no more than two seconds late when the worker that would have looked for it has died', async () => {
  expect(Math.max(...(await latenessBesideDead(['a'], ['b'])))).toBeLessThan(2_000);
});

it('a job is no more than two seconds late when two workers have died one after the other', async () => {
  // Each is in its turn the one that looks first, its deputy, or the third.
  expect(Math.max(...(await latenessBesideDead(['a', 'b'], ['b', 'c'], ['c', 'a'])))).toBeLessThan(2_000);
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

it('workers that have stopped in good order are not counted on', async () => {
  const workers = new WorkerProcesses();
  cleanups.push(() => workers.stop());
  const { producer } = await startApp([], { prefix: workers.prefix, role: 'producer' });
  for (const id of ['a', 'b']) await workers.start(id, { leaseMs: 15_000 });
  // The third will look some seconds later than the first two have announced.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  await workers.start('c', { leaseMs: 15_000 });
  for (const id of ['a', 'b']) {
    workers.signal(id, 'SIGTERM');
    await workers.ended(id);
  }
  // Due after the looks of those who are gone, and before that of the one who is there.
  const { id, dueAt } = await producer.schedule('work', null, { delay: 2_800 });
  const start = await until('it runs', () =>
    workers.history().find((line) => line.event === 'start' && line.id === id),
  );
  // One who counts on them sleeps until its own look, two seconds later.
  expect(start.at - dueAt!.getTime()).toBeLessThan(1_500);
});

it('a job scheduled just after a dying worker would have looked is no more than two seconds late', async () => {
  const workers = new WorkerProcesses();
  cleanups.push(() => workers.stop());
  const { producer } = await startApp([], { prefix: workers.prefix, role: 'producer' });
  await workers.start('a', { leaseMs: 15_000 });
  await workers.start('b', { leaseMs: 15_000 });
  const first = await producer.schedule('work', null, { delay: 900 });
  workers.signal('a', 'SIGKILL');
  await workers.ended('a');
  // Due after the look that the dead worker had announced.
  const second = await producer.schedule('work', null, { delay: 1_000 });
  for (const { id, dueAt } of [first, second]) {
    const start = await until('it runs', () =>
      workers.history().find((line) => line.event === 'start' && line.id === id),
    );
    expect(start.at - dueAt!.getTime()).toBeLessThan(2_000);
  }
});
