import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { OnScheduledJob, type PoppedJob, QueueClosedError, QueueUnavailableError } from '../../../lib/index.js';
import { CommandCount } from '../../support/command-count.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

@Injectable()
class OtherHandlers {
  @OnScheduledJob('other')
  run(): void {}
}

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  await stopApps();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** Much less than the half second for which a deputy waits, and than the seconds between two looks. Milliseconds are shown by the benchmark `single`. */
const AT_ONCE_MS = 300;

const median = (numbers: number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;

describe('a pop that waits', () => {
  it('ends with what has become due, and with nothing when its time is over', async () => {
    const { consumer, producer } = await startApp();
    const started = performance.now();
    expect(await consumer.pop({ waitMs: 300 })).toEqual([]);
    expect(performance.now() - started).toBeGreaterThanOrEqual(299);
    expect(performance.now() - started).toBeLessThan(BEFORE_NEXT_LOOK_MS);
    const ref = await producer.schedule('mail', null, { delay: 400 });
    const waiting = consumer.pop({ waitMs: '20s', count: 5 });
    const [job, ...others] = await waiting;
    expect(job!.id).toBe(ref.id);
    expect(others).toEqual([]);
    expect(Date.now()).toBeGreaterThanOrEqual(ref.dueAt!.getTime());
    expect(job!.latenessMs).toBeLessThan(BEFORE_NEXT_LOOK_MS);
  });

  it('shares what comes with others in the order in which they came, and the rest wait on', async () => {
    const { consumer, producer } = await startApp();
    const ended: string[] = [];
    const pops = ['first', 'second', 'third'].map(async (name) => {
      const jobs = await consumer.pop({ waitMs: '20s' });
      ended.push(name);
      return jobs;
    });
    for (const name of ['first', 'second', 'third']) {
      await producer.schedule('mail', name);
      await until(`${name} has ended`, () => ended.includes(name), BEFORE_NEXT_LOOK_MS);
    }
    expect(ended).toEqual(['first', 'second', 'third']);
    expect((await Promise.all(pops)).map(([job]) => job!.payload)).toEqual(['first', 'second', 'third']);
  });

  it('costs less than one command a second, be it one of fifty, and answers at once when another process schedules', async () => {
    const server = await startOwnServer();
    cleanups.push(() => server.stop());
    const prefix = newPrefix();
    const { consumer } = await startApp([], { connection: server.url, prefix });
    const { producer } = await startApp([], { connection: server.url, prefix, role: 'producer' });
    await producer.schedule('mail', null, { delay: '1h' });
    const count = new CommandCount(server.url);
    cleanups.push(() => count.close());
    // The first of all connects, subscribes and notes its names.
    expect(await consumer.pop({ waitMs: 500 })).toEqual([]);
    const before = await count.sent();
    const idle = await Promise.all(Array.from({ length: 50 }, () => consumer.pop({ waitMs: '4s' })));
    expect(idle.flat()).toEqual([]);
    const sent = (await count.sent()) - before;
    process.stdout.write(`fifty idle pops of 4 s: ${sent} commands\n`);
    expect(sent).toBeLessThan(4);

    const workers = new WorkerProcesses();
    cleanups.push(() => workers.stop());
    const late: number[] = [];
    const other = await startApp([], { connection: server.url, prefix: workers.prefix, role: 'producer' });
    await workers.start('puller', { redis: server.url, pulls: true, leaseMs: 15_000 });
    for (let round = 1; round <= 41; round++) {
      const { id, dueAt } = await other.producer.schedule('work', null, { delay: round % 2 === 0 ? 0 : 60 });
      const start = await until('it is popped', () =>
        workers.history().find((line) => line.event === 'start' && line.id === id),
      );
      late.push(start.at - dueAt!.getTime());
    }
    process.stdout.write(
      `popped after ${median(late)} ms (median), ${Math.max(...late)} ms (worst of ${late.length})\n`,
    );
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    expect(median(late)).toBeLessThan(AT_ONCE_MS);
  });

  it('hears of a job that prefers its process, also where that process handles other names', async () => {
    const options = { workerId: 'here', queues: { default: { stealAfterMs: '1h' } } } as const;
    const { consumer, producer } = await startApp([OtherHandlers], options);
    const late: number[] = [];
    for (let round = 0; round < 5; round++) {
      const waiting = consumer.pop({ names: ['mail'], waitMs: '20s' });
      await sleep(50);
      const { dueAt } = await producer.schedule('mail', null, { worker: 'here', delay: round % 2 === 0 ? 0 : 100 });
      await waiting;
      late.push(Date.now() - dueAt!.getTime());
    }
    expect(median(late)).toBeLessThan(AT_ONCE_MS);
  });

  it('hands over to another process when its time is over or it has got something: nobody is late for it', async () => {
    const workers = new WorkerProcesses();
    cleanups.push(() => workers.stop());
    const { consumer, producer } = await startApp([], { prefix: workers.prefix });
    const names = ['work'];
    const late: number[] = [];
    const run = async (id: string) =>
      await until('it is popped there', () => workers.history().find((l) => l.event === 'start' && l.id === id));
    // Ours comes first, and so stands by for what is due next; the other process is its deputy.
    expect(await consumer.pop({ names, waitMs: 100 })).toEqual([]);
    for (let round = 0; round < 5; round++) {
      const here = consumer.pop({ names, waitMs: 400 });
      await sleep(50);
      if (round === 0) await workers.start('there', { pulls: true, leaseMs: 15_000 });
      const { id, dueAt } = await producer.schedule('work', null, { delay: 700 });
      expect(await here).toEqual([]);
      late.push((await run(id)).at - dueAt!.getTime());
    }
    for (let round = 0; round < 5; round++) {
      const here = consumer.pop({ names, waitMs: '20s' });
      await sleep(50);
      const jobs = [
        await producer.schedule('work', null, { delay: 200 }),
        await producer.schedule('work', null, { delay: 300 }),
      ];
      const [job] = await here;
      const there = jobs.filter(({ id }) => id !== job?.id);
      await job!.complete();
      for (const { id, dueAt } of there) late.push((await run(id)).at - dueAt!.getTime());
    }
    process.stdout.write(`after a hand-over popped after ${late.join(', ')} ms\n`);
    // Without it the deputy would look half a second later.
    expect(median(late.slice(0, 5))).toBeLessThan(AT_ONCE_MS);
    expect(median(late.slice(5))).toBeLessThan(AT_ONCE_MS);
  });
});

/** Settles the jobs in its hands in a hook of its own, as an application would. */
@Injectable()
class Settling implements BeforeApplicationShutdown {
  jobs: PoppedJob[] = [];
  settled: boolean[] = [];

  async beforeApplicationShutdown(): Promise<void> {
    this.settled = await Promise.all(this.jobs.map((job) => job.complete()));
  }
}

describe('at shutdown', () => {
  it('pops that wait end with nothing, and later ones are refused', async () => {
    const { app, consumer, prefix } = await startApp();
    const waiting = Promise.all([consumer.pop({ waitMs: '20s' }), consumer.pop({ names: ['mail'], waitMs: '20s' })]);
    await consumer.pop();
    const from = performance.now();
    await app.close();
    expect(await waiting).toEqual([[], []]);
    expect(performance.now() - from).toBeLessThan(5_000);
    await expect(consumer.pop()).rejects.toThrow(QueueClosedError);
    const other = await startApp([], { prefix });
    const ref = await other.producer.schedule('mail', null);
    expect((await other.inspector.explain(ref)).code).toBe('no-handler');
  });

  it('popped jobs can be settled until all hooks have ended, and what is left goes back with no attempt used', async () => {
    const { app, consumer, producer, prefix, get } = await startApp([Settling]);
    await producer.scheduleMany(Array.from({ length: 5 }, (_, i) => ({ job: 'mail', payload: i })));
    const jobs = await consumer.pop({ count: 5 });
    const settling = get(Settling);
    settling.jobs = jobs.slice(0, 3);
    await app.close();
    expect(settling.settled).toEqual([true, true, true]);
    await expect(jobs[3]!.complete()).rejects.toThrow(QueueClosedError);
    const other = await startApp([], { prefix });
    expect(await other.inspector.stats()).toMatchObject({ completed: 3, recovered: 0, failed: 0 });
    const again = await other.consumer.pop({ count: 5 });
    expect(again.map(({ payload, attempt }) => [payload, attempt])).toEqual([
      [3, 1],
      [4, 1],
    ]);
  });

  it('a popped job goes back though its lease was over when it was extended', async () => {
    const { app, consumer, producer, prefix } = await startApp([], { queues: { default: { leaseMs: 1_000 } } });
    await producer.schedule('mail', null);
    const [job] = await consumer.pop();
    // Long enough for this process to take it for lost; nobody else is there who would recover it.
    const poppedAt = Date.now();
    await until('its lease is over', () => Date.now() > poppedAt + 1_400);
    expect(await job!.extend('1h')).toBe(true);
    await app.close();
    const other = await startApp([], { prefix });
    expect(await other.inspector.counts()).toMatchObject({ active: 0, due: 1 });
    expect(await other.inspector.stats()).toMatchObject({ recovered: 0 });
  });

  it('a process that pulls ends its loops in order', async () => {
    const workers = new WorkerProcesses();
    cleanups.push(() => workers.stop());
    const { producer, inspector } = await startApp([], { prefix: workers.prefix, role: 'producer' });
    await workers.start('p', { pulls: true, concurrency: 4 });
    const { id } = await producer.schedule('work', 500);
    await until('it is popped', () => workers.history().length === 1);
    const from = performance.now();
    workers.signal('p', 'SIGTERM');
    expect(await workers.ended('p')).toBe('SIGTERM');
    expect(performance.now() - from).toBeLessThan(3_000);
    expect(workers.history().map((line) => [line.event, line.id])).toEqual([
      ['start', id],
      ['end', id],
    ]);
    expect(await inspector.stats()).toMatchObject({ completed: 1, recovered: 0 });
  });
});

it('jobs of a process that was killed while it held them come back, and each runs to its end once', async () => {
  const JOBS = 40;
  const workers = new WorkerProcesses();
  cleanups.push(() => workers.stop());
  const { producer, inspector } = await startApp([], { prefix: workers.prefix, role: 'producer' });
  for (const id of ['a', 'b']) await workers.start(id, { pulls: true, concurrency: 10, leaseMs: 1_500 });
  await producer.scheduleMany(Array.from({ length: JOBS }, () => ({ job: 'work', payload: 300 })));
  await until('both hold some', () => new Set(workers.history().map(({ worker }) => worker)).size === 2);
  workers.signal('a', 'SIGKILL');
  await workers.ended('a');
  const history = workers.history();
  const heldByA = history.filter(
    ({ event, worker, id }) =>
      event === 'start' && worker === 'a' && !history.some((line) => line.event === 'end' && line.id === id),
  );
  expect(heldByA.length).toBeGreaterThan(0);
  await until('all are done', async () => (await inspector.stats()).completed === JOBS);
  const again = workers.history().filter(({ event, attempt }) => event === 'start' && attempt === 2);
  for (const { id } of heldByA) expect(again.map((line) => line.id)).toContain(id);
  expect(new Set(workers.history().map(({ id }) => id)).size).toBe(JOBS);
});

describe('while Redis is away', () => {
  it('a pop and a call of a popped job end in time, and the call counts when Redis is back', async () => {
    const server = await startOwnServer();
    cleanups.push(() => server.stop());
    const log = new LogLines();
    const options = {
      connection: server.url,
      commandTimeoutMs: 1_000,
      queues: { default: { leaseMs: '1m' } },
    } as const;
    const { consumer, producer, inspector } = await startApp([], options, { log });
    await producer.schedule('mail', 1);
    await producer.schedule('mail', 2);
    const [job] = await consumer.pop();
    server.freeze();
    const from = performance.now();
    const popped = consumer.pop({ waitMs: 500 });
    const completed = job!.complete();
    await expect(completed).rejects.toThrow(QueueUnavailableError);
    await expect(completed).rejects.toMatchObject({ outcome: 'unknown', jobId: job!.id });
    await expect(popped).rejects.toThrow(QueueUnavailableError);
    expect(performance.now() - from).toBeLessThan(2_500);
    server.thaw();
    expect(await job!.complete()).toBe(true);
    expect(await job!.complete()).toBe(false);
    expect(await inspector.stats()).toMatchObject({ completed: 1 });
    // What was claimed for the pop that had gone came back with no attempt used.
    const [other] = await consumer.pop({ waitMs: '10s' });
    expect(other).toMatchObject({ payload: 2, attempt: 1 });
    expect(await other!.complete()).toBe(true);
  });
});
