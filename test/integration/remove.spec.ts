import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob, Settlement } from '../../lib/store/job-store.js';
import { startOwnServer } from '../support/redis-server.js';
import { QUEUE, settlement, TestStore } from '../support/store.js';

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
const snooze = ({ id, fence }: ClaimedJob): Settlement => ({
  id,
  fence,
  transition: 'snooze',
  due: { delayMs: HOUR },
});

/** Schedules a job, claims it and settles it so. */
async function settled(settle: (job: ClaimedJob) => Settlement, id?: string): Promise<string> {
  const ref = await test.schedule({ id });
  const worker = test.worker('w');
  const [job] = await worker.claim();
  expect(await worker.settle(settle(job!))).toEqual([true]);
  return ref.id;
}

describe('remove deletes a job that waits, as cancelled,', () => {
  it.each([
    ['before its due time', async () => (await test.schedule({ id: 'r7', due: { delayMs: HOUR } })).id],
    ['when it is due', async () => (await test.schedule({ id: 'r7' })).id],
    ['between two attempts', () => settled((job) => settlement.retry(job, HOUR), 'r7')],
    ['after a snooze', () => settled(snooze, 'r7')],
  ])('%s', async (_, make) => {
    const id = await make();
    expect(await test.jobs.remove(id)).toBe(true);
    expect(await test.view.job(id)).toBeUndefined();
    expect(await test.view.stats()).toMatchObject({ scheduled: 1, cancelled: 1 });
    expect(await test.redis.exists(key('claims'), key('failures'), key('levels'))).toBe(0);
    expect(await test.schedule({ id })).toMatchObject({ status: 'created' });
    expect(await test.jobs.remove(id)).toBe(true);
    expect(await test.jobs.remove(id)).toBe(false);
  });

  it('and forgets its id at once where the queue remembers none', async () => {
    const other = new TestStore({ keepIdsMs: 0 });
    await other.schedule({ id: 'r7' });
    expect(await other.jobs.remove('r7')).toBe(true);
    expect(await other.redis.exists(`${other.prefix}:{${QUEUE}}:usedIds`)).toBe(0);
    expect(await other.schedule({ id: 'r7' })).toMatchObject({ status: 'created' });
    await other.close();
  });
});

describe('remove deletes a dead job, as deadDropped,', () => {
  it('also where somebody has taken its envelope', async () => {
    const id = await settled(settlement.dead);
    await test.redis.hdel(key('jobs'), id);
    expect(await test.jobs.remove(id)).toBe(true);
    expect(await test.redis.exists(key('dead'), key('claims'), key('failures'))).toBe(0);
  });
});

it('remove deletes a completed job that is kept, and counts nothing', async () => {
  const id = await settled(settlement.complete);
  const before = await test.view.stats();
  expect(await test.jobs.remove(id)).toBe(true);
  expect(await test.view.job(id)).toBeUndefined();
  expect(await test.view.counts()).toMatchObject({ completed: 0 });
  expect(await test.view.stats()).toEqual(before);
});

it.each(['claims', 'failures', 'stats'])(
  "a key '%s' of somebody else's kind refuses remove, and nothing is half deleted",
  async (name) => {
    const { id } = await test.schedule({ id: 'r7' });
    await test.redis.rename(key(name), key(`aside-${name}`)).catch(() => {});
    await test.redis.rpush(key(name), 'not ours');
    await expect(test.jobs.remove(id)).rejects.toMatchObject({ redisCode: 'WRONGTYPE' });
    await test.redis.del(key(name));
    await test.redis.rename(key(`aside-${name}`), key(name)).catch(() => {});
    expect(await test.audit()).toEqual([]);
    expect(await test.jobs.remove(id)).toBe(true);
  },
);

it('where Redis has no memory left remove and clear go on', async () => {
  const server = await startOwnServer();
  const full = new TestStore({}, server.url);
  try {
    for (const id of ['a', 'b', 'c']) await full.schedule({ id });
    await full.view.job('a');
    await full.redis.config('SET', 'maxmemory', '1');
    expect(await full.jobs.remove('a')).toBe(true);
    expect(await full.management.clear()).toBe(2);
    expect(await full.management.clear()).toBe(0);
    await full.redis.config('SET', 'maxmemory', '0');
    expect(await full.audit()).toEqual([]);
  } finally {
    await full.close();
    await server.stop();
  }
});
