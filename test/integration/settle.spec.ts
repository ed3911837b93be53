import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Settlement } from '../../lib/store/job-store.js';
import { newJob, QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;

beforeEach(() => {
  test = new TestStore({ leaseMs: 1_000 });
});

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const counts = () => test.view.counts();
const nothing = { scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 };

describe('settle', () => {
  it('complete leaves nothing of the job behind', async () => {
    await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    expect(await worker.settle(settlement.complete(job!))).toEqual([true]);
    expect(await counts()).toEqual(nothing);
    expect(await test.view.job(job!.id)).toBeUndefined();
    const left = await test.redis.keys(`${test.prefix}:*`);
    expect(
      left
        .map((key) => key.split(':').at(-2) + key.split(':').at(-1)!)
        .filter((key) => /jobs|claims|failures|active|lane|heads|levels/.test(key)),
    ).toEqual([]);
  });

  it('retry puts the job back for later, with what went wrong', async () => {
    await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    expect(await worker.settle(settlement.retry(job!, 3_600_000))).toEqual([true]);
    const stored = await test.view.job(job!.id);
    expect(stored).toMatchObject({ state: 'scheduled', attempts: 1 });
    expect(stored!.dueAtMs).toBeGreaterThan(Date.now() + 3_500_000);
    expect(stored!.failures).toEqual([{ atMs: expect.any(Number), attempt: 1, name: 'Error', message: 'no' }]);
  });

  it("dead keeps the job with its reason, and out of everybody's reach", async () => {
    await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    await worker.settle(settlement.dead(job!));
    expect(await counts()).toEqual({ ...nothing, dead: 1 });
    expect(await worker.claim()).toEqual([]);
    expect((await test.view.job(job!.id))!.failures).toMatchObject([{ reason: 'attempts-exhausted' }]);
  });

  it('release puts the job back where it was, and takes the attempt back', async () => {
    const { dueAtMs } = await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    await worker.settle(settlement.release(job!));
    expect(await test.view.job(job!.id)).toMatchObject({ state: 'due', attempts: 0, dueAtMs });
    expect((await worker.claim())[0]).toMatchObject({ attempt: 1, dueAtMs });
  });

  it("counts only where the fence is still the job's", async () => {
    await test.schedule();
    const [slow, quick] = [test.worker('slow'), test.worker('quick')];
    const [outdated] = await slow.claim();
    const [current] = await until('the lease has run out', async () => {
      const claimed = await quick.claim();
      return claimed.length > 0 && claimed;
    });
    expect(await slow.settle(settlement.complete(outdated!))).toEqual([false]);
    expect(await slow.settle(settlement.retry(outdated!, 0))).toEqual([false]);
    expect(await slow.settle(settlement.dead(outdated!))).toEqual([false]);
    expect(await slow.settle(settlement.release(outdated!))).toEqual([false]);
    expect((await slow.turn({ renewals: [outdated!] })).lost).toEqual([outdated!.id]);
    expect(await counts()).toEqual({ ...nothing, active: 1 });
    expect(await quick.settle(settlement.complete(current!))).toEqual([true]);
    expect(await test.view.stats()).toMatchObject({ scheduled: 1, started: 2, recovered: 1, completed: 1 });
  });

  it('answers in the order of the settlements, whatever their kinds', async () => {
    for (let i = 0; i < 4; i++) await test.schedule();
    const worker = test.worker('w');
    const [a, b, c, d] = await worker.claim();
    const stale = { ...c!, fence: '1' };
    const settled = await worker.settle(
      settlement.retry(a!, 0),
      settlement.complete(stale),
      settlement.complete(b!),
      settlement.dead(stale),
      settlement.release(d!),
    );
    expect(settled).toEqual([true, false, true, false, true]);
  });

  it('an outdated worker cannot settle a job that waits again', async () => {
    await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    await worker.settle(settlement.retry(job!, 3_600_000));
    expect(await worker.settle(settlement.complete(job!))).toEqual([false]);
    expect(await counts()).toEqual({ ...nothing, scheduled: 1 });
  });

  it('keeps twenty failed attempts at the most', async () => {
    await test.schedule();
    const worker = test.worker('w');
    for (let attempt = 1; attempt <= 25; attempt++) {
      const [job] = await worker.claim();
      await worker.settle(settlement.retry(job!, 0));
    }
    const [id] = (await test.view.list('due', 0, 1)).map((job) => job.id);
    const { failures } = (await test.view.job(id!))!;
    expect(failures.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 20 }, (_, i) => i + 6));
  });
});

describe('renew', () => {
  it('holds a job past its first lease', async () => {
    await test.schedule();
    const [holder, other] = [test.worker('holder'), test.worker('other')];
    const [job] = await holder.claim();
    const claimedAt = Date.now();
    await until('three leases have passed', async () => {
      expect((await holder.turn({ renewals: [job!] })).lost).toEqual([]);
      expect(await other.claim()).toEqual([]);
      return Date.now() - claimedAt > 3_000;
    });
    expect(await holder.settle(settlement.complete(job!))).toEqual([true]);
  });
});

