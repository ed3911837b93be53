import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob, NewJob, Settled, Settlement } from '../../lib/store/job-store.js';
import { payloadOf, QUEUE, settlement, TestStore, type TestWorker } from '../support/store.js';
import { until } from '../support/wait.js';

const HOUR_MS = 3_600_000;

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

type End = (job: ClaimedJob) => Settlement;
const ENDS: [string, End, Settled, Record<string, number>][] = [
  [
    'completes',
    (job) => ({ ...settlement.complete(job), idWasChosen: true }) as Settlement,
    'replaced',
    { completed: 1, scheduled: 2 },
  ],
  ['completes, its id made', settlement.complete, 'replaced', { completed: 1, scheduled: 2 }],
  ['fails', (job) => settlement.retry(job, HOUR_MS), 'replaced', { failed: 1 }],
  [
    'fails in its last attempt',
    (job) => ({ ...settlement.dead(job), idWasChosen: true }) as Settlement,
    'replaced',
    { failed: 1 },
  ],
  ['is dead-lettered', (job) => ({ ...settlement.dead(job), failed: false }) as Settlement, 'replaced', {}],
  [
    'has no attempt left',
    (job) => ({ ...settlement.dead(job), ran: false, failed: false }) as Settlement,
    'replaced',
    {},
  ],
  [
    'snoozes',
    ({ id, fence }) => ({ id, fence, transition: 'snooze', due: { delayMs: HOUR_MS } }),
    'replaced',
    { snoozed: 1 },
  ],
  [
    'is discarded',
    ({ id, fence }) => ({ id, fence, transition: 'discard', idWasChosen: true }),
    'replaced',
    { discarded: 1, scheduled: 2 },
  ],
  ['goes back at shutdown', settlement.release, 'replaced', {}],
];

