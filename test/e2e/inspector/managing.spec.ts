import { hostname } from 'node:os';
import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { InvalidScheduleError, OnScheduledJob } from '../../../lib/index.js';
import { SCRIPTS } from '../../../lib/store/redis/scripts/embedded.js';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

@Injectable()
class Handlers {
  readonly started: string[] = [];
  private release = () => {};
  private readonly held = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  @OnScheduledJob('hold')
  async hold(): Promise<void> {
    this.started.push('hold');
    await this.held;
  }

  @OnScheduledJob('a-job')
  run(): void {}

  letGo(): void {
    this.release();
  }
}

afterEach(stopApps);

it('remove and clear delete what waits, here and in the queue that is named', async () => {
  const { producer, inspector } = await startApp();
  const [ref] = await producer.scheduleMany([
    { job: 'work', payload: 1, options: { delay: '1h' } },
    { job: 'work', payload: 2 },
    { job: 'work', payload: 3, options: { queue: 'reports', id: 'r7' } },
    { job: 'work', payload: 4, options: { queue: 'reports' } },
  ]);
  expect(await inspector.remove(ref!)).toBe(true);
  expect(await inspector.remove(ref!)).toBe(false);
  expect(await inspector.remove('r7')).toBe(false);
  expect(await inspector.remove('r7', { queue: 'reports' })).toBe(true);
  expect(await inspector.clear()).toBe(1);
  expect(await inspector.counts({ queue: 'reports' })).toMatchObject({ due: 1 });
  expect(await inspector.clear({ queue: 'reports' })).toBe(1);
  expect(await inspector.stats({ queue: 'reports' })).toMatchObject({ scheduled: 2, cancelled: 2 });
  await expect(inspector.clear({ quee: 'reports' } as never)).rejects.toThrow(InvalidScheduleError);
});

it('a remove and a step of clear whose replies are lost count once', async () => {
  const proxy = await TcpProxy.start(redisUrl());
  try {
    const { producer, inspector } = await startApp([], { connection: proxy.url });
    for (const id of ['a', 'b', 'c']) await producer.schedule('work', null, { id, delay: '1h' });
    // The scripts are in Redis' cache from here on.
    await inspector.remove('nobody');
    await inspector.clear({ queue: 'empty' });
    const removeCut = proxy.cutOnce((request) => request.includes(SCRIPTS.remove.sha));
    expect(await inspector.remove('a')).toBe(true);
    await removeCut;
    const clearCut = proxy.cutOnce((request) => request.includes(SCRIPTS.clear.sha));
    expect(await inspector.clear()).toBe(2);
    await clearCut;
    expect(await inspector.stats()).toMatchObject({ scheduled: 3, cancelled: 3 });
  } finally {
    await stopApps();
    await proxy.stop();
  }
});

it('workers tells the load of each process, and forgets one that has stopped or was killed', async () => {
  const queues = { default: { leaseMs: 1_000 } };
  const app = await startApp([Handlers], { queues, workerId: 'b' });
  const { producer, inspector, get } = app;
  await producer.schedule('hold', null);
  await until('it runs', () => get(Handlers).started.length === 1);
  const workers = await inspector.workers();
  expect(workers).toEqual([
    {
      id: 'b',
      host: hostname(),
      pid: process.pid,
      version: expect.any(String),
      concurrency: 10,
      running: 1,
      stuck: 0,
      handles: ['a-job', 'hold'],
      options: expect.objectContaining({ leaseMs: 1_000, codec: 'json' }),
      lastSeenAt: expect.any(Date),
    },
  ]);
  expect(await inspector.workers({ queue: 'other' })).toEqual([]);
  get(Handlers).letGo();
  await app.consumer.stop();
  expect(await inspector.workers()).toEqual([]);

  const processes = new WorkerProcesses();
  try {
    await processes.start('killed', { leaseMs: 1_000 });
    const other = await startApp([], { queues, prefix: processes.prefix, role: 'producer' });
    const [killed] = await until('it is there', async () => {
      const found = await other.inspector.workers();
      return found.length === 1 && found;
    });
    expect(killed).toMatchObject({ id: 'killed', host: hostname(), running: 0, handles: ['work'] });
    expect(killed!.pid).not.toBe(process.pid);
    processes.signal('killed', 'SIGKILL');
    await until('it is forgotten', async () => (await other.inspector.workers()).length === 0);
  } finally {
    await processes.stop();
  }
});
