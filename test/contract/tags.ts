import { beforeEach, describe, expect, it } from '@jest/globals';
import { ids, settlement, type World } from './world.js';

const ENDS: Record<string, (world: World, id: string) => Promise<unknown>> = {
  completes: async (world) => end(world, settlement.complete),
  'completes under a chosen id': async (world) => end(world, settlement.completeChosen),
  'is discarded': async (world) => end(world, (job) => settlement.discard(job)),
  'is cancelled by its handler': async (world) => end(world, settlement.cancel),
  'is cancelled while it runs': async (world, id) => {
    const worker = world.worker('w');
    const claimed = await worker.claim();
    await world.whole.queue('default').jobs.cancelRunning(id);
    await worker.settle(settlement.complete(claimed[0]!));
  },
  'is cancelled': (world, id) => world.whole.queue('default').jobs.cancel(id),
  'is removed': (world, id) => world.whole.queue('default').jobs.remove(id),
  'is cleared away': (world) => world.whole.queue('default').management.clear(),
  'is replaced by one without tags': (world, id) => world.replace({ id }),
  'dies and is purged': async (world) => {
    await end(world, settlement.dead);
    await world.whole.queue('default').management.purgeDead();
  },
  'dies and is removed': async (world, id) => {
    await end(world, settlement.dead);
    await world.whole.queue('default').jobs.remove(id);
  },
  'dies, is replayed and completes': async (world, id) => {
    await end(world, settlement.dead);
    await world.whole.queue('default').management.replayDead(id, { delayMs: 0 });
    await end(world, settlement.complete);
  },
};

async function end(
  world: World,
  how: (
    job: Awaited<ReturnType<ReturnType<World['worker']>['claim']>>[0],
  ) => Parameters<ReturnType<World['worker']>['settle']>[0],
) {
  const worker = world.worker('w');
  await worker.settle(how((await worker.claim())[0]!));
}

