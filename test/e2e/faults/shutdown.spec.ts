import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { OnScheduledJob, QueueClosedError, ScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';
import { WorkerProcesses } from '../../support/worker-process.js';

let workers: WorkerProcesses;

beforeEach(() => {
  workers = new WorkerProcesses();
});

afterEach(async () => {
  await workers.stop();
  await stopApps();
});

it('SIGTERM lets the running jobs finish, and nothing runs twice', async () => {
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  await workers.start('w', { concurrency: 50, workMs: 200 });
  await producer.scheduleMany(Array.from({ length: 50 }, (_, i) => ({ job: 'work', payload: i })));
  await until('all run', () => workers.history().filter(({ event }) => event === 'start').length === 50);
  const stoppedAt = performance.now();
  workers.signal('w', 'SIGTERM');
  expect(await workers.ended('w')).toBe('SIGTERM');
  process.stdout.write(
    `50 running handlers of 200 ms: ended ${Math.round(performance.now() - stoppedAt)} ms after SIGTERM\n`,
  );
  expect(workers.history().filter(({ event }) => event === 'end')).toHaveLength(50);
  expect(await inspector.stats()).toMatchObject({ started: 50, completed: 50, recovered: 0, failed: 0 });
  expect(await inspector.counts()).toMatchObject({ due: 0, active: 0 });
});

it('jobs that do not end in time go back at once, with no attempt used', async () => {
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  await workers.start('w', { concurrency: 5, workMs: 600_000, shutdownTimeoutMs: 300 });
  const refs = await producer.scheduleMany(Array.from({ length: 5 }, (_, i) => ({ job: 'work', payload: i })));
  await until('all run', () => workers.history().length === 5);
  const stoppedAt = performance.now();
  workers.signal('w', 'SIGTERM');
  expect(await workers.ended('w')).toBe('SIGTERM');
  expect(performance.now() - stoppedAt).toBeLessThan(300 + 1_000);
  expect(await inspector.counts()).toMatchObject({ due: 5, active: 0 });
  const jobs = await inspector.list('due');
  expect(jobs.map(({ id, attempts, dueAt }) => ({ id, attempts, dueAt }))).toEqual(
    refs.map(({ id, dueAt }) => ({ id, attempts: 0, dueAt })),
  );
  await workers.start('next', { concurrency: 5 });
  await until('they run elsewhere', async () => (await inspector.stats()).completed === 5);
  expect(
    workers
      .history()
      .filter(({ worker }) => worker === 'next')
      .every(({ attempt }) => attempt === 1),
  ).toBe(true);
});

it('what a stopping worker gives back, another one that stood idle starts at once', async () => {
  const JOBS = 50;
  const SHUTDOWN_TIMEOUT_MS = 500;
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  // Without a word it would look in five seconds, and the leases would end in a minute.
  const options = { concurrency: JOBS, leaseMs: 60_000 };
  await workers.start('w', { ...options, workMs: 600_000, shutdownTimeoutMs: SHUTDOWN_TIMEOUT_MS });
  await producer.scheduleMany(Array.from({ length: JOBS }, (_, i) => ({ job: 'work', payload: i })));
  await until('all run', () => workers.history().length === JOBS);
  await workers.start('idle', options);
  const stoppedAt = Date.now();
  workers.signal('w', 'SIGTERM');
  expect(await workers.ended('w')).toBe('SIGTERM');
  const endedMs = Date.now() - stoppedAt;
  await until('they run elsewhere', async () => (await inspector.stats()).completed === JOBS);
  const again = workers.history().filter(({ event, worker }) => event === 'start' && worker === 'idle');
  expect(again).toHaveLength(JOBS);
  expect(new Set(again.map(({ attempt }) => attempt))).toEqual(new Set([1]));
  const startedMs = again.map(({ at }) => at - stoppedAt);
  process.stdout.write(
    `50 handlers of ten minutes, shutdownTimeoutMs ${SHUTDOWN_TIMEOUT_MS}: the process ended ${endedMs} ms after SIGTERM, the jobs began elsewhere after ${Math.min(...startedMs)} to ${Math.max(...startedMs)} ms\n`,
  );
  expect(endedMs).toBeLessThan(SHUTDOWN_TIMEOUT_MS + 1_000);
  expect(Math.min(...startedMs)).toBeGreaterThanOrEqual(SHUTDOWN_TIMEOUT_MS - 10);
  expect(Math.max(...startedMs)).toBeLessThan(SHUTDOWN_TIMEOUT_MS + 1_000);
  expect(await inspector.stats()).toMatchObject({ recovered: 0, failed: 0 });
});

@Injectable()
class StubbornHandlers {
  readonly reasons: unknown[] = [];
  running = 0;

  @OnScheduledJob('stubborn')
  async run(_payload: unknown, { signal }: ScheduledJob): Promise<void> {
    this.running++;
    signal.addEventListener('abort', () => this.reasons.push(signal.reason));
    await sleep(3_000, undefined, { signal: undefined, ref: false });
  }
}

class Database implements OnModuleDestroy {
  isOpen = true;

  onModuleDestroy(): void {
    this.isOpen = false;
  }
}

@Injectable()
class Transfers {
  readonly seen: string[] = [];
  begun = 0;

  constructor(private readonly database: Database) {}

  /** Needs the database for a while after its time is over. */
  @OnScheduledJob('transfer', { timeoutMs: 300, maxAttempts: 1 })
  async run(_payload: unknown, { signal }: ScheduledJob): Promise<void> {
    this.begun++;
    await sleep(600_000, undefined, { signal, ref: false }).catch(() => {});
    this.seen.push('aborted');
    await sleep(700);
    this.seen.push(this.database.isOpen ? 'rolled back' : 'the database was closed');
  }
}

it.each([['before'], ['after']])(
  'a handler that rolls back after its time is waited for, where the application closes %s that time',
  async (when) => {
    const { app, producer, get } = await startApp([Database, Transfers]);
    const transfers = get(Transfers);
    await producer.schedule('transfer', null);
    await until('it runs', () => transfers.begun === 1);
    if (when === 'after') await until('its time is over', () => transfers.seen.length === 1);
    await app.close();
    expect(transfers.seen).toEqual(['aborted', 'rolled back']);
  },
);

it('the signal of a job that goes back says that the queue is closing', async () => {
  const { app, producer, get } = await startApp([StubbornHandlers], { shutdownTimeoutMs: 50 });
  await producer.schedule('stubborn', null);
  const handlers = get(StubbornHandlers);
  await until('it runs', () => handlers.running === 1);
  await app.close();
  expect(handlers.reasons).toEqual([expect.any(QueueClosedError)]);
});

it('a worker that is stopped claims nothing, and goes on when it is started again', async () => {
  const { consumer, producer, inspector, get } = await startApp([StubbornHandlers]);
  await consumer.stop();
  await producer.schedule('stubborn', null);
  expect(await inspector.counts()).toMatchObject({ due: 1, active: 0 });
  await consumer.start();
  await until('it runs', () => get(StubbornHandlers).running === 1);
});

it.each([
  ['a handler that outlasts it', 1_000, true],
  ['no handler', 300, false],
])(
  'with popped jobs in hand, %s and no answer from Redis, a close takes a second more than it may',
  async (_, shutdownTimeoutMs, isBusy) => {
    const server = await startOwnServer();
    try {
      const { app, producer, consumer, get } = await startApp([Work], { connection: server.url, shutdownTimeoutMs });
      await producer.schedule('popped', 1);
      expect(await consumer.pop({ names: ['popped'] })).toBeTruthy();
      if (isBusy) {
        await producer.schedule('long', 5_000);
        await until('it runs', () => get(Work).runs.length === 1);
      }
      server.freeze();
      const closedAt = performance.now();
      await app.close();
      const moreMs = performance.now() - closedAt - shutdownTimeoutMs;
      process.stdout.write(`closed ${Math.round(moreMs)} ms after shutdownTimeoutMs\n`);
      // A second, and what a machine takes that does other things as well.
      expect(moreMs).toBeLessThan(1_000 + 200);
    } finally {
      server.thaw();
      await server.stop();
    }
  },
);
