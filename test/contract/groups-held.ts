import { describe, expect, it } from '@jest/globals';
import { run, some } from './groups.js';
import { ids, payloads, settlement, type World } from './world.js';

export const groupsHeld = (world: () => World): void => {
  const worker = () => world().worker('w');
  const claimed = async (limit = 10) =>
    (payloads((await worker().turn({ limit })).claimed) as string[]).sort().join('');
  const heldBy = async (group: string) => (await world().queue.view.group(group)).heldBy;

  describe('the concurrency of groups', () => {
    it('lets so many of each run at once, over all processes, names and priorities, popped ones too', async () => {
      const { view } = world().store({ groups: { concurrency: 2 } });
      await world().scheduleAll([
        ...some('a', 2),
        ...some('a', 2, { priority: 1 }),
        ...some('b', 3),
        ...some(undefined, 3),
      ]);
      expect(await run(world().worker('w', 'other'), 1)).toEqual([]);
      expect((payloads(await world().puller('p').claim(1)) as string[]).join('')).toBe('a');
      expect(await claimed(20)).toBe('---abb');
      expect(await claimed(20)).toBe('');
      expect(await view.group('a')).toMatchObject({ waiting: 2, due: 2, active: 2, heldBy: 'concurrency' });
      expect(await view.heldDue()).toBe(3);
    });

    it.each(['complete', 'retry', 'discard', 'release', 'cancel', 'dead', 'snooze'] as const)(
      'what a turn ends by %s makes room for another one in that turn',
      async (how) => {
        world().store({ groups: { concurrency: 1 } });
        await world().scheduleAll(some('a', 2));
        const [job] = await worker().claim();
        const end = how === 'retry' || how === 'snooze' ? settlement[how](job!, 1_000) : settlement[how](job!);
        expect((await worker().turn({ settlements: [end], limit: 5 })).claimed).toHaveLength(1);
      },
    );

    it('has the places of a dead worker back when its leases have run out', async () => {
      world().store({ groups: { concurrency: 1 } });
      await world().scheduleAll(some('a', 2));
      await world().worker('dies').claim();
      expect(await claimed()).toBe('');
      await world().outlive();
      expect(await claimed()).toBe('a');
    });

    it('has the place of a job that somebody cancels once its holder has settled it', async () => {
      const { jobs } = world().store({ groups: { concurrency: 1 } });
      await world().scheduleAll(some('a', 2));
      const [job] = await worker().claim();
      await jobs.cancelRunning(job!.id);
      expect(await claimed()).toBe('');
      expect(await worker().settle(settlement.complete(job!))).toEqual(['cancelled']);
      expect(await claimed()).toBe('a');
    });

    it('holds for the job that was queued behind a run, in its own group', async () => {
      world().store({ groups: { concurrency: 1 } });
      await world().schedule({ id: 'x', group: 'a' });
      const [job] = await worker().claim();
      await world().replace({ id: 'x', group: 'b', payload: 'x' });
      await world().scheduleAll([...some('b', 1, { due: { delayMs: -1 } }), ...some('a', 1)]);
      expect(await claimed()).toBe('b');
      expect(await worker().settle(settlement.completeChosen(job!))).toEqual(['replaced']);
      expect(await claimed()).toBe('a');
      expect(await heldBy('b')).toBe('concurrency');
    });

    it('is what setGroup says, from the next claim on; unlimited lifts it, and {} falls back', async () => {
      const { management, view } = world().store({ groups: { concurrency: 2 } });
      await world().scheduleAll([...some('a', 9), ...some('b', 5)]);
      await management.setGroup('a', { concurrency: 3 });
      expect(await claimed(20)).toBe('aaabb');
      await management.setGroup('a', { concurrency: 4 });
      expect(await claimed(20)).toBe('a');
      await management.setGroup('a', { concurrency: 'unlimited' });
      expect(await claimed(2)).toBe('aa');
      expect(await view.group('a')).toMatchObject({ settings: { concurrency: 'unlimited' }, heldBy: undefined });
      await management.setGroup('a', {});
      expect(await claimed(20)).toBe('');
      expect(await view.group('a')).toMatchObject({ settings: {}, active: 6, heldBy: 'concurrency' });
    });

    it('tells a sleeper when a place is free', async () => {
      world().store({ groups: { concurrency: 1 }, leaseMs: 60_000 });
      await world().scheduleAll([...some('a', 1), ...some('a', 1, { name: 'other' })]);
      const ends = worker();
      const [job] = await ends.claim();
      const sleeper = await world().worker('b', 'other').listens();
      expect(await sleeper.sleeps()).toBe(5_000);
      await ends.settle(settlement.complete(job!));
      expect(await sleeper.isTold()).toBeLessThan(100);
      expect(await sleeper.claim()).toHaveLength(1);
    });
  });

  describe('the rate of groups', () => {
    it('lets so many of each start within a window that is 2 % longer, over all priorities, and counts what goes back', async () => {
      const { view } = world().store({ groups: { rateLimit: { max: 2, perMs: 1_000 } }, leaseMs: 60_000 });
      await world().scheduleAll([
        ...some('a', 2),
        ...some('a', 2, { priority: 1 }),
        ...some('b', 1),
        ...some(undefined, 3),
      ]);
      const [job] = await worker().claim(1);
      await worker().settle(settlement.release(job!));
      world().pass(100);
      expect(await claimed()).toBe('---ab');
      const known = await view.group('a');
      expect(known).toMatchObject({ heldBy: 'rate', opensAtMs: world().now() + 920, due: 3 });
      expect((await worker().turn({ limit: 5 })).sleepMs).toBe(920);
      world().pass(919);
      expect(await claimed()).toBe('');
      world().pass(1);
      expect(await claimed()).toBe('a');
      expect(await claimed()).toBe('');
      world().pass(1_100);
      expect(await claimed()).toBe('aa');
    });

    it('is what setGroup says, and unlimited lifts it', async () => {
      const { management } = world().store({ groups: { rateLimit: { max: 1, perMs: 1_000 } } });
      await world().scheduleAll([...some('a', 6), ...some('b', 4)]);
      await management.setGroup('a', { rateLimit: { max: 3, perMs: 60_000 } });
      expect(await claimed()).toBe('aaab');
      world().pass(1_100);
      expect(await claimed()).toBe('b');
      expect((await world().queue.view.group('a')).settings).toEqual({ rateLimit: { max: 3, perMs: 60_000 } });
      await management.setGroup('b', { rateLimit: 'unlimited' });
      expect(await claimed()).toBe('bb');
      await management.setGroup('a', {});
      expect(await claimed()).toBe('a');
    });
  });

  describe('a paused group', () => {
    it('has nothing claimed or popped, and what runs is settled', async () => {
      const { management, view } = world().store();
      await world().scheduleAll([...some('a', 3), ...some('b', 1)]);
      const [job] = await worker().claim(1);
      await management.pauseGroup('a');
      expect(await claimed()).toBe('b');
      expect(await world().puller('p').claim()).toEqual([]);
      expect(await view.group('a')).toMatchObject({
        pausedUntilMs: Number.POSITIVE_INFINITY,
        heldBy: 'paused',
        due: 2,
        active: 1,
      });
      expect(await worker().settle(settlement.retry(job!))).toEqual(['counted']);
      expect(await view.heldDue()).toBe(3);
      await management.resumeGroup('a');
      expect(await claimed()).toBe('aaa');
      expect(await view.group('a')).toMatchObject({
        pausedUntilMs: undefined,
        heldBy: undefined,
        opensAtMs: undefined,
      });
    });

    it('goes on by itself after forMs, and a session knows when', async () => {
      const { management, view } = world().store({ maxSleepMs: 60_000, leaseMs: 3_600_000 });
      await management.pauseGroup('a', 700);
      await world().scheduleAll(some('a', 1));
      expect(await view.group('a')).toMatchObject({
        pausedUntilMs: world().now() + 700,
        opensAtMs: world().now() + 700,
      });
      expect((await worker().turn({ limit: 5 })).sleepMs).toBe(700);
      world().pass(699);
      expect(await claimed()).toBe('');
      world().pass(1);
      expect(await claimed()).toBe('a');
      expect((await view.groups(10)).map(({ group, pausedUntilMs }) => [group, pausedUntilMs])).toEqual([
        ['a', undefined],
      ]);
    });

    it('joins the turns at the present when it goes on, and gains nothing by that', async () => {
      const { management } = world().store();
      await world().scheduleAll([...some('a', 9), ...some('b', 9)]);
      expect((await run(worker(), 3)).join('')).toBe('aba');
      await management.pauseGroup('a');
      await management.resumeGroup('a');
      expect((await run(worker(), 2)).join('')).toBe('ba');
      await management.pauseGroup('a');
      expect((await run(worker(), 4)).join('')).toBe('bbbb');
      await management.resumeGroup('a');
      expect((await run(worker(), 4)).join('')).toBe('aaba');
    });

    it('tells sleepers when it is resumed, and of an end that comes sooner', async () => {
      const { management } = world().store({ maxSleepMs: 60_000, leaseMs: 3_600_000 });
      await world().scheduleAll(some('a', 1));
      await management.pauseGroup('a', 50_000);
      const sleeper = await worker().listens();
      expect(await sleeper.sleeps()).toBe(50_000);
      await management.pauseGroup('a', 2_000);
      expect(await sleeper.isTold()).toBeLessThanOrEqual(2_000);
      expect(await sleeper.sleeps()).toBe(2_000);
      await management.resumeGroup('a');
      expect(await sleeper.isTold()).toBeLessThan(100);
      expect(await sleeper.claim()).toHaveLength(1);
    });
  });

  it('the first reason is told of paused, rate, order and concurrency', async () => {
    const { management } = world().store({ groups: { order: 'fifo', rateLimit: { max: 1, perMs: 1_000 } } });
    await world().scheduleAll(some('a', 2));
    expect(await heldBy('a')).toBeUndefined();
    const [job] = await worker().claim();
    expect(await heldBy('a')).toBe('rate');
    await management.pauseGroup('a');
    expect(await heldBy('a')).toBe('paused');
    await management.resumeGroup('a');
    world().pass(1_100);
    expect(await heldBy('a')).toBe('order');
    await worker().settle(settlement.complete(job!));
    expect(await heldBy('a')).toBeUndefined();
  });

  describe('a suspect', () => {
    it('counts for the limits of its group, and is held by them', async () => {
      const { management } = world().store({ maxCrashes: 2, groups: { concurrency: 1 } });
      await world().schedule({ id: 'dies', group: 'a', payload: 's' });
      await world().crash(1);
      await world().scheduleAll(some('a', 1));
      await management.pauseGroup('a');
      expect(payloads(await worker().claim())).toEqual([]);
      await management.resumeGroup('a');
      expect(payloads(await worker().claim())).toEqual(['s']);
      expect(await claimed()).toBe('');
      expect(await heldBy('a')).toBe('concurrency');
    });
  });

  it('groups are told with the most waiting jobs first, then by name: those that have jobs, a pause or a setting', async () => {
    const { management, view } = world().store({ groups: { concurrency: 1 } });
    await world().scheduleAll([
      ...some('c', 3, { due: { delayMs: 5_000 } }),
      ...some('d', 3),
      ...some('b', 1, { priority: 1 }),
      ...some(undefined, 4),
    ]);
    await management.pauseGroup('e', 1_000);
    await management.setGroup('a', { weight: 2, rateLimit: { max: 5, perMs: 300 } });
    const [job] = await worker().claim(1);
    const known = async (limit = 1_000) => (await view.groups(limit)).map(({ group }) => group).join('');
    expect(await known()).toBe('cdabe');
    expect(await known(2)).toBe('cd');
    const none = { settings: {}, pausedUntilMs: undefined, heldBy: undefined, opensAtMs: undefined };
    expect(await view.groups(1_000)).toEqual([
      { ...none, group: 'c', waiting: 3, due: 0, active: 0 },
      { ...none, group: 'd', waiting: 3, due: 3, active: 0 },
      {
        ...none,
        group: 'a',
        waiting: 0,
        due: 0,
        active: 0,
        settings: { weight: 2, rateLimit: { max: 5, perMs: 300 } },
      },
      { ...none, group: 'b', waiting: 0, due: 0, active: 1, heldBy: 'concurrency' },
      {
        ...none,
        group: 'e',
        waiting: 0,
        due: 0,
        active: 0,
        pausedUntilMs: world().now() + 1_000,
        heldBy: 'paused',
        opensAtMs: world().now() + 1_000,
      },
    ]);
    expect(await view.group('nobody')).toEqual({ ...none, group: 'nobody', waiting: 0, due: 0, active: 0 });
    expect(job!.envelope).toMatchObject({ group: 'b' });
    await worker().settle(settlement.complete(job!));
    world().pass(1_000);
    await management.setGroup('a', {});
    expect(await known()).toBe('cd');
    await world().queue.management.clear();
    expect(await known()).toBe('');
  });

  it('counts, lists and forecasts contain jobs of groups as any others', async () => {
    const { view, management } = world().store();
    const made = await world().scheduleAll([
      ...some('a', 2),
      ...some('b', 1, { due: { delayMs: 500 } }),
      ...some(undefined, 1),
    ]);
    await management.pauseGroup('a');
    expect(await view.counts()).toMatchObject({ scheduled: 1, due: 3 });
    expect(await view.countsByPriority()).toEqual([{ priority: 5, scheduled: 1, due: 3 }]);
    expect(await view.forecast([world().now(), world().now() + 1, world().now() + 1_000])).toEqual([3, 1]);
    expect(ids(await view.list('due', 0, 10)).sort()).toEqual(ids(made.filter((_, i) => i !== 2)).sort());
    expect(ids(await view.list('scheduled', 0, 10))).toEqual([made[2]!.id]);
    expect(await view.heldDue()).toBe(2);
  });
};
