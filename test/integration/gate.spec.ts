import { afterEach, describe, expect, it } from '@jest/globals';
import type { QueueOptions } from '../../lib/core/options/queue-options.js';
import { newJob, QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

async function scheduled(count: number, options: QueueOptions): Promise<void> {
  test = new TestStore(options);
  await test.scheduleAll(Array.from({ length: count }, () => newJob()));
}

const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;

describe('a rate', () => {
  it('keeps no more of the past than it needs', async () => {
    await scheduled(40, { rateLimit: { max: 1_000, perMs: 1_000 } });
    const worker = test.worker('w1');
    for (let i = 0; i < 40; i++) {
      const [claimed] = await worker.claim(1);
      await worker.settle(settlement.complete(claimed!));
    }
    const last = Number(await test.redis.zscore(key('rate'), '40'));
    await until('a window has passed', () => Date.now() > last + 1_020);
    await test.schedule();
    expect(await worker.claim(1)).toHaveLength(1);
    // The last one before the window, which the others are counted from, and this one.
    expect(await test.redis.zcard(key('rate'))).toBeLessThanOrEqual(2);
    expect(await test.redis.pttl(key('rate'))).toBeGreaterThan(0);
    await worker.settle();
  });

  it('is not shut for longer than a window where the clock of Redis went back', async () => {
    await scheduled(4, { rateLimit: { max: 2, perMs: 300 } });
    // As if two had begun in an hour's time, one after the other.
    await test.redis.zadd(key('rate'), Date.now() + 3_500_000, '1');
    await test.redis.zadd(key('rate'), Date.now() + 3_600_000, '2');
    const worker = test.worker('w1');
    expect(await worker.claim(4)).toHaveLength(0);
    await until('the window is over', async () => (await worker.claim(4)).length === 2);
  });
});

describe('who makes room in a queue that was full', () => {
  it('tells a sleeper of each crew, its own among them if it does not look itself', async () => {
    await scheduled(3, { globalConcurrency: 1 });
    const worker = test.worker('w1');
    const [first] = await worker.claim(1);
    const sleepers = [await test.asleep('w2', 'other'), await test.asleep('w3', 'work')];
    const [second] = (await worker.turn({ settlements: [settlement.complete(first!)], limit: 1 })).claimed;
    expect(sleepers.map(({ told }) => told.length)).toEqual([0, 0]);
    await worker.turn({ settlements: [settlement.complete(second!)], limit: 0 });
    await until('both are told', () => sleepers.every(({ told }) => told.length === 1));
  });
});

it('a pause that has long been over is forgotten, so that turns are ordinary again', async () => {
  await scheduled(0, {});
  await test.redis.hset(key('gate'), 'pausedUntil', Date.now() - 30_000);
  await test.worker('w1').claim(1);
  expect(await test.redis.hexists(key('gate'), 'pausedUntil')).toBe(1);
  await test.redis.hset(key('gate'), 'pausedUntil', Date.now() - 61_000);
  await test.worker('w2').claim(1);
  expect(await test.redis.exists(key('gate'))).toBe(0);
});