export const tags = (world: () => World): void => {
  describe('a tag finds nothing any more of a job that', () => {
    it.each(Object.keys(ENDS))('%s', async (how) => {
      const { management } = world().store();
      await world().schedule({ id: 'x', tags: ['a', 'two words'] });
      await ENDS[how]!(world(), 'x');
      await world().schedule({ id: 'x', due: { delayMs: 60_000 } });
      for (const tag of ['a', 'two words']) expect(await management.cancelTagged(tag, () => {})).toBe(0);
    });
  });

  describe('cancelTagged tells ids in the order in which the jobs came by the tag', () => {
    const cancelled = async (tag: string) => {
      const told: string[] = [];
      await world().queue.management.cancelTagged(tag, (ids) => told.push(...ids));
      return told;
    };

    it('whether they wait or are queued behind running ones', async () => {
      world().store();
      await world().schedule({ id: 'z', name: 'other', tags: ['a'], due: { delayMs: 60_000 } });
      await world().schedule({ id: 'runs' });
      await world().worker('w').claim();
      await world().replace({ id: 'runs', tags: ['a'], due: { delayMs: 60_000 } });
      for (const id of ['y', 'x']) await world().schedule({ id, tags: ['a'], due: { delayMs: 60_000 } });
      expect(await cancelled('a')).toEqual(['z', 'runs', 'y', 'x']);
    });

    it('a waiting one that is replaced keeps its place, one that takes the place of a dead one comes anew', async () => {
      world().store();
      await world().schedule({ id: 'dead', tags: ['a', 'b'] });
      const worker = world().worker('w');
      await worker.settle(settlement.dead((await worker.claim())[0]!));
      for (const id of ['waits', 'last']) await world().schedule({ id, tags: ['a'], due: { delayMs: 60_000 } });
      for (const id of ['waits', 'dead']) await world().replace({ id, tags: ['a'], due: { delayMs: 60_000 } });
      expect(await cancelled('a')).toEqual(['waits', 'last', 'dead']);
      expect(await cancelled('b')).toEqual([]);
    });
  });

  describe('a call over a tag that has begun spares', () => {
    /** So many that Redis needs several steps. */
    const MANY = 2_000;
    const later = { due: { delayMs: 3_600_000 }, tags: ['a'] };
    const calls: Record<string, (begun: () => void) => Promise<number>> = {
      cancelTagged: (begun) => world().queue.management.cancelTagged('a', begun),
      shiftTagged: async (begun) => {
        const first = await world().job('old-0');
        const shifted = world().queue.management.shiftTagged('a', 5_000);
        while ((await world().job('old-0'))?.dueAtMs === first!.dueAtMs);
        begun();
        return shifted;
      },
    };

    /** Answers how many it has found, once `meanwhile`, which begins after its first step, has ended too. */
    const during = async (call: string, meanwhile: () => Promise<unknown>) => {
      let ended: Promise<unknown> | undefined;
      const found = await calls[call]!(() => {
        if (!ended) world().pass(10);
        ended ??= meanwhile();
      });
      await ended;
      return found;
    };

    beforeEach(async () => {
      world().store({ leaseMs: 600_000 });
      await world().scheduleAll(Array.from({ length: MANY }, (_, i) => ({ ...later, id: `old-${i}` })));
      // Under the clock of this world, which stands still meanwhile, a burst of schedules is ahead of time.
      world().pass(1_000);
    });

    it.each(Object.keys(calls))('what is scheduled after the last one has gone (%s)', async (call) => {
      const due: (number | null)[] = [];
      await during(call, async () => {
        await world().queue.jobs.cancel(`old-${MANY - 1}`);
        due.push((await world().schedule({ ...later, id: 'new' })).dueAtMs);
      });
      expect(due).toEqual([(await world().job('new'))?.dueAtMs]);
    });

    it.each(Object.keys(calls))('what is queued behind a running one of this tag (%s)', async (call) => {
      await world().schedule({ id: 'runs', tags: ['a'] });
      expect(await world().worker('w').claim()).toHaveLength(1);
      const due: (number | null)[] = [];
      expect(
        await during(call, async () => {
          due.push((await world().replace({ ...later, id: 'runs' })).dueAtMs);
        }),
      ).toBe(MANY);
      expect(due).toEqual([(await world().job('runs'))?.queuedDueAtMs]);
    });
  });

  it('a job keeps its tags over retries, crashes, death and replay', async () => {
    const { management } = world().store();
    await world().schedule({ id: 'x', tags: ['a'] });
    const worker = world().worker('w');
    await worker.settle(settlement.retry((await worker.claim())[0]!));
    await world().crash(1);
    await worker.settle(settlement.dead((await worker.claim())[0]!));
    expect(await management.cancelTagged('a', () => {})).toBe(0);
    await management.replayDead('x', { delayMs: 0 });
    expect((await world().job('x'))?.envelope).toMatchObject({ tags: ['a'] });
    expect(await management.cancelTagged('a', () => {})).toBe(1);
  });

  it('a replaced job has the tags of the replacing one', async () => {
    const { management } = world().store();
    await world().schedule({ id: 'x', tags: ['old', 'both'] });
    await world().replace({ id: 'x', tags: ['both', 'new'] });
    expect(await management.shiftTagged('old', 5)).toBe(0);
    expect(await management.shiftTagged('both', 5)).toBe(1);
    expect(await management.shiftTagged('new', 5)).toBe(1);
  });

  it('one that is scheduled again keeps the tags that it had', async () => {
    const { management } = world().store();
    await world().schedule({ id: 'x', tags: ['a'] });
    await world().schedule({ id: 'x', tags: ['b'] });
    expect(await management.shiftTagged('b', 5)).toBe(0);
    expect(await management.shiftTagged('a', 5)).toBe(1);
  });

  describe('cancelTagged', () => {
    it('takes all that wait out for good, tells each id in the order in which they came, and leaves the others', async () => {
      const { management, view } = world().store();
      const made = ids(
        await world().scheduleAll(
          Array.from({ length: 40 }, (_, i) => ({ tags: i % 2 ? ['odd'] : ['even'], priority: 40 - i })),
        ),
      );
      const told: string[] = [];
      expect(await management.cancelTagged('odd', (found) => told.push(...found))).toBe(20);
      expect(told).toEqual(made.filter((_, i) => i % 2));
      expect(await view.counts()).toMatchObject({ due: 20 });
      expect((await view.stats()).cancelled).toBe(20);
    });

    it('frees the ids that callers chose, and forgets histories', async () => {
      const { management } = world().store();
      await world().schedule({ id: 'x', tags: ['a'] });
      const worker = world().worker('w');
      await worker.settle(settlement.retry((await worker.claim())[0]!, 60_000));
      await management.cancelTagged('a', () => {});
      expect((await world().schedule({ id: 'x' })).status).toBe('created');
      expect(await world().job('x')).toMatchObject({ attempts: 0, failures: [] });
    });

    it('leaves what runs and what is dead alone', async () => {
      const { management, view } = world().store();
      await world().scheduleAll([{ tags: ['a'] }, { tags: ['a'] }]);
      const worker = world().worker('w');
      await worker.settle(settlement.dead((await worker.claim(1))[0]!));
      await worker.claim();
      expect(await management.cancelTagged('a', () => {})).toBe(0);
      expect(await view.counts()).toMatchObject({ active: 1, dead: 1 });
    });

    it('tells nothing of a tag that nobody carries', async () => {
      const { management } = world().store();
      expect(await management.cancelTagged('none', () => {})).toBe(0);
    });

    it('takes suspects and jobs that prefer a worker too', async () => {
      const { management } = world().store({ maxCrashes: 2 });
      await world().schedule({ tags: ['a'] });
      await world().crash(1);
      await world().schedule({ tags: ['a'], worker: 'v' });
      expect(await management.cancelTagged('a', () => {})).toBe(2);
    });
  });

  describe('shiftTagged', () => {
    it.each([5_000, -5_000])('moves each waiting job once, by %i ms', async (byMs) => {
      const { management } = world().store();
      const given = [{ delayMs: 60_000 }, { delayMs: 0 }, { at: world().now() - 1_000 }];
      const before = await world().scheduleAll(given.map((due) => ({ due, tags: ['a'] })));
      const other = await world().schedule();
      expect(await management.shiftTagged('a', byMs)).toBe(3);
      for (const { id, dueAtMs } of before) expect((await world().job(id))?.dueAtMs).toBe(dueAtMs! + byMs);
      expect((await world().job(other.id))?.dueAtMs).toBe(other.dueAtMs);
    });

    it('moves due times into the past, in which they keep their order', async () => {
      const { management } = world().store();
      const made = await world().scheduleAll([3, 1, 2].map((s) => ({ due: { delayMs: s * 1_000 }, tags: ['a'] })));
      await management.shiftTagged('a', -3_600_000);
      expect(ids(await world().worker('w').claim())).toEqual(ids([made[1]!, made[2]!, made[0]!]));
    });

    it('moves none before the first instant that a job may have, nor beyond the last one of a Date', async () => {
      const { management } = world().store();
      const first = await world().schedule({ due: { at: 1e11 + 5 }, tags: ['first'] });
      const last = await world().schedule({ due: { at: 8.64e15 - 5 }, tags: ['last'] });
      expect(await management.shiftTagged('first', -100)).toBe(1);
      expect(await management.shiftTagged('first', -100)).toBe(0);
      expect(await management.shiftTagged('last', 100)).toBe(1);
      expect(await management.shiftTagged('last', 100)).toBe(0);
      expect((await world().job(first.id))?.dueAtMs).toBe(1e11);
      expect((await world().job(last.id))?.dueAtMs).toBe(8.64e15);
    });

    it('leaves what runs and what is dead alone', async () => {
      const { management } = world().store();
      await world().scheduleAll([{ tags: ['a'] }, { tags: ['a'] }]);
      const worker = world().worker('w');
      await worker.settle(settlement.dead((await worker.claim(1))[0]!));
      await worker.claim();
      expect(await management.shiftTagged('a', 5)).toBe(0);
    });

    it('tells a sleeper of what is due earlier then', async () => {
      const { management } = world().store({ leaseMs: 60_000 });
      await world().schedule({ due: { delayMs: 60_000 }, tags: ['a'] });
      const worker = await world().worker('w').listens();
      await worker.sleeps();
      await management.shiftTagged('a', -60_000);
      expect(await worker.isTold()).toBeLessThan(100);
      expect(await worker.claim()).toHaveLength(1);
    });
  });
};
