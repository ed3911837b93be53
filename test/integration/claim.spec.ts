import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob } from '../../lib/store/job-store.js';
import { newJob, payloadOf, QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;

beforeEach(() => {
  test = new TestStore();
});

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const payloads = (claimed: readonly ClaimedJob[]) => claimed.map(payloadOf);

it('counts the jobs of more due lanes than one call looks into', async () => {
  for (let i = 0; i < 5_200; i += 400) {
    const jobs = Array.from({ length: 400 }, (_, j) => newJob({ name: `name-${i + j}`, priority: 1 + (j % 3) }));
    await test.scheduleAll(jobs);
  }
  await test.schedule({ due: { delayMs: 3_600_000 } });
  expect(await test.view.counts()).toMatchObject({ scheduled: 1, due: 5_200 });
});

describe('claim', () => {
  it('tells to the microsecond how long it is until the next job is due', async () => {
    const at = Date.now() + 4_000;
    await test.schedule({ due: { at } });
    const worker = test.worker('w');
    const redisNow = async () => {
      const [seconds, micros] = await test.redis.time();
      return Number(seconds) * 1_000 + Number(micros) / 1_000;
    };
    // Where the whole millisecond were told, it would be right now and then.
    for (let i = 0; i < 20; i++) {
      const before = await redisNow();
      const { sleepMs } = await worker.turn({ limit: 1 });
      const after = await redisNow();
      expect(sleepMs).toBeGreaterThanOrEqual(at - after);
      // To the precision of a double of this size.
      expect(sleepMs).toBeLessThanOrEqual(at - before + 0.001);
    }
  });

  it('tells a worker whether another one was the last to fill five places or more', async () => {
    const [one, two] = [test.worker('one', 'work'), test.worker('two', 'work')];
    const isContended = async (worker: typeof one, limit: number) => (await worker.turn({ limit })).isContended;
    const jobs = Array.from({ length: 31 }, () => newJob());
    await test.scheduleAll(jobs);
    expect(await isContended(one, 5)).toBe(false);
    expect(await isContended(one, 5)).toBe(false);
    expect(await isContended(two, 5)).toBe(true);
    expect(await isContended(two, 5)).toBe(false);
    expect((await test.puller('three', 'work').turn({ limit: 5, standing: 'until-claimed' })).claimed).toHaveLength(5);
    expect(await isContended(one, 4)).toBe(true);
    expect(await isContended(two, 0)).toBe(false);
    // Who has room left does not keep Redis busy.
    expect(await isContended(one, 5)).toBe(true);
    expect(await isContended(two, 0)).toBe(false);
  });

  it('keeps schedule order inside a millisecond, over more lanes than it claims', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `name-${(i * 7) % 30}`);
    const at = Date.now() + 100;
    await test.scheduleAll(names.map((name, i) => newJob({ name, payload: String(i), due: { at } })));
    const worker = test.worker('w', ...names);
    const order: string[] = [];
    await until('all are claimed', async () => {
      order.push(...payloads(await worker.claim(4)));
      return order.length === names.length;
    });
    expect(order).toEqual(names.map((_, i) => String(i)));
  });

  it('finds a job behind more unhandled lanes than one turn looks at', async () => {
    for (let i = 0; i < 4_200; i += 300) {
      await test.scheduleAll(Array.from({ length: 300 }, (_, j) => newJob({ name: `unknown-${i + j}` })));
    }
    await test.schedule({ payload: 'mine' });
    const worker = test.worker('w');
    let turns = 0;
    const found = await until('it is found', async () => {
      const answer = await worker.turn({ limit: 10 });
      turns++;
      return answer.claimed.length > 0 && answer.claimed;
    });
    expect(payloads(found)).toEqual(['mine']);
    expect(turns).toBeLessThan(6);
  });

  it('does not take more than fits into one reply', async () => {
    const payload = 'x'.repeat(1024 * 1024);
    for (let i = 0; i < 12; i++) await test.schedule({ payload });
    const worker = test.worker('w');
    const { claimed, sleepMs } = await worker.turn({ limit: 100 });
    expect(claimed.length).toBeGreaterThan(0);
    expect(claimed.length).toBeLessThan(9);
    expect(sleepMs).toBe(0);
    // A link of which nothing is known is not asked for more than that.
    expect(claimed).toHaveLength(1);
    const sizes = [(await worker.claim(100)).length, (await worker.claim(100)).length];
    expect(sizes[0]).toBeGreaterThan(1);
    expect(sizes[0]).toBeLessThan(9);
    expect(1 + sizes[0]! + sizes[1]!).toBe(12);
  });

  it('gives a growing fence also where the clock of Redis has gone back', async () => {
    await test.schedule();
    // As an hour ahead of now would have left it.
    const ahead = BigInt(Date.now() + 3_600_000) * 1_000n;
    await test.redis.set(`${test.prefix}:{${QUEUE}}:fence`, String(ahead));
    const worker = test.worker('w');
    const [first] = await worker.claim();
    expect(BigInt(first!.fence)).toBeGreaterThan(ahead);
    await worker.settle(settlement.retry(first!, 0));
    const [second] = await worker.claim();
    expect(BigInt(second!.fence)).toBeGreaterThan(BigInt(first!.fence));
    expect(await worker.settle(settlement.complete(first!), settlement.complete(second!))).toEqual([false, true]);
  });

  it('tells a job whose envelope is gone, rather than dropping it or stumbling over it', async () => {
    const lost = await test.schedule();
    await test.schedule({ payload: 'other' });
    await test.redis.hdel(`${test.prefix}:{${QUEUE}}:jobs`, lost.id);
    expect(payloads(await test.worker('w').claim())).toEqual(['other']);
    expect(await test.view.job(lost.id)).toMatchObject({ state: 'dead' });
  });
});
