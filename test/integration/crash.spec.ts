import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { QUEUE, settlement, TestStore } from '../support/store.js';

let test: TestStore;
beforeEach(() => {
  test = new TestStore({ leaseMs: 1_000, maxCrashes: 2 });
});
afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

describe('what somebody has damaged', () => {
  const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;

  it('a claim record that cannot be read does not stop a claim', async () => {
    const { id } = await test.schedule();
    await test.redis.hset(key('claims'), id, 'rubbish');
    expect(await test.worker('w').claim()).toMatchObject([{ id, attempt: 1 }]);
  });

  it('a running job without record waits again, as its envelope says', async () => {
    const { id } = await test.schedule();
    await test.worker('w').claim();
    await test.redis.hdel(key('claims'), id);
    await test.redis.zadd(key('active'), 1, id);
    expect((await test.worker('w').turn({ limit: 0 })).recovered).toMatchObject([{ id, fate: 'waiting' }]);
  });

  it.each([
    ['gone', 'envelope-missing'],
    ['rubbish', 'unreadable'],
  ])('a running job without record whose envelope is %s is dead, and others go on', async (envelope, reason) => {
    const { id } = await test.schedule();
    const worker = test.worker('w');
    await worker.claim();
    await test.redis.hdel(key('claims'), id);
    if (envelope === 'gone') await test.redis.hdel(key('jobs'), id);
    else await test.redis.hset(key('jobs'), id, envelope);
    await test.redis.zadd(key('active'), 1, id);
    const next = await test.schedule();
    const answer = await worker.turn({ limit: 1 });
    expect(answer.recovered).toMatchObject([{ id, fate: reason }]);
    expect(answer.claimed).toMatchObject([{ id: next.id }]);
    expect((await test.view.job(id))!.failures.at(-1)).toMatchObject({ reason });
  });

  it('an envelope that is gone ends a waiting job as dead, and its history stays', async () => {
    const { id } = await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    await worker.settle(settlement.retry(job!, 0));
    await test.redis.hdel(key('jobs'), id);
    const { claimed, brokenJobs } = await worker.turn({ limit: 1 });
    expect(claimed).toEqual([]);
    expect(brokenJobs).toEqual([{ id, name: 'work', attempt: 1, reason: 'envelope-missing' }]);
    const dead = await test.view.job(id);
    expect(dead).toMatchObject({ state: 'dead', attempts: 1 });
    expect(dead!.failures).toMatchObject([{ message: 'no' }, { reason: 'envelope-missing' }]);
  });
});