describe('recover', () => {
  it('waits a lease after a silence, so that the living can renew first', async () => {
    await test.schedule();
    const [job] = await test.worker('holder').claim();
    // As after an outage: the lease has run out, and nobody was there to renew it.
    const base = `${test.prefix}:{${QUEUE}}:`;
    await test.redis.zadd(`${base}active`, Date.now() - 5_000, job!.id);
    await test.redis.set(`${base}served`, `${Date.now() - 6_000} 0 0`);
    const other = test.worker('other');
    expect(await other.claim()).toEqual([]);
    expect((await test.worker('holder').turn({ renewals: [job!] })).lost).toEqual([]);
    expect(await other.claim()).toEqual([]);
    expect(await counts()).toMatchObject({ active: 1 });
  });

  it('takes no more than a lease and a silence', async () => {
    await test.schedule();
    await test.worker('holder').claim();
    const other = test.worker('other');
    const { recovered } = await until(
      'it is recovered',
      async () => {
        const answer = await other.turn({ limit: 1 });
        return answer.recovered.length > 0 && answer;
      },
      5_000,
    );
    expect(recovered).toHaveLength(1);
    expect((await other.claim())[0]).toMatchObject({ attempt: 2, crashes: 1 });
  });

  it('leaves alone what the same turn settles, however late it is', async () => {
    await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    await test.redis.zadd(`${test.prefix}:{${QUEUE}}:active`, Date.now() - 1, job!.id);
    const answer = await worker.turn({ settlements: [settlement.complete(job!)], limit: 1 });
    expect(answer).toMatchObject({ settled: ['counted'], recovered: [], claimed: [] });
    expect(await test.view.stats()).toMatchObject({ completed: 1 });
  });
});

describe('what is kept', () => {
  const retention = async (turns: number, transition: 'complete' | 'dead') => {
    const store = new TestStore({ concurrency: 500, keepCompleted: 50, keepDead: 50 });
    const worker = store.worker('w');
    for (let turn = 0; turn < turns; turn++) {
      await store.scheduleAll(Array.from({ length: 400 }, () => newJob()));
      await worker.settle(...(await worker.claim(400)).map((job): Settlement => settlement[transition](job)));
    }
    const found = await store.view.counts();
    const stats = await store.view.stats();
    expect(await store.audit()).toEqual([]);
    await store.close();
    return { found, stats };
  };

  it('stays within its count, however many end in one turn', async () => {
    expect((await retention(3, 'complete')).found).toMatchObject({ completed: 50 });
    const { found, stats } = await retention(3, 'dead');
    expect(found).toMatchObject({ dead: 50 });
    expect(stats).toMatchObject({ dead: 1_200, deadDropped: 1_150 });
  });

  it('is dropped by idle turns where its age is over', async () => {
    const store = new TestStore({ keepCompleted: { ageMs: 200 }, keepIdsMs: 200 });
    const worker = store.worker('w');
    await store.schedule({ id: 'mine' });
    const [job] = await worker.claim();
    await worker.settle({ ...settlement.complete(job!), idWasChosen: true });
    expect(await store.view.counts()).toMatchObject({ completed: 1 });
    await until('both are dropped', async () => {
      await worker.turn({ limit: 1 });
      return (
        (await store.redis.exists(`${store.prefix}:{${QUEUE}}:completed`, `${store.prefix}:{${QUEUE}}:usedIds`)) === 0
      );
    });
    await store.close();
  });

  it('a dead job that is pushed out leaves its chosen id remembered', async () => {
    const store = new TestStore({ keepDead: 0 });
    const worker = store.worker('w');
    await store.schedule({ id: 'mine' });
    const [job] = await worker.claim();
    await worker.settle({ ...settlement.dead(job!), idWasChosen: true });
    expect(await store.view.counts()).toMatchObject({ dead: 0 });
    expect(await store.schedule({ id: 'mine' })).toMatchObject({ status: 'ended' });
    await store.close();
  });
});

describe('recover after a clock that went astray', () => {
  const served = () => `${test.prefix}:{${QUEUE}}:served`;

  it('waits no longer than a lease where the clock went forward and back', async () => {
    await test.schedule();
    const [job] = await test.worker('holder').claim();
    await test.redis.zadd(`${test.prefix}:{${QUEUE}}:active`, Date.now() - 5_000, job!.id);
    await test.redis.set(served(), `${Date.now()} ${Date.now() + 3_600_000} ${Date.now() + 3_600_000}`);
    const other = test.worker('other');
    await until('it is recovered', async () => (await other.turn({ limit: 1 })).recovered.length === 1, 5_000);
  });

  it('comes in the end where the only worker is slower than half a lease', async () => {
    await test.schedule();
    const [job] = await test.worker('holder').claim();
    await test.redis.zadd(`${test.prefix}:{${QUEUE}}:active`, Date.now() - 5_000, job!.id);
    const slow = test.worker('slow');
    await until(
      'it is recovered',
      async () => {
        // As if the last turn had been three quarters of a lease ago.
        const [, from, at] = ((await test.redis.get(served())) ?? '0 0 0').split(' ');
        await test.redis.set(served(), `${Date.now() - 750} ${from} ${at}`);
        return (await slow.turn({ limit: 1 })).recovered.length === 1;
      },
      8_000,
    );
  });
});
