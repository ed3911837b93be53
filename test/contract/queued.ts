import { describe, expect, it } from '@jest/globals';
import type { ClaimedJob, QueueStore, Settlement } from '../../lib/store/job-store.js';
import type { TestSession, World } from './world.js';
import { ids, newJob, payloads, settlement } from './world.js';

type End = [name: string, end: (job: ClaimedJob) => Settlement, counted: Record<string, number>];

const ENDS: End[] = [
  ['completes', (job) => settlement.complete(job), { completed: 1, scheduled: 2 }],
  ['is discarded', (job) => settlement.discard(job), { discarded: 1, scheduled: 2 }],
  ['is cancelled by its handler', (job) => settlement.cancel(job), { cancelled: 1, scheduled: 2 }],
  ['would be tried again', (job) => settlement.retry(job, 1_000), { failed: 1, scheduled: 1 }],
  ['would be dead', (job) => settlement.dead(job), { failed: 1, scheduled: 1 }],
  [
    'would be dead without having begun',
    (job) => settlement.dead(job, { ran: false, failed: false }),
    { scheduled: 1 },
  ],
  ['is snoozed', (job) => settlement.snooze(job, 1_000), { snoozed: 1, scheduled: 1 }],
  ['goes back', (job) => settlement.release(job), { scheduled: 1 }],
];

/** How a run may end that was the last of its id, and what counts: the queued job has counted as scheduled and cancelled before. */
const LAST_ENDS: [...End, settled: 'counted' | 'final'][] = [
  ['completes', (job) => settlement.complete(job), { completed: 1, cancelled: 1 }, 'counted'],
  ['is discarded', (job) => settlement.discard(job), { discarded: 1, cancelled: 1 }, 'counted'],
  ['is cancelled by its handler', (job) => settlement.cancel(job), { cancelled: 2 }, 'counted'],
  ['would be tried again', (job) => settlement.retry(job, 1_000), { failed: 1, cancelled: 2 }, 'final'],
  ['would be dead', (job) => settlement.dead(job), { failed: 1, cancelled: 2 }, 'final'],
  [
    'would be dead without having begun',
    (job) => settlement.dead(job, { ran: false, failed: false }),
    { cancelled: 2 },
    'final',
  ],
  ['is snoozed', (job) => settlement.snooze(job, 1_000), { snoozed: 1, cancelled: 2 }, 'final'],
  ['goes back', (job) => settlement.release(job), { cancelled: 2 }, 'final'],
];

const TAKES_AWAY: [name: string, take: (queue: QueueStore) => Promise<boolean | number>][] = [
  ['cancel', ({ jobs }) => jobs.cancel('x')],
  ['cancelTagged', ({ management }) => management.cancelTagged('t', () => {})],
  ['clear', ({ management }) => management.clear()],
];

