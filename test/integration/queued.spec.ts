import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob, NewJob } from '../../lib/store/job-store.js';
import { payloadOf, QUEUE, settlement, TestStore, type TestWorker } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;
let worker: TestWorker;

beforeEach(() => {
  test = new TestStore({ keepCompleted: 10 });
  worker = test.worker('w');
});

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;
const replace = (job: Partial<NewJob> = {}) => test.replace({ id: 'doc', ...job });
const stored = () => test.view.job('doc');
const indexed = async () =>
  (await test.redis.keys(key('tag:*'))).map((found) => found.slice(key('tag:').length)).sort();

const claimed = async () => (await worker.claim())[0]!;
/** As if the worker that holds the job had died a lease ago. */
const leaseEnds = () => test.redis.zadd(key('active'), Date.now() - 1, 'doc');

/** A job that has crashed once runs, and another is queued behind it. */
async function runsWithOneQueued(queued: Partial<NewJob> = {}): Promise<ClaimedJob> {
  await replace({ payload: '1', tags: ['old', 'both'] });
  await test.worker('dies').claim();
  await leaseEnds();
  await worker.turn({});
  const job = await claimed();
  expect(job).toMatchObject({ attempt: 2, crashes: 1 });
  expect(await replace({ payload: '2', tags: ['both', 'new'], ...queued })).toMatchObject({ status: 'queued' });
  expect(await indexed()).toEqual(['both', 'new', 'old']);
  return job;
}

describe('the queued job takes the place of a run that', () => {
  it.each<[string, boolean, string, Record<string, number>]>([
    ['is recovered', false, 'waiting', {}],
    ['is recovered and was to be cancelled', true, 'cancelled', { cancelled: 1, scheduled: 2 }],
  ])('%s', async (_, isCancelled, fate, counted) => {
    await runsWithOneQueued();
    if (isCancelled) await test.jobs.cancelRunning('doc');
    await leaseEnds();
    const { recovered } = await test.worker('other').turn({});
    expect(recovered).toEqual([{ id: 'doc', name: 'work', attempt: 2, fate, worker: 'w' }]);
    expect(await stored()).toMatchObject({ state: 'due', attempts: 0, crashes: 2, failures: [] });
    expect(await indexed()).toEqual(['both', 'new']);
    expect(await test.view.stats()).toEqual({ scheduled: 1, started: 2, recovered: 2, ...counted });
    expect(payloadOf(await claimed())).toBe('2');
  });

  it.each([false, true])(
    'completes among many and leaves nothing behind (to be cancelled: %s)',
    async (isCancelled) => {
      await test.close();
      test = new TestStore({}, undefined, test.prefix);
      worker = test.worker('w');
      const made = await Promise.all([1, 2, 3].map((i) => test.schedule({ payload: `${i}`, tags: ['old'] })));
      const jobs = await worker.claim();
      const { id } = made[1]!;
      expect(await replace({ id, payload: 'new', tags: ['new'] })).toMatchObject({ status: 'queued' });
      if (isCancelled) await test.jobs.cancelRunning(id);
      const { settled } = await worker.turn({ settlements: jobs.map((job) => settlement.complete(job)) });
      expect(settled).toEqual(['counted', isCancelled ? 'cancelled' : 'replaced', 'counted']);
      const [next, ...others] = await worker.claim();
      expect([next!.id, payloadOf(next!), others]).toEqual([id, 'new', []]);
      expect(await indexed()).toEqual(['new']);
    },
  );

  it('and wakes a sleeper of its name', async () => {
    const job = await runsWithOneQueued();
    const { told } = await test.asleep('idle', 'work');
    await worker.settle(settlement.complete(job));
    await until('it is told', () => told.length > 0);
  });
});

describe('beside a running job', () => {
  it('a change after cancelRunning leaves the run cancelled', async () => {
    await replace({ payload: '1' });
    const job = await claimed();
    await test.jobs.cancelRunning('doc');
    expect(await replace({ payload: '2' })).toMatchObject({ status: 'queued' });
    expect((await worker.turn({ settlements: [settlement.complete(job)] })).settled).toEqual(['cancelled']);
    expect(payloadOf(await claimed())).toBe('2');
  });

  it('the holder ends as ever where what is queued cannot be read', async () => {
    const job = await runsWithOneQueued();
    await test.redis.hset(key('queued'), 'doc', 'rubbish');
    expect((await worker.turn({ settlements: [settlement.complete(job)] })).settled).toEqual(['counted']);
    expect(await test.redis.exists(key('queued'))).toBe(0);
    // Nobody can tell any more which tags it had.
    await test.redis.del(key('tag:new'));
  });

  it('it is there once the lease has ended of a job whose claim record somebody has taken', async () => {
    await runsWithOneQueued();
    await test.redis.hdel(key('claims'), 'doc');
    await leaseEnds();
    await worker.turn({});
    expect(payloadOf(await claimed())).toBe('2');
  });
});
