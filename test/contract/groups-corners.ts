import { describe, expect, it } from '@jest/globals';
import { some } from './groups.js';
import { payloads, settlement, type World } from './world.js';

export const groupsCorners = (world: () => World): void => {
  const worker = () => world().worker('w');
  const claimed = async (limit = 10) => payloads((await worker().turn({ limit })).claimed) as string[];

  describe('one claim of several priorities', () => {
    it.each([
      ['concurrency', { concurrency: 1 }],
      ['rate', { rateLimit: { max: 1, perMs: 1_000 } }],
      ['order', { order: 'fifo' as const }],
    ])('keeps a group within its %s also where jobs age', async (_, groups) => {
      world().store({ groups, ordering: { mode: 'aging', msPerLevel: 1_000 } });
      await world().scheduleAll([...some('a', 2), ...some('a', 2, { priority: 1 }), ...some('b', 1, { priority: 9 })]);
      expect(await claimed()).toEqual(['a', 'b']);
      expect(await claimed()).toEqual([]);
    });
  });

  it('nothing is left of a turn whose jobs somebody cancels one by one', async () => {
    const { jobs } = world().store();
    for (const id of ['1', '2', '3']) await world().schedule({ id, group: 'a', payload: id });
    expect(await claimed(1)).toEqual(['1']);
    await jobs.cancel('2');
    await jobs.cancel('3');
    expect(await claimed()).toEqual([]);
  });

  it('a group that was held until now, and has no jobs any more, is forgotten', async () => {
    const { jobs, view } = world().store({ groups: { rateLimit: { max: 1, perMs: 1_000 } } });
    await world().scheduleAll([
      { id: '1', group: 'a', payload: '1' },
      { id: '2', group: 'a', payload: '2' },
    ]);
    const [job] = (await worker().turn({ limit: 10 })).claimed;
    await worker().settle(settlement.completeChosen(job!));
    await jobs.cancel('2');
    world().pass(2_000);
    expect(await claimed()).toEqual([]);
    expect(await view.groups(10)).toEqual([]);
  });

  describe('a sleeper looks', () => {
    const LONG = { maxSleepMs: 60_000, leaseMs: 3_600_000 };
    const begun = async () => {
      await world().scheduleAll([
        { id: '1', group: 'a', payload: '1', due: { at: world().now() - 2 } },
        { id: '2', group: 'a', payload: '2', due: { at: world().now() - 1 } },
        { id: '3', group: 'a', payload: '3', name: 'other' },
      ]);
      const [job] = (await worker().turn({ limit: 10 })).claimed;
      return job!;
    };

    it('when the job of another name that holds its group has ended, whatever it has seen meanwhile', async () => {
      world().store({ ...LONG, groups: { order: 'fifo' } });
      await worker().settle(settlement.retry(await begun(), 1_000));
      world().pass(1_000);
      await world().queue.jobs.cancel('2');
      const sleeper = await world().worker('b', 'other').listens();
      expect(await sleeper.sleeps()).toBe(60_000);
      const [again] = (await worker().turn({ limit: 10 })).claimed;
      expect(again).toMatchObject({ id: '1' });
      await worker().settle(settlement.completeChosen(again!));
      expect(await sleeper.isTold()).toBeLessThan(100);
      expect(payloads(await sleeper.claim())).toEqual(['3']);
    });

    it('when somebody cancels the due job of another name that holds its group', async () => {
      world().store({ ...LONG, groups: { order: 'fifo' } });
      await worker().settle(settlement.retry(await begun(), 1_000));
      world().pass(1_000);
      await world().queue.jobs.cancel('2');
      const sleeper = await world().worker('b', 'other').listens();
      expect(await sleeper.sleeps()).toBe(60_000);
      await world().queue.jobs.cancel('1');
      expect(await sleeper.isTold()).toBeLessThan(100);
      expect(payloads(await sleeper.claim())).toEqual(['3']);
    });

    it('when the next attempt of the job that holds its group is due, also behind others of its name', async () => {
      world().store({ ...LONG, groups: { order: 'fifo' } });
      const job = await begun();
      const sleeper = await world().worker('b').listens();
      expect(await sleeper.sleeps()).toBe(60_000);
      await worker().settle(settlement.retry(job, 1_000));
      expect(await sleeper.isTold()).toBeLessThanOrEqual(1_000);
      expect(await sleeper.sleeps()).toBe(1_000);
    });

    it.each([
      ['place', { concurrency: 1 }],
      ['order', { order: 'fifo' as const }],
    ])('when a group has a %s again for a suspect', async (_, groups) => {
      world().store({ ...LONG, leaseMs: 6_000, maxCrashes: 2, groups });
      await world().schedule({ id: 's', group: 'b', payload: 's' });
      await world().crash(1);
      await world().replace({ id: 's', group: 'a', payload: 's' });
      const job = await begun();
      const sleeper = await world().worker('b').listens();
      expect((await sleeper.turn({ limit: 10, suspects: 'take' })).claimed).toEqual([]);
      sleeper.told.length = 0;
      await world().queue.jobs.cancel('2');
      await worker().settle(settlement.completeChosen(job));
      expect(await sleeper.isTold()).toBeLessThan(100);
      expect(payloads(await sleeper.claim())).toEqual(['s']);
    });

    it('when the rate of a group lets a suspect start', async () => {
      world().store({ ...LONG, leaseMs: 60_000, maxCrashes: 2, groups: { rateLimit: { max: 1, perMs: 1_000 } } });
      await world().schedule({ id: 's', group: 'b', payload: 's' });
      await world().crash(1);
      await world().replace({ id: 's', group: 'a', payload: 's' });
      await world().schedule({ group: 'a', priority: 1 });
      expect(await worker().turn({ limit: 10 })).toMatchObject({ claimed: [{}] });
      const { claimed: none, sleepMs } = await world().worker('b').turn({ limit: 10, suspects: 'take' });
      expect([none, sleepMs]).toEqual([[], 1_020]);
    });
  });
};
