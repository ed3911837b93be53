import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { nameOf, QUEUE, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;

beforeEach(() => {
  test = new TestStore({ leaseMs: 1_000 });
});

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

describe('a place to pull', () => {
  const base = () => `${test.prefix}:{${QUEUE}}:`;
  const sleepers = () => test.redis.zrange(`${base()}sleepers:*`, '0', '-1');

  it('of every name is one crew with one name, whatever names there are', async () => {
    for (const name of ['a', 'b', '*']) await test.schedule({ name });
    expect((await test.puller('w').claim()).map(nameOf)).toEqual(['a', 'b', '*']);
    expect(await test.redis.smembers(`${base()}handles:*`)).toEqual(['*']);
    expect(await test.view.handledBy('anything')).toEqual({ count: 1, workers: ['w'] });
  });

  it('stands among the sleepers only while somebody waits for it', async () => {
    const worker = test.puller('w');
    await worker.listens();
    await worker.turn({ limit: 1, standing: 'until-claimed' });
    expect(await sleepers()).toEqual(['w~pull-*']);
    await worker.turn({ standing: 'goes' });
    expect(await sleepers()).toEqual([]);
    await worker.turn({ limit: 1, standing: 'until-claimed' });
    await test.schedule();
    expect((await worker.turn({ limit: 2, standing: 'until-claimed' })).claimed).toHaveLength(1);
    expect(await sleepers()).toEqual([]);
  });

  it('that goes hands over what it was to look for, be it due already', async () => {
    const [first, second] = [test.puller('first'), test.puller('second')];
    const heard = await second.listens();
    await first.listens();
    const { dueAtMs } = await test.schedule({ due: { delayMs: 3_000 } });
    await first.turn({ limit: 1, standing: 'until-claimed' });
    // The deputy, half a second after the first.
    const { sleepMs } = await second.turn({ limit: 1, standing: 'until-claimed' });
    expect(sleepMs).toBeLessThanOrEqual(1_000 / 3);
    await test.redis.zadd(`${base()}sleepers:*`, dueAtMs! + 500, 'second~pull-*');
    heard.length = 0;
    await first.turn({ standing: 'goes' });
    await until('the second is told', () => heard.length > 0);
    expect(heard[0]).toBeGreaterThan(1_000);
    expect(heard[0]).toBeLessThanOrEqual(3_000);
    await test.redis.zadd(`${base()}sleepers:*`, dueAtMs!, 'first~pull-*', String(dueAtMs! + 500), 'second~pull-*');
    await test.jobs.reschedule((await test.view.list('scheduled', 0, 1))[0]!.id, { delayMs: 0 });
    await test.redis.zadd(`${base()}sleepers:*`, dueAtMs! + 500, 'second~pull-*');
    heard.length = 0;
    await first.turn({ standing: 'goes' });
    await until('the second is told', () => heard.length > 0);
    // Less than a millisecond by the second's idea of Redis' clock.
    expect(heard[0]).toBeLessThan(100);
  });
});
