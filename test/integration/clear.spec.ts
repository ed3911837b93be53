import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { NewJob } from '../../lib/store/job-store.js';
import { startOwnServer } from '../support/redis-server.js';
import { newJob, QUEUE, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

const HOUR = 3_600_000;

let test: TestStore;
beforeEach(() => {
  test = new TestStore({ keepCompleted: 10 });
});
afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;

const PART = 500;

async function scheduleMany(count: number, job: (i: number) => Partial<NewJob>, store = test): Promise<void> {
  // In parts: on a busy machine thousands of new lanes under way would outlast commandTimeoutMs.
  const jobs = Array.from({ length: count }, (_, i) => newJob(job(i)));
  for (let i = 0; i < count; i += PART) await store.scheduleAll(jobs.slice(i, i + PART));
}

it('clear deletes every job of thousands of lanes, a few hundred a call', async () => {
  await scheduleMany(3_000, (i) => ({ name: `job-${i}`, priority: 1 + (i % 7), due: { delayMs: (i % 2) * HOUR } }));
  expect(await test.management.clear()).toBe(3_000);
  expect(await test.view.counts()).toMatchObject({ scheduled: 0, due: 0 });
  expect(await test.redis.keys(key('*'))).toEqual(
    expect.not.arrayContaining([expect.stringMatching(/:(lane|heads|levels|jobs)\b/)]),
  );
});

it('clear leaves what is scheduled while it is under way', async () => {
  await scheduleMany(6_000, (i) => ({ id: `old-${i}`, due: { delayMs: HOUR } }));
  const clearing = test.management.clear();
  await until('it has begun', async () => (await test.view.stats()).cancelled);
  await scheduleMany(300, (i) => ({ id: `new-${i}`, due: { delayMs: HOUR } }));
  expect(await test.view.counts().then(({ scheduled }) => scheduled > 300)).toBe(true);
  expect(await clearing).toBe(6_000);
  expect(await test.view.counts()).toMatchObject({ scheduled: 300 });
});

it('clear gets past an id in a lane that is no job, and past an envelope that cannot be read', async () => {
  for (const id of ['gone', 'damaged', 'a', 'b']) await test.schedule({ id });
  const envelope = (await test.redis.hget(key('jobs'), 'damaged'))!;
  await test.redis.hdel(key('jobs'), 'gone');
  await test.redis.hset(key('jobs'), 'damaged', 'no envelope');
  expect(await test.management.clear()).toBe(2);
  await test.redis.hset(key('jobs'), 'damaged', envelope);
  expect(await test.management.clear()).toBe(1);
  expect(await test.worker('w').turn({ limit: 5 })).toMatchObject({ claimed: [], brokenJobs: [{ id: 'gone' }] });
});

it('clear gets through large payloads, and through a queue that Redis keeps in one piece', async () => {
  await scheduleMany(40, () => ({ payload: JSON.stringify('x'.repeat(200_000)) }));
  expect(await test.management.clear()).toBe(40);

  const server = await startOwnServer();
  const other = new TestStore({}, server.url);
  try {
    // By the name that Redis 6.2 knows too.
    await other.redis.config('SET', 'hash-max-ziplist-entries', '5000');
    await scheduleMany(1_300, () => ({}), other);
    expect(await other.management.clear()).toBe(1_300);
    // 500 a call, one that found nothing, and the one by which its permission was tried.
    expect(await other.redis.info('commandstats')).toContain('cmdstat_hscan:calls=5,');
    expect(await other.audit()).toEqual([]);
  } finally {
    await other.close();
    await server.stop();
  }
});

it('clear takes ids that are over out of those that are remembered', async () => {
  const other = new TestStore({ keepIdsMs: 1 });
  await scheduleMany(300, (i) => ({ id: `r${i}` }), other);
  expect(await other.management.clear()).toBe(300);
  await scheduleMany(300, (i) => ({ id: `s${i}` }), other);
  expect(await other.management.clear()).toBe(300);
  expect(await other.redis.zcard(`${other.prefix}:{${QUEUE}}:usedIds`)).toBeLessThanOrEqual(300);
  await other.close();
});
