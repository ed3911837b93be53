import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { CommandCount } from '../../support/command-count.js';
import { noteWarnings } from '../../support/node-warnings.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

@Injectable()
class Handlers {
  readonly runs: { payload: unknown; latenessMs: number; ranAt: number; dueAt: number }[] = [];

  @OnScheduledJob('work')
  work(payload: unknown, job: ScheduledJob): void {
    this.runs.push({ payload, latenessMs: job.latenessMs, ranAt: Date.now(), dueAt: job.dueAt.getTime() });
  }
}

const DAY_MS = 24 * 3_600_000;
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  await stopApps();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

it('jobs due at once, in 1 ms, in 1 s, in 25 days and in 100 years: none is early, the near ones are on time, the far ones cost nothing', async () => {
  const server = await startOwnServer();
  cleanups.push(() => server.stop());
  const { warnings, stop } = noteWarnings();
  cleanups.push(stop);
  const { producer, inspector, get } = await startApp([Handlers], { connection: server.url });
  const { runs } = get(Handlers);
  const far = await producer.scheduleMany([
    { job: 'work', payload: '25 days', options: { delay: 25 * DAY_MS } },
    { job: 'work', payload: '100 years', options: { delay: '36500 days' } },
  ]);
  for (const [payload, delay] of [
    ['now', 0],
    ['1 ms', 1],
    ['1 s', '1s'],
  ] as const)
    await producer.schedule('work', payload, { delay });
  await until('the near ones have run', () => runs.length === 3);
  expect(runs.map(({ payload }) => payload)).toEqual(['now', '1 ms', '1 s']);
  for (const run of runs) {
    // The handler's clock is that of the server here: both are of one machine.
    expect(run.ranAt).toBeGreaterThanOrEqual(run.dueAt);
    expect(run.latenessMs).toBeGreaterThanOrEqual(0);
    expect(run.latenessMs).toBeLessThan(BEFORE_NEXT_LOOK_MS);
  }

  const count = new CommandCount(server.url);
  cleanups.push(() => count.close());
  const before = await count.sent();
  const started = performance.now();
  await until('the poller has looked again', async () => (await count.sent()) > before, 12_000);
  const again = await count.sent();
  // One look in up to 5 s; a timer that overflowed would have made thousands.
  expect(again - before).toBeLessThanOrEqual(2 + (performance.now() - started) / 1_000);
  expect(warnings).toEqual([]);
  expect(await inspector.counts()).toMatchObject({ scheduled: 2, due: 0 });
  expect((await inspector.list('scheduled')).map(({ id }) => id)).toEqual(far.map(({ id }) => id));
  expect(await inspector.nextDueAt()).toEqual(far[0]!.dueAt);
});

it('an idle worker with a job due in an hour sends less than one command a second, and starts one from another process at once', async () => {
  const server = await startOwnServer();
  const workers = new WorkerProcesses();
  cleanups.push(async () => {
    await workers.stop();
    await server.stop();
  });
  const { producer } = await startApp([], { connection: server.url, prefix: workers.prefix, role: 'producer' });
  await producer.schedule('work', null, { delay: '1h' });
  const count = new CommandCount(server.url);
  cleanups.push(() => count.close());
  const byProducer = await count.sent();
  await workers.start('idle', { redis: server.url, leaseMs: 15_000 });
  await until('the worker has looked and listens', async () => (await count.sent()) >= byProducer + 6);
  let before = await count.sent();
  await until('all that it does as it starts is done', async () => {
    const last = before;
    await new Promise((resolve) => setTimeout(resolve, 500));
    before = await count.sent();
    return before === last;
  });
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  expect((await count.sent()) - before).toBeLessThan(10);

  const delays: number[] = [];
  for (let round = 1; round <= 21; round++) {
    const ref = await producer.schedule('work', null);
    const start = await until('it runs', () =>
      workers.history().find(({ event, id }) => event === 'start' && id === ref.id),
    );
    delays.push(start.at - ref.dueAt!.getTime());
  }
  const median = delays.sort((a, b) => a - b)[10]!;
  process.stdout.write(`started after ${median} ms (median), ${delays.at(-1)} ms (worst of ${delays.length})\n`);
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  expect(median).toBeLessThanOrEqual(200);
});
