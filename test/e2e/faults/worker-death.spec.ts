import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

const LEASE_MS = 2_000;

let workers: WorkerProcesses;

beforeEach(() => {
  workers = new WorkerProcesses();
});

afterEach(async () => {
  await workers.stop();
  await stopApps();
});

/** How often each job was started. */
function startsById(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { event, id } of workers.history()) if (event === 'start') counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

it('every job runs when two of four processes are killed, and only those that ran in them run twice', async () => {
  const JOBS = 8_000;
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  await producer.scheduleMany(Array.from({ length: JOBS }, (_, i) => ({ job: 'work', payload: i })));
  const options = { concurrency: 50, leaseMs: LEASE_MS, workMs: 15 };
  await Promise.all(['w1', 'w2', 'w3', 'w4'].map((id) => workers.start(id, options)));
  await until('a third of the jobs is done', async () => (await inspector.stats()).completed > JOBS / 3);

  const killedAt = Date.now();
  for (const id of ['w1', 'w2']) workers.signal(id, 'SIGKILL');
  await Promise.all(['w1', 'w2'].map((id) => workers.ended(id)));
  const left = (await inspector.list('active', { limit: 1_000 })).filter(
    ({ worker }) => worker === 'w1' || worker === 'w2',
  );
  const leftIds = new Set(left.map(({ id }) => id));
  expect(leftIds.size).toBeGreaterThan(0);

  await until('all jobs are done', async () => (await inspector.stats()).completed === JOBS);
  const history = workers.history();
  const starts = history.filter(({ event }) => event === 'start');
  expect(new Set(starts.map(({ id }) => id)).size).toBe(JOBS);
  const counts = startsById();
  const twice = [...counts].filter(([, count]) => count > 1);
  expect(twice.filter(([id]) => !leftIds.has(id))).toEqual([]);
  expect(twice.filter(([, count]) => count > 2)).toEqual([]);
  // What a killed process held runs again elsewhere, as its second attempt.
  const again = starts.filter(({ id, worker }) => leftIds.has(id) && worker !== 'w1' && worker !== 'w2');
  expect(new Set(again.map(({ id }) => id))).toEqual(leftIds);
  expect(new Set(again.map(({ attempt }) => attempt))).toEqual(new Set([2]));
  expect(await inspector.stats()).toMatchObject({
    scheduled: JOBS,
    completed: JOBS,
    recovered: leftIds.size,
    failed: 0,
  });
  expect(await inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
  const lastAgain = Math.max(...again.map(({ at }) => at)) - killedAt;
  process.stdout.write(
    `the last of ${leftIds.size} recovered jobs started ${lastAgain} ms after the kill, lease ${LEASE_MS} ms\n`,
  );
  expect(lastAgain).toBeLessThan(LEASE_MS + 4_000);
});

it('processes in the middle of a backlog lose nothing, and repeat only what ran, when one stops and one is killed', async () => {
  const JOBS = 40_000;
  const WORKERS = ['w1', 'w2', 'w3'];
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  const haveRun = (count: number) =>
    until(`${count} have run`, async () => (await inspector.stats()).completed! > count);
  await producer.scheduleMany(Array.from({ length: JOBS }, () => ({ job: 'work', payload: null })));
  const options = { concurrency: 20, leaseMs: LEASE_MS };
  await Promise.all(WORKERS.map((id) => workers.start(id, options)));

  await haveRun(5_000);
  workers.signal('w1', 'SIGTERM');
  await workers.ended('w1');
  expect((await inspector.list('active', { limit: 1_000 })).filter(({ worker }) => worker === 'w1')).toEqual([]);

  await haveRun(20_000);
  workers.signal('w2', 'SIGKILL');
  await workers.ended('w2');
  const left = (await inspector.list('active', { limit: 1_000 })).filter(({ worker }) => worker === 'w2');
  const leftIds = new Set(left.map(({ id }) => id));

  await until('all jobs are done', async () => (await inspector.stats()).completed === JOBS);
  const counts = startsById();
  expect(counts.size).toBe(JOBS);
  const twice = [...counts].filter(([, count]) => count > 1).map(([id]) => id);
  expect(twice.filter((id) => !leftIds.has(id))).toEqual([]);
  expect(await inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
});

it('a worker that froze past its lease settles nothing: the second run is the one that counts', async () => {
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  const options = { leaseMs: 1_000, workMs: 300, keepCompleted: 10, concurrency: 1 };
  await workers.start('frozen', options);
  const ref = await producer.schedule('work', null);
  await until('the first worker runs it', () => workers.history().some(({ event }) => event === 'start'));
  workers.signal('frozen', 'SIGSTOP');
  await workers.start('second', options);
  await until('the second has run it', async () => (await inspector.job(ref))?.state === 'completed');
  workers.signal('frozen', 'SIGCONT');
  await until('the frozen one has ended its run too', () =>
    workers.history().some(({ event, worker }) => event === 'end' && worker === 'frozen'),
  );
  // A job that it runs after that one shows that it has had its settlement refused.
  workers.signal('second', 'SIGKILL');
  await producer.schedule('work', null);
  await until('the thawed one goes on', async () => (await inspector.stats()).completed === 2);
  expect(await inspector.job(ref)).toMatchObject({ state: 'completed', result: 'second', attempts: 2 });
  expect(await inspector.stats()).toMatchObject({ scheduled: 2, started: 3, completed: 2, recovered: 1, failed: 0 });
});

it('a worker that lost all its leases goes on claiming, even when its handlers obey their signal', async () => {
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  const options = { leaseMs: 1_000, workMs: 1_500, concurrency: 1 };
  await workers.start('frozen', { ...options, obeySignal: true });
  const first = await producer.schedule('work', null);
  await until('the first worker runs it', () => workers.history().some(({ event }) => event === 'start'));
  workers.signal('frozen', 'SIGSTOP');
  await workers.start('second', { ...options, workMs: 0 });
  await until('the second has run it', async () => (await inspector.job(first)) === null);
  workers.signal('second', 'SIGKILL');
  await workers.ended('second');
  await producer.scheduleMany([1, 2].map((payload) => ({ job: 'work', payload })));
  workers.signal('frozen', 'SIGCONT');
  await until('the thawed one runs the others', async () => (await inspector.stats()).completed === 3);
});
