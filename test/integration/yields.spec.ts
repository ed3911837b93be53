import { afterEach, describe, expect, it } from '@jest/globals';
import type { QueueOptions } from '../../lib/core/options/queue-options.js';
import type { ClaimedJob, NewJob, TurnAnswer } from '../../lib/store/job-store.js';
import { newJob, QUEUE, settlement, TestStore, type TestWorker } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;
const yields = () => test.redis.zrange(key('yields'), '0', '-1');
const idsOf = ({ claimed }: TurnAnswer) => claimed.map(({ id }) => id);

async function schedule(count: number, job: Partial<NewJob>): Promise<string[]> {
  const receipts = await test.scheduleAll(Array.from({ length: count }, () => newJob(job)));
  return receipts.map(({ id }) => id);
}

/** Worker `a` has all places, and a backlog beside them. */
async function busy(options: QueueOptions): Promise<{ a: TestWorker; held: readonly ClaimedJob[] }> {
  test = new TestStore(options);
  await schedule(10, { name: 'bulk' });
  const a = test.worker('a', 'bulk');
  return { a, held: await a.claim(options.globalConcurrency) };
}

interface Sleeper {
  worker: TestWorker;
  told: number[];
  /** Lists itself among the sleepers anew. */
  sleep(): Promise<void>;
}

async function sleeper(worker: TestWorker, free: Record<string, number> = {}): Promise<Sleeper> {
  const told = await worker.listens();
  const handlers = Object.entries(free).map(([name, left]) => ({ name, weight: 1, free: left, size: 1 }));
  const sleep = async () => {
    expect((await worker.turn({ limit: 1, handlers })).claimed).toEqual([]);
    told.length = 0;
  };
  await sleep();
  return { worker, told, sleep };
}

/** What `a` claims as it settles these. */
function goOn(a: TestWorker, ...ended: ClaimedJob[]): Promise<TurnAnswer> {
  return a.turn({ settlements: ended.map((job) => settlement.complete(job)), limit: ended.length + 3 });
}

describe('under a limit over all processes that is used up, a place that becomes free', () => {
  it('is left to the better job where jobs grow more urgent as they wait', async () => {
    test = new TestStore({ globalConcurrency: 1, ordering: { mode: 'aging', msPerLevel: 50 } });
    const [waited] = await schedule(1, { name: 'urgent', priority: 6 });
    const at = Date.now();
    await until('it has grown more urgent than what comes now', () => Date.now() > at + 100);
    await schedule(10, { name: 'bulk' });
    const a = test.worker('a', 'bulk');
    const [first] = await a.claim(1);
    const b = await sleeper(test.worker('b', 'urgent'));
    expect(idsOf(await goOn(a, first!))).toEqual([]);
    const taken = await b.worker.claim(1);
    expect(taken).toMatchObject([{ id: waited }]);
    await b.worker.settle(settlement.complete(taken[0]!));
    const [second] = await a.claim(1);
    await schedule(1, { name: 'urgent', priority: 6 });
    await b.sleep();
    expect(idsOf(await goOn(a, second!))).toHaveLength(1);
  });

  it('is left to a better job of its own crew where its handler is full here and not there', async () => {
    test = new TestStore({ globalConcurrency: 2 });
    await schedule(4, { name: 'bulk' });
    await schedule(3, { name: 'urgent', priority: 1 });
    const a = test.limitedWorker('a', true, 'bulk', 'urgent');
    const held = await a.claim(2);
    const other = await sleeper(test.limitedWorker('other', true, 'bulk', 'urgent'), { urgent: 1 });
    const handlers = [{ name: 'urgent', weight: 1, free: 0, size: 1 }];
    const answer = await a.turn({ settlements: [settlement.complete(held[0]!)], limit: 5, handlers });
    expect(idsOf(answer)).toEqual([]);
    await until('the sleeper is told', () => other.told.length > 0);
    expect(await other.worker.claim(1)).toHaveLength(1);
  });

  it('is taken by the worker itself where nobody sleeps, or nobody hears', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    await schedule(1, { name: 'urgent', priority: 1 });
    expect(idsOf(await goOn(a, held[0]!))).toHaveLength(1);
    const crew = 'heard-by-nobody';
    await test.redis.sadd(key(`handles:${crew}`), 'urgent');
    await test.redis.zadd(key('sleeping'), Date.now() + 9_000, crew);
    await test.redis.zadd(key(`sleepers:${crew}`), Date.now() + 9_000, 'dead');
    expect(idsOf(await goOn(a, held[1]!))).toHaveLength(1);
    expect(await yields()).toEqual([]);
    // Nobody asks it again.
    expect(await test.redis.exists(key(`sleepers:${crew}`))).toBe(0);
  });

  it('is not left by what was noted while the clock was ahead', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const [urgent] = await schedule(1, { name: 'urgent', priority: 1 });
    await test.redis.zadd(key('yields'), Date.now() + 3_600_000, urgent!, Date.now() + 3_600_000, '\tsuspects-process');
    expect(idsOf(await goOn(a, held[0]!))).toHaveLength(1);
    expect(await yields()).toEqual([]);
  });

  it('is left for ten jobs at once at the most', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const b = await sleeper(test.worker('b', 'urgent'));
    await schedule(1, { name: 'urgent', priority: 1 });
    await b.sleep();
    const others = Array.from({ length: 10 }, (_, i) => [Date.now() - 1_000, `other-${i}`]).flat();
    await test.redis.zadd(key('yields'), ...(others as [number, string]));
    expect(idsOf(await goOn(a, held[0]!))).toHaveLength(1);
    await b.sleep();
    await test.redis.zrem(key('yields'), 'other-0');
    expect(idsOf(await goOn(a, held[1]!))).toEqual([]);
    await until('the sleeper is told', () => b.told.length > 0);
    expect(await test.redis.pttl(key('yields'))).toBeGreaterThan(0);
  });
});
