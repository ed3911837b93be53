import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { SCRIPTS } from '../../lib/store/redis/scripts/embedded.js';
import { redisUrl } from '../support/queue-app.js';
import { newJob, QUEUE, settlement, TestStore } from '../support/store.js';
import { TcpProxy } from '../support/tcp-proxy.js';

let test: TestStore;
beforeEach(() => {
  test = new TestStore();
});
afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const NOW = { delayMs: 0 };
const TOGETHER = '1700000000000';
const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;

/** Dead jobs `<name>/000` and so on, all of which died in one millisecond. */
async function die(name: string, count: number): Promise<string[]> {
  const jobs = Array.from({ length: count }, (_, i) => newJob({ name, id: `${name}/${String(i).padStart(3, '0')}` }));
  await test.scheduleAll(jobs);
  const worker = test.worker('w', name);
  const claimed = await worker.claim(count);
  await worker.settle(...claimed.map(settlement.dead));
  expect(claimed).toHaveLength(count);
  return jobs.map(({ id }) => id!);
}

const dead = () => test.redis.zrange(key('dead'), '0', '-1');

it('walks once over hundreds of jobs that died in one millisecond, and leaves those that are not wanted', async () => {
  const left = await die('left', 350);
  const wanted = await die('wanted', 250);
  await test.redis.zadd(key('dead'), ...[...left, ...wanted].flatMap((id) => [TOGETHER, id]));
  expect(await test.management.purgeDead({ names: ['wanted'] })).toBe(250);
  expect(await dead()).toEqual(left);
  expect(await test.management.replayDead({ names: ['left'] }, NOW)).toBe(350);
});

it('a job at which a step ended, and that somebody takes before the next one, hides none of those behind it', async () => {
  const first = await die('a', 100);
  const wanted = await die('b', 10);
  const others = await die('c', 150);
  await test.redis.zadd(key('dead'), ...[...first, ...wanted, ...others].flatMap((id) => [TOGETHER, id]));
  const proxy = await TcpProxy.start(redisUrl());
  const walker = new TestStore({}, proxy.url, test.prefix);
  try {
    // The script is in Redis' cache from here on.
    await walker.management.purgeDead({ names: ['nobody'] });
    // The first step ends at the hundredth; that job and all before it are gone when the second one begins.
    const cut = proxy.cutOnce((request) => {
      const isStep = request.includes(SCRIPTS.purge.sha);
      if (isStep) proxy.refuse();
      return isStep;
    });
    const purging = walker.management.purgeDead({ names: ['b'] });
    await cut;
    for (const id of first) await test.management.replayDead(id, NOW);
    proxy.accept();
    expect(await purging).toBe(10);
    expect(await dead()).toEqual(others);
  } finally {
    await walker.close();
    await proxy.stop();
  }
});

it('replays up to the limit though some of those before cannot be read', async () => {
  const ids = await die('work', 130);
  const damaged = ids.slice(0, 120);
  const envelopes = await test.redis.hmget(key('jobs'), ...damaged);
  await test.redis.hset(key('jobs'), ...damaged.flatMap((id) => [id, 'damaged']));
  expect(await test.management.replayDead({ limit: 5 }, NOW)).toBe(5);
  expect(await dead()).toEqual([...damaged, ...ids.slice(125)]);
  await test.redis.hset(key('jobs'), ...damaged.flatMap((id, i) => [id, envelopes[i]!]));
});

it('a job whose claim record is gone has no name, and goes only with those of any', async () => {
  const [id] = await die('work', 1);
  await test.redis.hdel(key('claims'), id!);
  expect(await test.management.purgeDead({ names: ['work'] })).toBe(0);
  expect(await test.management.purgeDead({ reason: 'attempts-exhausted' })).toBe(1);
});