describe('the queued job takes the place of a run that', () => {
  it.each(ENDS)('%s', async (_, end, settled, counted) => {
    const job = await runsWithOneQueued();
    expect((await worker.turn({ settlements: [end(job)] })).settled).toEqual([settled]);
    const { envelope, ...known } = (await stored())!;
    expect(payloadOf({ envelope })).toBe('2');
    expect(known).toMatchObject({ state: 'due', attempts: 0, crashes: 1, failures: [] });
    expect(await indexed()).toEqual(['both', 'new']);
    expect(await test.view.stats()).toEqual({ scheduled: 1, started: 2, recovered: 1, ...counted });
    expect(await test.redis.exists(key('queued'), key('usedIds'), key('dead'), key('results'))).toBe(0);
    expect(await claimed()).toMatchObject({ attempt: 1, crashes: 1, envelope });
  });

  it.each(ENDS)('%s, though somebody wanted it cancelled', async (_, end) => {
    const job = await runsWithOneQueued();
    await test.jobs.cancelRunning('doc');
    expect((await worker.turn({ settlements: [end(job)] })).settled).toEqual(['cancelled']);
    expect(await test.view.stats()).toEqual({ scheduled: 2, started: 2, recovered: 1, cancelled: 1 });
    expect(payloadOf(await claimed())).toBe('2');
  });

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

  it('crashes once too often: it begins all the same, and is dead once it crashes as well', async () => {
    await test.close();
    test = new TestStore({ maxCrashes: 1 }, undefined, test.prefix);
    worker = test.worker('w');
    await replace({ payload: '1' });
    await test.worker('dies').claim();
    await replace({ payload: '2' });
    await leaseEnds();
    await worker.turn({});
    expect(await claimed()).toMatchObject({ attempt: 1, crashes: 1 });
    await leaseEnds();
    await worker.turn({});
    expect(await test.view.counts()).toMatchObject({ dead: 1 });
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

  it('keeps its due time, priority, name and worker', async () => {
    const job = await runsWithOneQueued({ due: { delayMs: HOUR_MS }, priority: 1, worker: 'w2' });
    const dueAtMs = (await stored())!.queuedDueAtMs!;
    await worker.settle(settlement.complete(job));
    expect(await stored()).toMatchObject({ state: 'scheduled', dueAtMs });
    expect(await test.view.countsByPriority()).toEqual([{ priority: 1, scheduled: 1, due: 0 }]);
  });

  it('and wakes a sleeper of its name', async () => {
    const job = await runsWithOneQueued();
    const { told } = await test.asleep('idle', 'work');
    await worker.settle(settlement.complete(job));
    await until('it is told', () => told.length > 0);
  });
});

describe('beside a running job', () => {
  it('a later one replaces the queued one, tags too', async () => {
    const job = await runsWithOneQueued();
    const third = await replace({ payload: '3', tags: ['third'], due: { delayMs: HOUR_MS } });
    expect(third).toMatchObject({ status: 'queued' });
    expect(await indexed()).toEqual(['both', 'old', 'third']);
    expect(await stored()).toMatchObject({ state: 'active', queuedDueAtMs: third.dueAtMs });
    await worker.settle(settlement.complete(job));
    expect(await indexed()).toEqual(['third']);
    expect(payloadOf((await stored())!)).toBe('3');
  });

  it('the lease is renewed and extended as ever, and the queued job stays', async () => {
    const job = await runsWithOneQueued();
    const extend: Settlement = { id: job.id, fence: job.fence, transition: 'extend', leaseMs: HOUR_MS };
    expect(await worker.turn({ renewals: [job] })).toMatchObject({ lost: [], toCancel: [] });
    expect((await worker.turn({ settlements: [extend] })).settled).toEqual(['counted']);
    expect((await stored())!.leaseUntilMs).toBeGreaterThan(Date.now() + HOUR_MS / 2);
    expect((await worker.turn({ settlements: [settlement.complete(job)] })).settled).toEqual(['replaced']);
  });

  it('a change after cancelRunning leaves the run cancelled', async () => {
    await replace({ payload: '1' });
    const job = await claimed();
    await test.jobs.cancelRunning('doc');
    expect(await replace({ payload: '2' })).toMatchObject({ status: 'queued' });
    expect((await worker.turn({ settlements: [settlement.complete(job)] })).settled).toEqual(['cancelled']);
    expect(payloadOf(await claimed())).toBe('2');
  });

  it('an outdated holder settles nothing', async () => {
    const job = await runsWithOneQueued();
    expect(await worker.settle({ ...settlement.complete(job), fence: '1' })).toEqual([false]);
    expect(await stored()).toMatchObject({ state: 'active', queuedDueAtMs: expect.any(Number) });
  });

  it("one under 'keep' is told that it is active", async () => {
    const job = await runsWithOneQueued();
    expect(await test.schedule({ id: 'doc' })).toEqual({ id: 'doc', status: 'active', dueAtMs: job.dueAtMs });
  });

  it('one of another name is told that the id is taken, and changes nothing', async () => {
    await runsWithOneQueued();
    expect(await replace({ name: 'other', payload: '9' })).toMatchObject({ status: 'taken', takenBy: 'work' });
    expect(await test.redis.hget(key('queued'), 'doc')).toMatch(/\n2$/);
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

describe('of a queued job', () => {
  it('cancel takes it away: the run ends as if there had been none', async () => {
    const job = await runsWithOneQueued();
    expect(await test.jobs.cancel('doc')).toBe(true);
    expect(await test.jobs.cancel('doc')).toBe(false);
    expect(await indexed()).toEqual(['both', 'old']);
    expect((await stored())!.queuedDueAtMs).toBeUndefined();
    expect((await worker.turn({ settlements: [settlement.complete(job)] })).settled).toEqual(['counted']);
    expect(await test.view.counts()).toMatchObject({ due: 0, scheduled: 0, completed: 1 });
    expect(await test.view.stats()).toMatchObject({ scheduled: 2, cancelled: 1, completed: 1 });
  });

  it('another may be queued once it was cancelled', async () => {
    const job = await runsWithOneQueued();
    await test.jobs.cancel('doc');
    expect(await replace({ payload: '3' })).toMatchObject({ status: 'queued' });
    await worker.settle(settlement.complete(job));
    expect(payloadOf((await stored())!)).toBe('3');
  });

  it('reschedule moves the due time, and false is answered where none is queued', async () => {
    const job = await runsWithOneQueued();
    const at = Date.now() + HOUR_MS;
    expect(await test.jobs.reschedule('doc', { at })).toBe(true);
    expect((await stored())!.queuedDueAtMs).toBe(at);
    await worker.settle(settlement.complete(job));
    expect(await stored()).toMatchObject({ state: 'scheduled', dueAtMs: at });
    await test.jobs.reschedule('doc', { delayMs: 0 });
    await claimed();
    expect(await test.jobs.reschedule('doc', { at })).toBe(false);
  });

  it.each(['both', 'new'])('cancelTagged takes it away by its own tag %s', async (tag) => {
    const told: string[] = [];
    await runsWithOneQueued();
    expect(await test.management.cancelTagged('old', (ids) => told.push(...ids))).toBe(0);
    expect(await test.management.cancelTagged(tag, (ids) => told.push(...ids))).toBe(1);
    expect(told).toEqual(['doc']);
    expect(await indexed()).toEqual(['both', 'old']);
    expect(await test.redis.exists(key('queued'))).toBe(0);
  });

  it('shiftTagged moves the due time by its own tags', async () => {
    await runsWithOneQueued({ due: { delayMs: HOUR_MS } });
    const before = (await stored())!.queuedDueAtMs!;
    expect(await test.management.shiftTagged('old', 5)).toBe(0);
    expect(await test.management.shiftTagged('new', 5)).toBe(1);
    expect(await test.management.shiftTagged('both', 7)).toBe(1);
    expect((await stored())!.queuedDueAtMs).toBe(before + 12);
  });

  it('clear takes it away', async () => {
    await runsWithOneQueued();
    expect(await test.management.clear()).toBe(1);
    expect(await test.view.counts()).toMatchObject({ active: 1, due: 0 });
    expect(await test.redis.exists(key('queued'))).toBe(0);
  });

  it('remove leaves it there, as the job runs', async () => {
    await runsWithOneQueued();
    expect(await test.jobs.remove('doc')).toBe(false);
    expect((await stored())!.queuedDueAtMs).toBeDefined();
  });

  it('counts know nothing', async () => {
    await runsWithOneQueued();
    expect(await test.view.counts()).toEqual({ scheduled: 0, due: 0, active: 1, completed: 0, dead: 0 });
  });
});
