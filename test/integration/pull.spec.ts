import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob, Settlement } from '../../lib/store/job-store.js';
import { nameOf, QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;

beforeEach(() => {
  test = new TestStore({ leaseMs: 1_000 });
});

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const extend = ({ id, fence }: ClaimedJob, leaseMs: number): Settlement => ({
  id,
  fence,
  transition: 'extend',
  leaseMs,
});
const leaseEnd = async (id: string) => Number(await test.redis.zscore(`${test.prefix}:{${QUEUE}}:active`, id));

describe('extend', () => {
  it('moves the end of one lease, and of no other', async () => {
    await test.schedule();
    await test.schedule();
    const worker = test.puller('w');
    const [a, b] = await worker.claim();
    const before = await leaseEnd(b!.id);
    const from = Date.now();
    expect(await worker.settle(extend(a!, 60_000))).toEqual([true]);
    expect(await leaseEnd(a!.id)).toBeGreaterThanOrEqual(from + 60_000);
    expect(await leaseEnd(a!.id)).toBeLessThan(from + 65_000);
    expect(await leaseEnd(b!.id)).toBe(before);
    expect(await worker.settle(extend(a!, 100))).toEqual([true]);
    expect(await leaseEnd(a!.id)).toBeLessThan(before);
    expect(await test.view.stats()).toMatchObject({ started: 2 });
  });

  it('holds a job whose lease is over and that nobody has recovered, in the very turn that would', async () => {
    await test.schedule();
    const worker = test.puller('w');
    const [job] = await worker.claim();
    await test.redis.zadd(`${test.prefix}:{${QUEUE}}:active`, Date.now() - 1, job!.id);
    const answer = await worker.turn({ settlements: [extend(job!, 60_000)], limit: 1 });
    expect(answer).toMatchObject({ settled: ['counted'], recovered: [], claimed: [] });
    expect(await test.worker('other').claim()).toEqual([]);
  });

  it("counts only where the fence is still the job's", async () => {
    await test.schedule();
    const worker = test.puller('w');
    const [job] = await worker.claim();
    const before = await leaseEnd(job!.id);
    expect(await worker.settle(extend({ ...job!, fence: '1' }, 60_000))).toEqual([false]);
    expect(await leaseEnd(job!.id)).toBe(before);
    await worker.settle(settlement.complete(job!));
    expect(await worker.settle(extend(job!, 60_000))).toEqual([false]);
    expect(await test.view.counts()).toMatchObject({ active: 0 });
  });

  it('together with the end of its job leaves no lease behind, whichever is said first', async () => {
    const worker = test.puller('w');
    const ends = [settlement.complete, (job: ClaimedJob) => settlement.retry(job, 3_600_000), settlement.dead];
    for (const end of ends) {
      for (const order of [0, 1]) {
        await test.schedule();
        const [job] = await worker.claim();
        const said = [extend(job!, 60_000), end(job!)];
        expect(await worker.settle(...(order === 0 ? said : said.reverse()))).toEqual([true, true]);
        expect(await test.view.counts()).toMatchObject({ active: 0, due: 0 });
        expect(await leaseEnd(job!.id)).toBe(0);
      }
    }
  });

  it('ends a job as cancelled that is to be cancelled', async () => {
    const { id } = await test.schedule();
    const worker = test.puller('w');
    const [job] = await worker.claim();
    expect(await test.jobs.cancelRunning(id)).toBe(true);
    const said = [extend(job!, 60_000), settlement.complete(job!), extend(job!, 60_000)];
    expect((await worker.turn({ settlements: said })).settled).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(await test.view.job(id)).toBeUndefined();
    expect(await test.view.stats()).toMatchObject({ cancelled: 1 });
  });
});

describe('a place to pull', () => {
  const base = () => `${test.prefix}:{${QUEUE}}:`;
  const sleepers = () => test.redis.zrange(`${base()}sleepers:*`, '0', '-1');

  it('of every name is one group with one name, whatever names there are', async () => {
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
