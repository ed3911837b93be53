import { hostname } from 'node:os';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { sharedOptions } from '../../lib/core/options/shared-options.js';
import { VERSION } from '../../lib/core/version.js';
import { queueKeys } from '../../lib/store/redis/keys.js';
import { SCRIPTS } from '../../lib/store/redis/scripts/embedded.js';
import { workersScript } from '../../lib/store/redis/scripts/look/contract.js';
import { newJob, QUEUE, TestStore } from '../support/store.js';

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

it('several sessions of one process are one worker, and of two entries of one session the newer counts', async () => {
  for (let i = 0; i < 3; i++) await test.schedule();
  const [handlers, pulls] = [test.worker('w', 'work'), test.worker('w~pull-1', 'work', 'pulled')];
  await handlers.claim(1);
  await pulls.claim(2);
  const [newest] = await test.redis.zrevrange(key('workers'), 0, 0, 'WITHSCORES');
  const [crew] = newest!.split(' ');
  const seenAt = Number(await test.redis.zscore(key('workers'), newest!));
  await test.redis.zadd(key('workers'), seenAt - 500, `${crew} w 1 0.1.0,10 an older host`);
  expect(await test.view.workers()).toEqual([
    {
      id: 'w',
      ...here,
      version: VERSION,
      running: 3,
      concurrency: 10,
      weight: 1,
      handles: ['pulled', 'work'],
      options: sharedOptions(test.settings, 'json'),
      lastSeenAtMs: seenAt,
    },
  ]);
  await test.redis.zadd(key('workers'), seenAt + 1, `${crew} w 1 0.1.0,10 a newer host`);
  expect(await test.view.workers()).toMatchObject([{ id: 'w', pid: 1, host: 'a newer host' }]);
});

it('options that only another version knows are told as they are, and those that it does not tell are missing', async () => {
  await test.worker('a').turn();
  const [member] = await test.redis.zrange(key('workers'), '0', '0');
  const seenAt = Number(await test.redis.zscore(key('workers'), member!));
  const [crew] = member!.split(' ');
  await test.redis.set(key('options:1a'), '{"leaseMs":60000,"partitions":8}', 'EX', 60);
  await test.redis.set(key('options:2b'), '{"leaseMs":6', 'EX', 60);
  await test.redis.zadd(key('workers'), seenAt, `${crew} later 1 9.0.0,10,#1a a-host`);
  await test.redis.zadd(key('workers'), seenAt, `${crew} earlier 1 0.0.9,10 a-host`);
  await test.redis.zadd(key('workers'), seenAt, `${crew} spoilt 1 0.1.0,10,#2b a-host`);
  await test.redis.zadd(key('workers'), seenAt, `${crew} lost 1 0.1.0,10,#3c a-host`);
  const others = (await test.view.workers()).filter(({ id }) => id !== 'a');
  expect(others.map(({ id, concurrency, options }) => ({ id, concurrency, options }))).toEqual([
    { id: 'earlier', concurrency: 10, options: {} },
    { id: 'later', concurrency: 10, options: { leaseMs: 60_000, partitions: 8 } },
    { id: 'lost', concurrency: 10, options: {} },
    { id: 'spoilt', concurrency: 10, options: {} },
  ]);
});

it('one call reads no more than a few hundred KiB of what the running jobs have reported, and running is right', async () => {
  const other = new TestStore({ leaseMs: 60_000 });
  await other.scheduleAll(Array.from({ length: 1_000 }, () => newJob()));
  const worker = other.worker('a');
  const claimed = await worker.claim(1_000);
  const value = JSON.stringify('x'.repeat(1_000));
  await worker.turn({ reports: claimed.map(({ id, fence }) => ({ id, fence, value })) });
  const script = workersScript(queueKeys(other.prefix, QUEUE));
  const args = script.encode({ withinMs: 60_000, passOver: 0, limit: 1_000 });
  const [looked, isWhole] = (await other.redis.eval(
    SCRIPTS[script.name].source,
    script.keys.length,
    ...script.keys,
    ...args,
  )) as string[];
  expect(Number(looked)).toBeLessThanOrEqual(300);
  expect(isWhole).toBe('0');
  expect(await other.view.workers()).toMatchObject([{ id: 'a', running: 1_000 }]);
  await other.close();
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
