import { describe, expect, it } from '@jest/globals';
import type { ClaimedJob, Settlement } from '../../lib/store/job-store.js';
import { some } from './groups.js';
import { payloads, settlement, type World } from './world.js';

export const groupsFifo = (world: () => World): void => {
  const open = (options = {}) => world().store({ groups: { order: 'fifo' }, ...options });
  const worker = () => world().worker('w');
  const claimed = async () => payloads((await worker().turn({ limit: 10 })).claimed) as string[];
  const heldBy = async () => (await world().queue.view.group('a')).heldBy;

  /** The first of three due jobs of the group has begun. */
  const begin = async (): Promise<ClaimedJob> => {
    const due = (ms: number) => ({ at: world().now() - ms });
    await world().scheduleAll([
      { id: '1', group: 'a', payload: '1', due: due(3) },
      { id: '2', group: 'a', payload: '2', due: due(2), priority: 1 },
      { id: '3', group: 'a', payload: '3', due: due(1) },
    ]);
    await world().queue.jobs.reschedule('2', { delayMs: 5 });
    const [job] = (await worker().turn({ limit: 10 })).claimed;
    expect(job).toMatchObject({ id: '1' });
    world().pass(5);
    return job!;
  };

  it('one job of each group runs at a time, whatever setGroup says, and jobs without a group as ever', async () => {
    const { management } = open();
    await management.setGroup('a', { concurrency: 5 });
    await world().scheduleAll([...some('a', 3), ...some('b', 2), ...some(undefined, 2)]);
    expect((await claimed()).sort()).toEqual(['-', '-', 'a', 'b']);
    expect(await claimed()).toEqual([]);
    expect(await heldBy()).toBe('order');
  });

  describe('a job that has begun holds its group', () => {
    it.each<[string, (job: ClaimedJob) => Settlement]>([
      ['its next attempt', (job) => settlement.retry(job, 1_000)],
      ['a snooze', (job) => settlement.snooze(job, 1_000)],
    ])('also while it waits for %s, and comes before any other job of it', async (_, end) => {
      open({ maxSleepMs: 60_000, leaseMs: 3_600_000 });
      await worker().settle(end(await begin()));
      expect(await heldBy()).toBe('order');
      const { claimed: none, sleepMs } = await worker().turn({ limit: 10 });
      expect([none, sleepMs]).toEqual([[], 1_000]);
      expect(await world().queue.view.heldDue()).toBe(2);
      world().pass(1_000);
      expect(await heldBy()).toBeUndefined();
      expect(await world().queue.view.heldDue()).toBe(0);
      expect(await claimed()).toEqual(['1']);
    });

    it('also when it goes back, in the same turn or in another one', async () => {
      open();
      const job = await begin();
      const { claimed: none, sleepMs } = await worker().turn({ settlements: [settlement.release(job)], limit: 10 });
      expect([none, sleepMs]).toEqual([[], 0]);
      expect(await claimed()).toEqual(['1']);
    });

    it('also when its worker dies, and again as a suspect', async () => {
      open({ maxCrashes: 3 });
      await begin();
      await world().outlive();
      expect(payloads(await world().worker('dies').claim())).toEqual(['1']);
      await world().outlive();
      expect(await claimed()).toEqual([]);
      expect(await heldBy()).toBeUndefined();
      expect(payloads(await worker().claim())).toEqual(['1']);
      await world().outlive();
      expect((await world().job('1'))?.state).toBe('dead');
      expect(await claimed()).toEqual(['2']);
    });

    it('also after somebody has given it another due time', async () => {
      const { jobs } = open();
      await worker().settle(settlement.retry(await begin(), 1_000));
      await jobs.reschedule('1', { delayMs: 60_000 });
      world().pass(2_000);
      expect(await claimed()).toEqual([]);
      expect(await heldBy()).toBe('order');
      await jobs.reschedule('1', { delayMs: 0 });
      expect(await claimed()).toEqual(['1']);
    });

    it('also where only workers of its name may take it', async () => {
      open();
      await world().schedule({ id: 'x', group: 'a', name: 'other', due: { delayMs: -5 } });
      const other = world().worker('o', 'other');
      await other.settle(settlement.release((await other.turn({ limit: 1 })).claimed[0]!));
      await world().scheduleAll(some('a', 2));
      expect(await claimed()).toEqual([]);
      expect((await other.turn({ limit: 1 })).claimed).toHaveLength(1);
    });
  });

  describe('its group is free again', () => {
    it.each<[string, (job: ClaimedJob) => Settlement]>([
      ['has completed', (job) => settlement.completeChosen(job)],
      ['was discarded', (job) => settlement.discard(job)],
      ['was cancelled', (job) => settlement.cancel(job)],
      ['is dead', (job) => settlement.dead(job)],
    ])('once it %s', async (_, end) => {
      open();
      await worker().settle(end(await begin()));
      expect(await claimed()).toEqual(['2']);
    });

    it.each<[string, () => Promise<unknown>]>([
      ['cancelled', () => world().queue.jobs.cancel('1')],
      ['removed', () => world().queue.jobs.remove('1')],
      ['cancelled by its tag', () => world().queue.management.cancelTagged('t', () => {})],
      ['replaced', () => world().replace({ id: '1', group: 'a', payload: 'new', due: { delayMs: 900 } })],
      ['replaced by one of another group', () => world().replace({ id: '1', payload: 'new', due: { delayMs: 900 } })],
    ])('once it is %s while it waits, and a sleeper is told', async (_, end) => {
      open({ leaseMs: 60_000 });
      await world().schedule({ id: '1', group: 'a', tags: ['t'] });
      const [job] = await worker().claim();
      await worker().settle(settlement.retry(job!, 60_000));
      await world().scheduleAll(some('a', 2));
      const sleeper = await world().worker('b').listens();
      await sleeper.sleeps();
      expect(sleeper.told).toEqual([]);
      await end();
      expect(await sleeper.isTold()).toBeLessThan(1_000);
      expect(await heldBy()).toBeUndefined();
      expect(await claimed()).toEqual(['a']);
    });

    it('once the queue is cleared', async () => {
      const { management } = open();
      await worker().settle(settlement.retry(await begin(), 60_000));
      await management.clear();
      await world().scheduleAll(some('a', 1));
      expect(await claimed()).toEqual(['a']);
    });

    it('once a queued job has taken its place, which begins as any other', async () => {
      open();
      const job = await begin();
      await world().replace({ id: '1', group: 'a', payload: 'new', due: { delayMs: 0 } });
      expect(await worker().settle(settlement.retry(job))).toEqual(['replaced']);
      expect(await claimed()).toEqual(['2']);
    });

    it('and a dead job that is put back holds it no more', async () => {
      const { management } = open();
      await worker().settle(settlement.dead(await begin()));
      await management.replayDead('1', { delayMs: 60_000 });
      expect(await heldBy()).toBeUndefined();
      expect(await claimed()).toEqual(['2']);
    });
  });

  it('nothing is kept of a group whose jobs have ended', async () => {
    const { view } = open();
    const job = await begin();
    await worker().settle(settlement.completeChosen(job));
    for (let left = 2; left > 0; left--) {
      const [next] = (await worker().turn({ limit: 1 })).claimed;
      await worker().settle(settlement.complete(next!));
    }
    expect(await view.groups(1_000)).toEqual([]);
    expect(await view.heldDue()).toBe(0);
  });
};
