import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../support/queue-app.js';
import { until } from '../support/wait.js';
import { WorkerProcesses } from '../support/worker-process.js';

const LEASE_MS = 2_000;
const CONCURRENCY = 20;
const WORKERS = ['w1', 'w2', 'w3'];

let workers: WorkerProcesses;

beforeEach(() => {
  workers = new WorkerProcesses();
});

afterEach(async () => {
  await workers.stop();
  await stopApps();
});

it('processes that claim more than they run at once lose and repeat nothing when one stops and one is killed', async () => {
  const JOBS = 60_000;
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  const isAhead = async () => (await inspector.counts()).active > WORKERS.length * CONCURRENCY;
  await producer.scheduleMany(Array.from({ length: JOBS }, () => ({ job: 'work', payload: null })));
  const options = { concurrency: CONCURRENCY, leaseMs: LEASE_MS };
  await Promise.all(WORKERS.map((id) => workers.start(id, options)));

  await until('more is claimed than may run', isAhead);
  workers.signal('w1', 'SIGTERM');
  await workers.ended('w1');
  expect((await inspector.list('active', { limit: 1_000 })).filter(({ worker }) => worker === 'w1')).toEqual([]);

  await until('more is claimed than may run', isAhead);
  workers.signal('w2', 'SIGKILL');
  await workers.ended('w2');
  const left = (await inspector.list('active', { limit: 1_000 })).filter(({ worker }) => worker === 'w2');
  const leftIds = new Set(left.map(({ id }) => id));

  await until('all jobs are done', async () => (await inspector.stats()).completed === JOBS, 30_000);
  const counts = new Map<string, number>();
  for (const { event, id } of workers.history()) if (event === 'start') counts.set(id, (counts.get(id) ?? 0) + 1);
  expect(counts.size).toBe(JOBS);
  const twice = [...counts].filter(([, count]) => count > 1).map(([id]) => id);
  expect(twice.filter((id) => !leftIds.has(id))).toEqual([]);
  expect(await inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
}, 90_000);