export const queued = (world: () => World): void => {
  let worker: TestSession;

  const run = async (tags?: string[]) => {
    worker = world().worker('w');
    await world().schedule({ id: 'x', payload: 'first', tags });
    return (await worker.claim())[0]!;
  };
  const queue = (payload = 'second', more = {}) => world().replace({ id: 'x', payload, ...more });

  describe('the queued job takes the place of a run that', () => {
    it.each(ENDS)('%s', async (_, end, counted) => {
      const { view } = world().store();
      const job = await run();
      expect(await queue()).toMatchObject({ status: 'queued' });
      expect(await worker.settle(end(job))).toEqual(['replaced']);
      expect(await world().job('x')).toMatchObject({ state: 'due', attempts: 0, failures: [] });
      const { started: _started, ...stats } = await view.stats();
      expect(stats).toEqual(counted);
      const [next] = await worker.claim();
      expect(next).toMatchObject({ id: 'x', attempt: 1 });
      expect(payloads([next!])).toEqual(['second']);
    });

    it.each(ENDS)('%s, though somebody wanted it cancelled', async (_, end) => {
      const { jobs, view } = world().store();
      const job = await run();
      await queue();
      await jobs.cancelRunning('x');
      expect(await worker.settle(end(job))).toEqual(['cancelled']);
      expect(await view.stats()).toMatchObject({ cancelled: 1, scheduled: 2 });
      expect(payloads(await worker.claim())).toEqual(['second']);
    });

    it('crashes: it keeps the crash of the run', async () => {
      world().store({ maxCrashes: 3 });
      await run();
      await queue();
      const [recovered] = (await world().outlive()).flatMap(({ recovered }) => recovered);
      expect(recovered).toMatchObject({ id: 'x', fate: 'waiting', attempt: 1 });
      expect(await world().job('x')).toMatchObject({ state: 'due', crashes: 1, attempts: 0, failures: [] });
    });

    it('crashes once too often: it begins all the same, and is dead once it crashes as well', async () => {
      world().store({ maxCrashes: 1 });
      await run();
      await queue();
      await world().outlive();
      expect(payloads(await world().worker('w2').claim())).toEqual(['second']);
      await world().outlive();
      expect((await world().job('x'))?.state).toBe('dead');
    });

    it('crashes while somebody wanted it cancelled', async () => {
      const { jobs } = world().store();
      await run();
      await queue();
      await jobs.cancelRunning('x');
      const [recovered] = (await world().outlive()).flatMap(({ recovered }) => recovered);
      expect(recovered).toMatchObject({ id: 'x', fate: 'cancelled' });
      expect(payloads(await world().worker('w2').claim())).toEqual(['second']);
    });
  });

  it('keeps its due time, priority, name, worker and tags', async () => {
    world().store();
    const job = await run();
    await queue('second', { due: { delayMs: 9_000 }, priority: 2, worker: 'v', tags: ['t'] });
    const dueAtMs = world().now() + 9_000;
    expect(await world().job('x')).toMatchObject({ state: 'active', queuedDueAtMs: dueAtMs });
    await worker.settle(settlement.complete(job));
    expect(await world().job('x')).toMatchObject({
      state: 'scheduled',
      dueAtMs,
      envelope: { priority: 2, worker: 'v', tags: ['t'], payload: 'second', idWasChosen: true },
    });
  });

  it('a run whose place is taken keeps no result and is not remembered', async () => {
    const { view } = world().store({ keepCompleted: 5 });
    const job = await run();
    await queue();
    await worker.settle(settlement.completeChosen(job));
    expect((await view.counts()).completed).toBe(0);
    expect((await world().schedule({ id: 'x' })).status).toBe('waiting');
  });

  describe('beside a running job', () => {
    it('a later one replaces the queued one', async () => {
      const { management, view } = world().store();
      const job = await run();
      await queue('second', { tags: ['old'] });
      await queue('third', { tags: ['new'] });
      expect(await management.cancelTagged('old', () => {})).toBe(0);
      await worker.settle(settlement.complete(job));
      expect(payloads(await worker.claim())).toEqual(['third']);
      expect((await view.stats()).scheduled).toBe(2);
    });

    it('the lease is renewed and extended as ever, and the queued job stays', async () => {
      world().store();
      const job = await run();
      await queue();
      expect(await worker.turn({ renewals: [job] })).toMatchObject({ lost: [], toCancel: [] });
      expect(await worker.settle(settlement.extend(job, 5_000))).toEqual(['counted']);
      expect(await world().job('x')).toMatchObject({ state: 'active', leaseUntilMs: world().now() + 5_000 });
      expect((await world().job('x'))?.queuedDueAtMs).toBeDefined();
    });

    it('an outdated holder settles nothing', async () => {
      world().store();
      const job = await run();
      await queue();
      expect(await worker.settle(settlement.complete({ ...job, fence: '1' }))).toEqual(['lost']);
      expect((await world().job('x'))?.queuedDueAtMs).toBeDefined();
    });

    it("one under 'keep' is told that it is active", async () => {
      world().store();
      await run();
      await queue();
      expect((await world().schedule({ id: 'x' })).status).toBe('active');
    });

    it('one of another name is told that the id is taken, and changes nothing', async () => {
      world().store();
      const job = await run();
      await queue();
      expect((await queue('third', { name: 'other' })).status).toBe('taken');
      await worker.settle(settlement.complete(job));
      expect(payloads(await worker.claim())).toEqual(['second']);
    });

    it('a queued job that is claimed too late ends as its own late rule says', async () => {
      world().store();
      const job = await run();
      await queue('second', { lateness: { maxLatenessMs: 100, onLate: 'discard' } });
      await worker.settle(settlement.complete(job));
      world().pass(101);
      expect((await worker.turn({ limit: 1 })).late).toMatchObject([{ id: 'x', latenessMs: 101, attempt: 0 }]);
    });
  });

  describe('of a queued job', () => {
    it('cancel takes it away: a run that completes ends as if there had been none', async () => {
      const { jobs, view } = world().store();
      const job = await run();
      await queue();
      expect(await jobs.cancel('x')).toBe(true);
      expect(await jobs.cancel('x')).toBe(false);
      expect(await worker.settle(settlement.complete(job))).toEqual(['counted']);
      expect(await view.stats()).toEqual({ scheduled: 2, started: 1, cancelled: 1, completed: 1 });
    });

    it('another may be queued once it was cancelled', async () => {
      const { jobs } = world().store();
      const job = await run();
      await queue();
      await jobs.cancel('x');
      expect((await queue('third')).status).toBe('queued');
      await worker.settle(settlement.complete(job));
      expect(payloads(await worker.claim())).toEqual(['third']);
    });

    it('reschedule moves the due time', async () => {
      const { jobs } = world().store();
      const job = await run();
      await queue();
      expect(await jobs.reschedule('x', { delayMs: 4_000 })).toBe(true);
      await worker.settle(settlement.complete(job));
      expect(await world().job('x')).toMatchObject({ dueAtMs: world().now() + 4_000 });
    });

    it.each(['both', 'new'])('cancelTagged takes it away by its own tag %s', async (tag) => {
      const { management } = world().store();
      const job = await run(['both', 'old']);
      await queue('second', { tags: ['both', 'new'] });
      const told: string[] = [];
      expect(await management.cancelTagged(tag, (found) => told.push(...found))).toBe(1);
      expect(told).toEqual(['x']);
      expect(await worker.settle(settlement.complete(job))).toEqual(['counted']);
    });

    it('cancelTagged leaves it by a tag of the running job alone', async () => {
      const { management } = world().store();
      await run(['old']);
      await queue('second', { tags: ['new'] });
      expect(await management.cancelTagged('old', () => {})).toBe(0);
      expect((await world().job('x'))?.queuedDueAtMs).toBeDefined();
    });

    it('shiftTagged moves the due time by its own tags', async () => {
      const { management } = world().store();
      await run(['old']);
      const { dueAtMs } = await queue('second', { tags: ['new'] });
      expect(await management.shiftTagged('new', 500)).toBe(1);
      expect(await management.shiftTagged('old', 500)).toBe(0);
      expect((await world().job('x'))?.queuedDueAtMs).toBe(dueAtMs! + 500);
    });

    it('clear takes it away', async () => {
      const { management } = world().store();
      const job = await run();
      await queue();
      expect(await management.clear()).toBe(1);
      expect(await worker.settle(settlement.complete(job))).toEqual(['counted']);
    });

    it('remove leaves it there, as the job runs', async () => {
      const { jobs } = world().store();
      await run();
      await queue();
      expect(await jobs.remove('x')).toBe(false);
      expect((await world().job('x'))?.queuedDueAtMs).toBeDefined();
    });

    it('counts know nothing', async () => {
      const { view } = world().store();
      await run();
      await queue();
      expect(await view.counts()).toEqual({ scheduled: 0, due: 0, active: 1, completed: 0, dead: 0 });
      expect(ids(await view.list('due', 0, 10))).toEqual([]);
    });
  });

  describe('once the queued job was cancelled, nothing of the id starts again: the run', () => {
    it.each(LAST_ENDS)('%s', async (_, end, counted, settled) => {
      const { jobs, view } = world().store();
      const job = await run();
      await queue();
      expect(await jobs.cancel('x')).toBe(true);
      expect(await worker.settle(end(job))).toEqual([settled]);
      expect(await world().job('x')).toBeUndefined();
      const { started: _started, ...stats } = await view.stats();
      expect(stats).toEqual({ scheduled: 2, ...counted });
      expect((await world().schedule({ id: 'x' })).status).toBe('created');
    });

    it.each(TAKES_AWAY)('gets no further attempt, by %s as well', async (_, take) => {
      const store = world().store();
      const job = await run();
      await queue('second', { tags: ['t'] });
      expect(Number(await take(store))).toBe(1);
      expect(await worker.settle(settlement.retry(job))).toEqual(['final']);
      expect(await worker.claim()).toEqual([]);
      expect(await world().job('x')).toBeUndefined();
    });

    it('of a pop gets none either', async () => {
      const { jobs } = world().store();
      await world().schedule({ id: 'x', payload: 'first' });
      const puller = world().puller('p');
      const [job] = await puller.claim();
      await queue();
      await jobs.cancel('x');
      expect(await puller.settle(settlement.retry(job!))).toEqual(['final']);
      expect(await world().job('x')).toBeUndefined();
    });

    it.each([1, 3])('crashes, with a maxCrashes of %d', async (maxCrashes) => {
      const { jobs, view } = world().store({ maxCrashes });
      await run();
      await queue();
      await jobs.cancel('x');
      const [recovered] = (await world().outlive()).flatMap(({ recovered }) => recovered);
      expect(recovered).toMatchObject({ id: 'x', fate: 'cancelled', attempt: 1 });
      expect(await world().job('x')).toBeUndefined();
      expect(await view.stats()).toEqual({ scheduled: 2, started: 1, recovered: 1, cancelled: 2 });
    });

    it('is renewed and extended as ever until then', async () => {
      const { jobs } = world().store();
      const job = await run();
      await queue();
      await jobs.cancel('x');
      expect(await worker.turn({ renewals: [job] })).toMatchObject({ lost: [], toCancel: [] });
      expect(await worker.settle(settlement.extend(job, 5_000))).toEqual(['counted']);
      expect(await worker.settle(settlement.retry(job))).toEqual(['final']);
    });

    it('is cancelled as well, and ends as that', async () => {
      const { jobs } = world().store();
      const job = await run();
      await queue();
      await jobs.cancel('x');
      expect(await jobs.cancelRunning('x')).toBe(true);
      expect(await worker.settle(settlement.retry(job))).toEqual(['cancelled']);
      expect(await world().job('x')).toBeUndefined();
    });

    it('makes way for another one that is queued after that', async () => {
      const { jobs } = world().store();
      const job = await run();
      await queue();
      await jobs.cancel('x');
      await queue('third');
      expect(await worker.settle(settlement.retry(job))).toEqual(['replaced']);
      const [next] = await worker.claim();
      expect(payloads([next!])).toEqual(['third']);
      expect(await worker.settle(settlement.retry(next!))).toEqual(['counted']);
      expect((await world().job('x'))?.state).toBe('due');
    });
  });

  describe('once the queued job was cancelled, and the id is scheduled again while the run goes on', () => {
    const cancelled = async () => {
      const { jobs } = world().store({ maxCrashes: 3 });
      const job = await run();
      await queue();
      await jobs.cancel('x');
      return job;
    };

    it('the run has its further attempts again', async () => {
      const job = await cancelled();
      expect((await world().schedule({ id: 'x' })).status).toBe('active');
      expect(await worker.settle(settlement.retry(job))).toEqual(['counted']);
      expect(payloads(await worker.claim())).toEqual(['first']);
      expect(await world().audit()).toEqual([]);
    });

    it('by one call together with a new job, it has them as well', async () => {
      const job = await cancelled();
      const { jobs } = world().queue;
      const told: unknown[] = [];
      await jobs.scheduleMany([newJob({ id: 'x' }), newJob({ id: 'y' })], (index, answer) => {
        told[index] = answer?.status;
      });
      expect(told).toEqual(['active', 'created']);
      expect(await worker.settle(settlement.retry(job))).toEqual(['counted']);
    });

    it('a crash of the run leads to another attempt', async () => {
      await cancelled();
      await world().schedule({ id: 'x' });
      const [recovered] = (await world().outlive()).flatMap(({ recovered }) => recovered);
      expect(recovered).toMatchObject({ id: 'x', fate: 'waiting' });
    });

    it('its progress stays, and it is cancelled where somebody wanted that', async () => {
      const job = await cancelled();
      const { jobs } = world().queue;
      await worker.turn({ reports: [{ id: 'x', fence: job.fence, value: '{"done":5}' }] });
      await jobs.cancelRunning('x');
      await world().schedule({ id: 'x' });
      expect((await world().job('x'))?.progress).toBe('{"done":5}');
      expect(await worker.settle(settlement.retry(job))).toEqual(['cancelled']);
    });

    it('for another name, nothing changes', async () => {
      const job = await cancelled();
      expect((await world().schedule({ id: 'x', name: 'other' })).status).toBe('taken');
      expect(await worker.settle(settlement.retry(job))).toEqual(['final']);
    });
  });

  describe('a tag that begins like another one', () => {
    it('of the run finds the queued job', async () => {
      const { management } = world().store();
      await run(['order-10']);
      await queue('second', { tags: ['order-1'] });
      expect(await management.cancelTagged('order-1', () => {})).toBe(1);
    });

    it('of a later queued job does not keep the earlier one under its own', async () => {
      const { management } = world().store();
      const job = await run();
      await queue('second', { tags: ['order-1'] });
      await queue('third', { tags: ['order-10'] });
      expect(await world().audit()).toEqual([]);
      await worker.settle(settlement.complete(job));
      expect(await world().audit()).toEqual([]);
      expect(await management.cancelTagged('order-1', () => {})).toBe(0);
    });

    it('of the queued job does not keep the run under its own', async () => {
      const { management } = world().store();
      const job = await run(['order-1']);
      await queue('second', { tags: ['order-10'] });
      await worker.settle(settlement.complete(job));
      expect(await world().audit()).toEqual([]);
      expect(await management.cancelTagged('order-1', () => {})).toBe(0);
    });
  });
};
