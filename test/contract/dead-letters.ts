import { describe, expect, it } from '@jest/globals';
import type { DeadReason } from '../../lib/core/job/events.js';
import { ids, settlement, type World } from './world.js';

export const deadLetters = (world: () => World): void => {
  /** A job of this name dies for this reason. */
  const die = async (id: string, reason: DeadReason = 'attempts-exhausted', name = 'work') => {
    await world().schedule({ id, name });
    const worker = world().worker('w', name);
    const [job] = await worker.claim();
    await worker.settle(settlement.dead(job!, { failure: { name: 'E', message: `says "reason":"late"`, reason } }));
    world().pass(10);
  };
  const waiting = async () => ids(await world().whole.queue('default').view.list('due', 0, 100));

  describe('replayDead', () => {
    it('puts one back to run from attempt 1, with its failures', async () => {
      const { management, view } = world().store();
      await die('a');
      await die('b');
      expect(await management.replayDead('a', { delayMs: 0 })).toBe(1);
      expect(await world().job('a')).toMatchObject({ state: 'due', attempts: 0, dueAtMs: world().now() });
      expect((await world().job('a'))?.failures).toHaveLength(1);
      expect(ids(await view.list('dead', 0, 10))).toEqual(['b']);
      expect((await world().worker('w').claim())[0]).toMatchObject({ id: 'a', attempt: 1 });
    });

    it('answers 0 for one that is not dead', async () => {
      const { management } = world().store();
      await world().schedule({ id: 'a' });
      expect(await management.replayDead('a', { delayMs: 0 })).toBe(0);
      expect(await management.replayDead('unknown', { delayMs: 0 })).toBe(0);
    });

    it('puts all back, the oldest first', async () => {
      const { management } = world().store();
      for (const id of ['c', 'a', 'b']) await die(id);
      expect(await management.replayDead(undefined, { delayMs: 0 })).toBe(3);
      expect((await waiting()).sort()).toEqual(['a', 'b', 'c']);
    });

    it('puts them back for later', async () => {
      const { management } = world().store();
      await die('a');
      await management.replayDead({}, { delayMs: 60_000 });
      expect(await world().job('a')).toMatchObject({ state: 'scheduled', dueAtMs: world().now() + 60_000 });
    });

    it('spreads them, so many a second, from the oldest on', async () => {
      const { management } = world().store();
      for (const id of ['c', 'a', 'b']) await die(id);
      const at = world().now() + 1_000;
      await management.replayDead({}, { at }, 3);
      for (const [i, id] of ['c', 'a', 'b'].entries())
        expect((await world().job(id))?.dueAtMs).toBe(at + Math.floor((i * 1_000) / 3));
    });

    it('only those of a name, of a reason, that died before an instant, and so many', async () => {
      const { management } = world().store();
      await die('a', 'unrecoverable');
      await die('b', 'dead-lettered', 'other');
      await die('c', 'unrecoverable', 'other');
      const before = world().now() - 10;
      await die('d', 'unrecoverable');
      expect(await management.replayDead({ names: ['nobody'] }, { delayMs: 0 })).toBe(0);
      expect(await management.replayDead({ names: ['other'], reason: 'unrecoverable' }, { delayMs: 0 })).toBe(1);
      expect(await waiting()).toEqual(['c']);
      expect(await management.replayDead({ reason: 'unrecoverable', diedBeforeMs: before }, { delayMs: 0 })).toBe(1);
      expect((await waiting()).sort()).toEqual(['a', 'c']);
      expect(await management.replayDead({ limit: 1 }, { delayMs: 0 })).toBe(1);
      expect((await waiting()).sort()).toEqual(['a', 'b', 'c']);
    });

    it('a message that quotes a reason is none', async () => {
      const { management } = world().store();
      await die('a', 'unrecoverable');
      expect(await management.replayDead({ reason: 'late' }, { delayMs: 0 })).toBe(0);
    });

    it('those that died in the very millisecond of diedBefore are not meant', async () => {
      const { management } = world().store();
      await die('a');
      const diedAt = (await world().job('a'))!.endedAtMs!;
      expect(await management.replayDead({ diedBeforeMs: diedAt }, { delayMs: 0 })).toBe(0);
      expect(await management.replayDead({ diedBeforeMs: diedAt + 1 }, { delayMs: 0 })).toBe(1);
    });

    it('hundreds that died in one millisecond are each put back once', async () => {
      const { management, view } = world().store();
      await world().scheduleAll(Array.from({ length: 350 }, (_, i) => ({ name: i % 3 ? 'work' : 'other' })));
      const worker = world().worker('w', 'work', 'other');
      await worker.settle(...(await worker.claim(350)).map((job) => settlement.dead(job)));
      expect(await management.replayDead({ names: ['work'] }, { delayMs: 0 })).toBe(233);
      expect(await view.counts()).toMatchObject({ dead: 117, due: 233 });
    });

    it('tells a sleeper', async () => {
      const { management } = world().store({ leaseMs: 60_000 });
      await die('a');
      const worker = await world().worker('w').listens();
      await worker.sleeps();
      await management.replayDead('a', { delayMs: 0 });
      expect(await worker.isTold()).toBeLessThan(100);
    });
  });

  describe('purgeDead', () => {
    it('deletes them, counts them as dropped, and frees their ids', async () => {
      const { management, view } = world().store();
      await die('a');
      await die('b');
      expect(await management.purgeDead()).toBe(2);
      expect(await view.counts()).toMatchObject({ dead: 0 });
      expect((await view.stats()).deadDropped).toBe(2);
      expect((await world().schedule({ id: 'a' })).status).toBe('created');
      expect((await world().job('a'))?.failures).toEqual([]);
    });

    it('only those that are selected', async () => {
      const { management, view } = world().store();
      await die('a', 'unrecoverable');
      await die('b', 'dead-lettered', 'other');
      await die('c', 'unrecoverable', 'other');
      expect(await management.purgeDead({ names: ['other'], reason: 'unrecoverable' })).toBe(1);
      expect(await management.purgeDead({ limit: 1 })).toBe(1);
      expect(ids(await view.list('dead', 0, 10))).toEqual(['b']);
    });
  });
};
