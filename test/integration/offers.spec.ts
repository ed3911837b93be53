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
const offers = () => test.redis.zrange(key('offers'), '0', '-1');
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
  const handlers = Object.entries(free).map(([name, left]) => ({ name, weight: 1, free: left }));
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

  it('is left to a better job of its own group where its handler is full here and not there', async () => {
    test = new TestStore({ globalConcurrency: 2 });
    await schedule(4, { name: 'bulk' });
    await schedule(3, { name: 'urgent', priority: 1 });
    const a = test.limitedWorker('a', true, 'bulk', 'urgent');
    const held = await a.claim(2);
    const other = await sleeper(test.limitedWorker('other', true, 'bulk', 'urgent'), { urgent: 1 });
    const handlers = [{ name: 'urgent', weight: 1, free: 0 }];
    const answer = await a.turn({ settlements: [settlement.complete(held[0]!)], limit: 5, handlers });
    expect(idsOf(answer)).toEqual([]);
    await until('the sleeper is told', () => other.told.length > 0);
    expect(await other.worker.claim(1)).toHaveLength(1);
  });

  it('is taken by the worker itself where nobody sleeps, or nobody hears', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    await schedule(1, { name: 'urgent', priority: 1 });
    expect(idsOf(await goOn(a, held[0]!))).toHaveLength(1);
    const group = 'heard-by-nobody';
    await test.redis.sadd(key(`handles:${group}`), 'urgent');
    await test.redis.zadd(key('sleeping'), Date.now() + 9_000, group);
    await test.redis.zadd(key(`sleepers:${group}`), Date.now() + 9_000, 'dead');
    expect(idsOf(await goOn(a, held[1]!))).toHaveLength(1);
    expect(await offers()).toEqual([]);
    // Nobody asks it again.
    expect(await test.redis.exists(key(`sleepers:${group}`))).toBe(0);
  });

  it('is not kept by an offer that was made while the clock was ahead', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    await test.redis.zadd(key('offers'), Date.now() + 3_600_000, 'b some-job');
    expect(idsOf(await goOn(a, held[0]!))).toHaveLength(1);
    expect(await offers()).toEqual([]);
  });

  it('goes back at once where the sleeper comes and has nothing to run, and is not offered again', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const deputy = await sleeper(test.worker('deputy', 'bulk'));
    const b = await sleeper(test.worker('b', 'urgent'));
    const c = await sleeper(test.worker('c', 'urgent'));
    const [urgent] = await schedule(1, { name: 'urgent', priority: 1 });
    for (const { sleep } of [b, c]) await sleep();
    expect(idsOf(await goOn(a, held[0]!))).toEqual([]);
    await until('one is told', () => b.told.length + c.told.length > 0);
    // Its handler is full by now.
    await (b.told.length > 0 ? b : c).worker.turn({ limit: 1, handlers: [{ name: 'urgent', weight: 1, free: 0 }] });
    await until('others are told', () => deputy.told.length > 0);
    expect(await a.claim()).toHaveLength(1);
    // The next place is another matter.
    expect(idsOf(await goOn(a, held[1]!))).toEqual([]);
    expect([...(await b.worker.claim()), ...(await c.worker.claim())]).toMatchObject([{ id: urgent }]);
  });
});
