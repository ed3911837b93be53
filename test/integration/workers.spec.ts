import { hostname } from 'node:os';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { newJob, QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;
beforeEach(() => {
  test = new TestStore({ leaseMs: 1_000 });
});
afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;
const here = { host: hostname(), pid: process.pid };

it('workers tells each worker that is there, by id, with the names it handles and the jobs it holds', async () => {
  for (let i = 0; i < 4; i++) await test.schedule();
  const [b, a] = [test.worker('b', 'work', 'a-job'), test.worker('a', 'work')];
  const [first] = await b.claim(3);
  await a.turn({ limit: 0 });
  const workers = await test.view.workers();
  expect(workers).toMatchObject([
    { id: 'a', ...here, running: 0, handles: [] },
    { id: 'b', ...here, running: 3, handles: ['a-job', 'work'] },
  ]);
  for (const { lastSeenAtMs } of workers) {
    expect(lastSeenAtMs).toBeGreaterThanOrEqual(first!.claimedAtMs);
    expect(lastSeenAtMs).toBeLessThanOrEqual(first!.claimedAtMs + 1_000);
  }
  await a.claim();
  await b.settle(settlement.complete(first!));
  expect((await test.view.workers()).map(({ running }) => running)).toEqual([1, 2]);
  expect((await test.view.workers())[0]).toMatchObject({ handles: ['work'] });
});

it('a worker that has left is not told, nor one that has not been there for a lease', async () => {
  const [leaves, dies] = [test.worker('leaves'), test.worker('dies')];
  await Promise.all([leaves.claim(), dies.claim()]);
  expect((await test.view.workers()).map(({ id }) => id)).toEqual(['dies', 'leaves']);
  await leaves.turn({ isLast: true });
  expect((await test.view.workers()).map(({ id }) => id)).toEqual(['dies']);
  await until('the other is forgotten', async () => (await test.view.workers()).length === 0);
});

it('a job that is to be cancelled still counts as held', async () => {
  const { id } = await test.schedule();
  const worker = test.worker('w');
  const [job] = await worker.claim();
  await test.jobs.cancelRunning(id);
  expect(await test.view.workers()).toMatchObject([{ id: 'w', running: 1 }]);
  await worker.settle(settlement.complete(job!));
});

it('several sessions of one process are one worker, and of two entries of one session the newer counts', async () => {
  for (let i = 0; i < 3; i++) await test.schedule();
  const [handlers, pulls] = [test.worker('w', 'work'), test.worker('w~pull-1', 'work', 'pulled')];
  await handlers.claim(1);
  await pulls.claim(2);
  const [newest] = await test.redis.zrevrange(key('workers'), 0, 0, 'WITHSCORES');
  const [group] = newest!.split(' ');
  const seenAt = Number(await test.redis.zscore(key('workers'), newest!));
  await test.redis.zadd(key('workers'), seenAt - 500, `${group} w 1 an older host`);
  expect(await test.view.workers()).toEqual([
    { id: 'w', ...here, running: 3, handles: ['pulled', 'work'], lastSeenAtMs: seenAt },
  ]);
  await test.redis.zadd(key('workers'), seenAt + 1, `${group} w 1 a newer host`);
  expect(await test.view.workers()).toMatchObject([{ id: 'w', pid: 1, host: 'a newer host' }]);
});

it('running is right with more jobs than one call counts', async () => {
  const other = new TestStore({ leaseMs: 60_000 });
  await other.scheduleAll(Array.from({ length: 6_000 }, () => newJob()));
  const [a, b] = [other.worker('a'), other.worker('b')];
  for (let i = 0; i < 4; i++) await a.claim(1_000);
  for (let i = 0; i < 2; i++) await b.claim(1_000);
  expect(await other.view.workers()).toMatchObject([
    { id: 'a', running: 4_000 },
    { id: 'b', running: 2_000 },
  ]);
  await other.close();
});
