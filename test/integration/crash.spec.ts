import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { QUEUE, settlement, TestStore, type TestWorker } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;
beforeEach(() => {
  test = new TestStore({ leaseMs: 1_000, maxCrashes: 2 });
});
afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

/** Claims whatever waits, and dies with it. */
async function dieWith(worker: TestWorker, id: string): Promise<void> {
  await until('it is claimed', async () => (await worker.claim()).length > 0);
  const active = `${test.prefix}:{${QUEUE}}:active`;
  await test.redis.zadd(active, 'XX', Date.now() - 1, id);
}

describe('a job whose lease runs out', () => {
  it('waits again, with a line of history that names its worker', async () => {
    const { id } = await test.schedule();
    await dieWith(test.worker('dies'), id);
    const { recovered } = await test.worker('other').turn({ limit: 0 });
    expect(recovered).toEqual([{ id, name: 'work', attempt: 1, fate: 'waiting', worker: 'dies' }]);
    const job = await test.view.job(id);
    expect(job).toMatchObject({ state: 'due', attempts: 1, crashes: 1 });
    expect(job!.failures).toEqual([
      {
        atMs: expect.any(Number),
        attempt: 1,
        name: 'Error',
        message: 'the lease ran out: worker dies died or was blocked',
      },
    ]);
  });

  it('once too often is dead, and is handed out to nobody any more', async () => {
    const { id } = await test.schedule();
    const worker = test.worker('dies');
    await dieWith(worker, id);
    await dieWith(worker, id);
    const { recovered, claimed } = await test.worker('other').turn({ limit: 1, suspects: 'take' });
    expect(recovered).toEqual([{ id, name: 'work', attempt: 2, fate: 'crashed', worker: 'dies' }]);
    expect(claimed).toEqual([]);
    const job = await test.view.job(id);
    expect(job).toMatchObject({ state: 'dead', attempts: 2, crashes: 2 });
    expect(job!.failures.at(-1)).toMatchObject({ reason: 'crashed' });
    expect(await test.view.stats()).toMatchObject({ started: 2, recovered: 2, dead: 1 });
  });

  it('starts anew when it is replayed', async () => {
    const { id } = await test.schedule();
    const worker = test.worker('dies');
    await dieWith(worker, id);
    await dieWith(worker, id);
    await test.worker('other').turn({ limit: 0 });
    expect(await test.management.replayDead(id, { delayMs: 0 })).toBe(1);
    expect((await worker.claim())[0]).toMatchObject({ attempt: 1, crashes: 0 });
    expect((await test.view.job(id))!.failures).toHaveLength(2);
  });

  it('does not count attempts that failed as crashes', async () => {
    const { id } = await test.schedule();
    const worker = test.worker('w');
    for (let i = 0; i < 3; i++) {
      const [job] = await worker.claim();
      expect(await worker.settle(settlement.retry(job!, 0))).toEqual([true]);
    }
    await dieWith(worker, id);
    expect((await worker.turn({ limit: 0 })).recovered).toMatchObject([{ attempt: 4, fate: 'waiting' }]);
  });
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
    const { claimed, missing } = await worker.turn({ limit: 1 });
    expect(claimed).toEqual([]);
    expect(missing).toEqual([{ id, name: 'work', attempt: 1, reason: 'envelope-missing' }]);
    const dead = await test.view.job(id);
    expect(dead).toMatchObject({ state: 'dead', attempts: 1 });
    expect(dead!.failures).toMatchObject([{ message: 'no' }, { reason: 'envelope-missing' }]);
  });
});
