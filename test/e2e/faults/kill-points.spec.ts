import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { takesTurn } from '../../support/takes-turn.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

/** Three processes each. */
const ROUNDS = Number(process.env.SIGTERM_ROUNDS ?? 4);

let workers: WorkerProcesses;

beforeEach(() => {
  workers = new WorkerProcesses();
});

afterEach(async () => {
  await workers.stop();
  await stopApps();
});

it('a worker killed after Redis gave it jobs, before a handler began, leaves them to another one', async () => {
  const JOBS = 5;
  const LEASE_MS = 2_000;
  const proxy = await TcpProxy.start(redisUrl());
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  await workers.start('killed', { redis: proxy.url, leaseMs: LEASE_MS });
  const cut = proxy.cutOnce((request, reply) => {
    if (!takesTurn(request) || !reply.includes('::work')) return false;
    // With the reply in hand and nobody told of it.
    workers.signal('killed', 'SIGKILL');
    return true;
  });
  const refs = await producer.scheduleMany(Array.from({ length: JOBS }, () => ({ job: 'work', payload: null })));
  await cut;
  await workers.ended('killed');
  const held = await inspector.list('active');
  expect(held.length).toBeGreaterThan(0);
  expect(workers.history()).toEqual([]);
  await workers.start('other', { leaseMs: LEASE_MS });
  await until('all are done', async () => (await inspector.stats()).completed === JOBS, 4 * LEASE_MS);
  const starts = workers.history().filter(({ event }) => event === 'start');
  expect(starts.map(({ id }) => id).sort()).toEqual(refs.map(({ id }) => id).sort());
  // The run that never began has used an attempt all the same: nobody can tell that it did not.
  const heldIds = new Set(held.map(({ id }) => id));
  for (const { id, attempt } of starts) expect(attempt).toBe(heldIds.has(id) ? 2 : 1);
  await proxy.stop();
});

it(
  'SIGTERM at any moment of claim and settlement: every process ends in time, nothing is lost, nothing runs twice',
  async () => {
    const TOGETHER = 3;
    const SHUTDOWN_TIMEOUT_MS = 2_000;
    const { producer, inspector } = await startApp([], { prefix: workers.prefix });
    let scheduled = 0;
    let longestMs = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const names = Array.from({ length: TOGETHER }, (_, i) => `w${round}-${i}`);
      const options = { concurrency: 10, workMs: 3, leaseMs: 20_000, shutdownTimeoutMs: SHUTDOWN_TIMEOUT_MS };
      await Promise.all(names.map((name) => workers.start(name, options)));
      // More than they manage before they are stopped, so that claims and settlements are always under way.
      const jobs = Array.from({ length: 4_000 }, () => ({ job: 'work', payload: null }));
      scheduled += (await producer.scheduleMany(jobs)).length;
      await Promise.all(
        names.map(async (name) => {
          await new Promise((resolve) => setTimeout(resolve, 300 * Math.random()));
          const from = performance.now();
          workers.signal(name, 'SIGTERM');
          expect(await workers.ended(name)).toBe('SIGTERM');
          longestMs = Math.max(longestMs, performance.now() - from);
        }),
      );
      expect(await inspector.counts()).toMatchObject({ active: 0 });
    }
    await workers.start('last', { concurrency: 1_000 });
    await until('all are done', async () => (await inspector.stats()).completed === scheduled, 20_000 + 500 * ROUNDS);
    const starts = workers.history().filter(({ event }) => event === 'start');
    process.stdout.write(
      `${ROUNDS * TOGETHER} SIGTERMs under load, the longest shutdown took ${Math.round(longestMs)} ms\n`,
    );
    expect(longestMs).toBeLessThan(SHUTDOWN_TIMEOUT_MS + 1_000);
    expect(starts).toHaveLength(scheduled);
    expect(new Set(starts.map(({ id }) => id)).size).toBe(scheduled);
    expect(new Set(starts.map(({ attempt }) => attempt))).toEqual(new Set([1]));
    expect(await inspector.stats()).toMatchObject({
      scheduled,
      completed: scheduled,
      recovered: 0,
      failed: 0,
      dead: 0,
    });
  },
  60_000 + 5_000 * ROUNDS,
);
