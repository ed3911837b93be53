import { describe, expect, it } from '@jest/globals';
import { ids, settlement, type World } from './world.js';

export const suspects = (world: () => World): void => {
  const open = (options = {}) => world().store({ leaseMs: 60_000, maxCrashes: 3, ...options });

  /** Schedules so many jobs, and lets workers die with all of them together until each has one crash left. */
  const makeSuspects = async (count: number): Promise<string[]> => {
    const made = ids(await world().scheduleAll(Array.from({ length: count }, () => ({}))));
    for (const name of ['dies', 'dies-too']) {
      expect((await world().worker(name).turn({ limit: count })).claimed).toHaveLength(count);
      await world().outlive();
    }
    return made;
  };
  /** A worker that is there. */
  const here = async (id: string) => {
    const worker = world().worker(id);
    await worker.turn();
    return worker;
  };
  /** The only workers that are there. */
  const fleetOf = async (...names: string[]) => {
    await world().worker('living', 'nothing').turn({ isLast: true });
    for (const id of names) await here(id);
  };
  const takes = async (id: string) => (await world().worker(id).turn({ limit: 1, suspects: 'take' })).suspect;

  describe('a job with one crash left', () => {
    it('is not seen by a turn that asks for no suspects', async () => {
      open();
      await makeSuspects(2);
      const { id } = await world().schedule();
      expect(ids((await world().worker('w').turn({ limit: 10 })).claimed)).toEqual([id]);
    });

    it('is claimed alone by a process that holds nothing', async () => {
      open();
      await makeSuspects(2);
      await world().schedule();
      const answer = await world().worker('w').turn({ limit: 10, suspects: 'take' });
      expect(answer.claimed).toMatchObject([{ attempt: 3, crashes: 2 }]);
      expect(answer).toMatchObject({ suspect: 'taken', sleepMs: undefined });
    });

    it('is told of to a turn whose process holds something, and to no other', async () => {
      open();
      await fleetOf('a', 'b');
      const a = world().worker('a');
      const told = async (turn: object) => (await a.turn({ limit: 1, ...turn })).suspect;
      expect([await told({ suspects: '' }), await told({ suspects: 'reserve' })]).toEqual([undefined, undefined]);
      await makeSuspects(2);
      expect(await takes('b')).toBe('taken');
      expect([await told({ suspects: '' }), await told({ suspects: 'reserve' })]).toEqual(['waits', 'waits']);
      expect(await told({ suspects: '', limit: 0 })).toBeUndefined();
      expect(await told({ suspects: 'leave' })).toBeUndefined();
    });

    it('is dead when its process dies with it, and no other job is', async () => {
      const { view } = open();
      const made = await makeSuspects(2);
      const [job] = await world().worker('w').claim();
      await world().outlive();
      expect((await world().job(job!.id))?.state).toBe('dead');
      expect(await view.counts()).toMatchObject({ dead: 1, due: 1 });
      expect(made).toContain(job!.id);
    });

    it('waits alone again after an attempt that failed', async () => {
      open();
      const [id] = await makeSuspects(1);
      const worker = world().worker('w');
      await worker.settle(settlement.retry((await worker.claim())[0]!));
      expect(await world().job(id!)).toMatchObject({ state: 'due', isSuspect: true });
      expect((await worker.turn({ limit: 5 })).claimed).toEqual([]);
      expect(await worker.claim()).toMatchObject([{ id, attempt: 4 }]);
    });

    it('is an ordinary job again once it was replayed', async () => {
      const { management } = open();
      const [id] = await makeSuspects(1);
      const worker = world().worker('w');
      await worker.settle(settlement.dead((await worker.claim())[0]!));
      await management.replayDead(id!, { delayMs: 0 });
      expect(ids((await worker.turn({ limit: 5 })).claimed)).toEqual([id]);
    });

    it('can be counted, listed, moved to another time and cancelled', async () => {
      const { view, jobs } = open();
      const [id] = await makeSuspects(1);
      expect(await view.counts()).toMatchObject({ due: 1 });
      expect(await view.countsByPriority()).toEqual([{ priority: 5, scheduled: 0, due: 1 }]);
      expect(ids(await view.list('due', 0, 5))).toEqual([id]);
      expect(await jobs.reschedule(id!, { delayMs: 60_000 })).toBe(true);
      expect(await view.counts()).toMatchObject({ scheduled: 1, due: 0 });
      expect(await jobs.cancel(id!)).toBe(true);
      expect(await world().job(id!)).toBeUndefined();
    });

    it('is not claimed before it is due, and tells the worker when that is', async () => {
      const { jobs } = open();
      const [id] = await makeSuspects(1);
      await jobs.reschedule(id!, { delayMs: 3_000 });
      const worker = world().worker('w');
      expect(await worker.turn({ limit: 5, suspects: 'take' })).toMatchObject({ claimed: [], sleepMs: 3_000 });
      world().pass(3_000);
      expect(await worker.claim()).toHaveLength(1);
    });

    it('is left to workers that handle its name', async () => {
      open();
      await makeSuspects(1);
      const other = await world().worker('o', 'other').turn({ limit: 5, suspects: 'take' });
      expect(other.suspect).toBeUndefined();
      expect(other.claimed).toEqual([]);
    });

    it('is left alone by a handler that is full', async () => {
      open();
      await makeSuspects(1);
      const answer = await world()
        .worker('w')
        .turn({ limit: 5, suspects: 'take', handlers: [{ name: 'work', weight: 1, free: 0, size: 1 }] });
      expect(answer).toMatchObject({ claimed: [] });
      expect(answer.suspect).toBeUndefined();
    });

    it('the most urgent comes first', async () => {
      open();
      const jobs = await world().scheduleAll([{ priority: 5 }, { priority: 1 }]);
      for (const name of ['dies', 'dies-too']) {
        await world().worker(name).turn({ limit: 2 });
        await world().outlive();
      }
      expect(ids(await world().worker('w').claim())).toEqual([jobs[1]!.id]);
    });

    it('hands its crashes on to the job that is queued behind its run, which is a suspect then', async () => {
      open();
      await world().schedule({ id: 'x' });
      await world().crash(1);
      await world().worker('dies').claim();
      await world().replace({ id: 'x', payload: 'new' });
      await world().outlive();
      expect(await world().job('x')).toMatchObject({ crashes: 2, isSuspect: true, envelope: { payload: 'new' } });
    });

    it('is no suspect where a job may crash once only', async () => {
      open({ maxCrashes: 1 });
      const { id } = await world().schedule();
      expect((await world().job(id))?.isSuspect).toBe(false);
      expect(await world().worker('w').turn({ limit: 5 })).toMatchObject({ claimed: [{ id }] });
    });

    it('prefers no worker any more', async () => {
      open({ stealAfterMs: 600_000 });
      await world().schedule({ id: 'x', worker: 'away' });
      for (const name of ['dies', 'dies-too']) {
        await world().worker(name).turn({ limit: 1 });
        await world().outlive();
      }
      await here('away');
      expect(ids(await world().worker('w').claim())).toEqual(['x']);
    });

    it('is turned away where it is too late, and the process stays reserved', async () => {
      open();
      await world().schedule({ id: 'x', lateness: { maxLatenessMs: 400_000, onLate: 'dead-letter' } });
      for (const name of ['dies', 'dies-too']) {
        await world().worker(name).turn({ limit: 1 });
        await world().outlive();
      }
      world().pass(400_000);
      const answer = await world().worker('w').turn({ limit: 1, suspects: 'take' });
      expect(answer).toMatchObject({ claimed: [], suspect: 'reserved', late: [{ id: 'x', attempt: 2 }] });
    });
  });

  describe('a process that holds jobs', () => {
    it('reserves itself, claims nothing else meanwhile, and claims the suspect once it is empty', async () => {
      open();
      await world().schedule();
      const worker = world().worker('w');
      const [held] = await worker.claim();
      const [id] = await (async () => {
        const made = await world().scheduleAll([{ id: 's' }]);
        for (const name of ['dies', 'dies-too']) {
          await world().worker(name).turn({ limit: 1 });
          for (let i = 0; i < 4; i++) {
            world().pass(20_000);
            await worker.turn({ renewals: [held!] });
          }
        }
        return ids(made);
      })();
      await world().schedule();
      expect(await worker.turn({ limit: 5, suspects: 'reserve' })).toMatchObject({
        claimed: [],
        suspect: 'reserved',
        sleepMs: undefined,
      });
      expect((await worker.turn({ limit: 5, suspects: 'keep', renewals: [held!] })).claimed).toEqual([]);
      const answer = await worker.turn({ settlements: [settlement.complete(held!)], limit: 5, suspects: 'claim' });
      expect(answer).toMatchObject({ claimed: [{ id }], suspect: 'taken' });
    });

    it('is reserved no longer where the suspect has gone, and claims others in the same turn', async () => {
      const { jobs } = open();
      const [id] = await makeSuspects(1);
      const { id: other } = await world().schedule();
      const worker = world().worker('w');
      expect((await worker.turn({ limit: 5, suspects: 'reserve' })).suspect).toBe('reserved');
      await jobs.cancel(id!);
      const answer = await worker.turn({ limit: 5, suspects: 'claim' });
      expect(ids(answer.claimed)).toEqual([other]);
      expect(answer.suspect).toBeUndefined();
    });

    it('gives the reservation up, and claims others in the same turn; another process may take the suspect', async () => {
      open();
      const [id] = await makeSuspects(1);
      const { id: ordinary } = await world().schedule();
      const [worker, other] = [world().worker('w'), world().worker('v')];
      await worker.turn({ limit: 5, suspects: 'reserve' });
      expect((await other.turn({ limit: 0, suspects: 'take' })).suspect).toBeUndefined();
      const answer = await worker.turn({ limit: 5, suspects: 'leave' });
      expect(answer.suspect).toBeUndefined();
      expect(ids(answer.claimed)).toEqual([ordinary]);
      expect(ids(await other.claim(5))).toEqual([id]);
    });

    it('tells another process of its crew of what it leaves', async () => {
      open();
      const other = await world().worker('v').listens();
      await other.sleeps();
      await makeSuspects(1);
      await other.sleeps();
      await world().worker('w').turn({ limit: 5, suspects: 'reserve' });
      expect(await other.isTold()).toBeLessThan(100);
    });
  });

  describe('how many processes are emptied for suspects', () => {
    const fleet = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const reserves = async (id: string) => (await world().worker(id).turn({ limit: 1, suspects: 'reserve' })).suspect;

    it('is one where fewer than eight work at the queue', async () => {
      open();
      await makeSuspects(4);
      await fleetOf('a', 'b', 'c');
      expect([await reserves('a'), await reserves('b')]).toEqual(['reserved', 'waits']);
    });

    it('is one in four', async () => {
      open();
      await makeSuspects(4);
      await fleetOf(...fleet);
      expect([await reserves('a'), await reserves('b'), await reserves('c')]).toEqual([
        'reserved',
        'reserved',
        'waits',
      ]);
    });

    it('is none more while empty ones run as many suspects', async () => {
      open();
      await makeSuspects(4);
      await fleetOf('a', 'b', 'c', 'd');
      expect(await takes('a')).toBe('taken');
      expect(await reserves('b')).toBe('waits');
    });

    it('is not more than there are suspects due', async () => {
      open();
      await makeSuspects(1);
      await fleetOf(...fleet);
      expect([await reserves('a'), await reserves('b')]).toEqual(['reserved', 'waits']);
    });

    it('does not count a process that has died since it reserved itself', async () => {
      open();
      await makeSuspects(2);
      expect([await reserves('a'), await reserves('b')]).toEqual(['reserved', 'waits']);
      world().pass(60_000);
      expect(await reserves('b')).toBe('reserved');
    });

    it('does not count one whose suspect was moved away before it was empty', async () => {
      const { jobs } = open();
      const [id] = await makeSuspects(1);
      expect(await reserves('a')).toBe('reserved');
      await jobs.reschedule(id!, { delayMs: 1_000 });
      expect((await world().worker('a').turn({ limit: 1, suspects: 'claim' })).suspect).toBeUndefined();
      world().pass(1_000);
      expect(await reserves('b')).toBe('reserved');
    });

    it('does not count one that reserved itself when the clock was ahead', async () => {
      open();
      await makeSuspects(1);
      world().jump(3_600_000);
      expect(await reserves('a')).toBe('reserved');
      world().jump(-3_600_000);
      expect(await reserves('b')).toBe('reserved');
    });
  });

  describe('processes that hold nothing', () => {
    it('take a suspect each, all but one, which is free for other jobs', async () => {
      open();
      await makeSuspects(5);
      await fleetOf('a', 'b', 'c', 'd');
      const outcomes = [];
      for (const id of ['a', 'b', 'c', 'd']) outcomes.push(await takes(id));
      expect(outcomes).toEqual(['taken', 'taken', 'taken', undefined]);
      const { id } = await world().schedule();
      expect(ids(await world().worker('d').claim())).toEqual([id]);
    });

    it('do so beside one that is being emptied, whoever comes first', async () => {
      open();
      await makeSuspects(5);
      await fleetOf('a', 'b', 'c');
      const emptied = world().worker('a');
      expect((await emptied.turn({ limit: 1, suspects: 'reserve' })).suspect).toBe('reserved');
      expect([await takes('b'), await takes('c')]).toEqual(['taken', undefined]);
      expect((await emptied.turn({ limit: 1, suspects: 'claim' })).suspect).toBe('taken');
    });

    it('hand on who is free: the first that has ended its suspect lets another one take one', async () => {
      open();
      await makeSuspects(5);
      await fleetOf('a', 'b', 'c');
      const first = world().worker('a');
      const { claimed } = await first.turn({ limit: 1, suspects: 'take' });
      expect([await takes('b'), await takes('c')]).toEqual(['taken', undefined]);
      await first.turn({ settlements: [settlement.complete(claimed[0]!)], limit: 1, suspects: 'leave' });
      expect([await takes('c'), await takes('a')]).toEqual(['taken', undefined]);
    });

    it('take none where no other is there but those with a suspect, until these have been dead for a lease', async () => {
      open();
      await makeSuspects(4);
      await fleetOf('a', 'b', 'c');
      expect([await takes('a'), await takes('b'), await takes('c')]).toEqual(['taken', 'taken', undefined]);
      world().pass(59_999);
      expect(await takes('c')).toBeUndefined();
      world().pass(1);
      expect(await takes('c')).toBe('taken');
    });

    it('take one as soon as they are there', async () => {
      open();
      await makeSuspects(3);
      await fleetOf('a', 'b');
      expect([await takes('a'), await takes('new'), await takes('b')]).toEqual(['taken', 'taken', undefined]);
    });

    it('count one that has died with its suspect neither as free nor as one of them', async () => {
      open();
      await makeSuspects(3);
      await fleetOf('a');
      const dies = world().worker('a');
      const { claimed } = await dies.turn({ limit: 1, suspects: 'take' });
      world().pass(10_000);
      await dies.turn({ renewals: claimed, suspects: 'keep' });
      world().pass(49_000);
      for (const id of ['b', 'c']) await here(id);
      world().pass(2_000);
      expect([await takes('b'), await takes('c')]).toEqual(['taken', undefined]);
    });

    it('do not count one that has left as free', async () => {
      open();
      await makeSuspects(3);
      await fleetOf('a', 'b', 'c');
      expect(await takes('a')).toBe('taken');
      await world().worker('c').turn({ isLast: true });
      expect(await takes('b')).toBeUndefined();
    });

    it('wait for a place under globalConcurrency in no more processes than would be emptied', async () => {
      open({ globalConcurrency: 4 });
      await makeSuspects(4);
      await world().scheduleAll([{}, {}, {}, {}]);
      await fleetOf('a', 'b', 'c', 'd');
      expect((await world().worker('a').turn({ limit: 4 })).claimed).toHaveLength(4);
      expect([await takes('b'), await takes('c')]).toEqual(['reserved', undefined]);
    });
  });

  it.each(['pause', 'rate'])('no process reserves itself while the gate is shut by a %s', async (how) => {
    const { management } = open(how === 'rate' ? { rateLimit: { max: 2, perMs: 3_600_000 } } : {});
    await makeSuspects(1);
    if (how === 'pause') await management.pause();
    expect((await world().worker('w').turn({ limit: 1, suspects: 'take' })).suspect).toBeUndefined();
  });

  it('while all places are used up, a process reserves itself, and looks again before the place is left to others', async () => {
    open({ globalConcurrency: 2 });
    const [id] = await makeSuspects(1);
    await world().scheduleAll([{}, {}, {}, {}]);
    const busy = world().worker('busy');
    const { claimed } = await busy.turn({ limit: 2 });
    expect(claimed).toHaveLength(2);
    const waiting = world().worker('waiting');
    expect(await waiting.turn({ limit: 10, suspects: 'take' })).toMatchObject({
      suspect: 'reserved',
      claimed: [],
      sleepMs: 100,
    });
    const next = await busy.turn({ settlements: [settlement.complete(claimed[0]!)], limit: 1 });
    expect(next.claimed).toEqual([]);
    expect(await waiting.turn({ limit: 10, suspects: 'claim' })).toMatchObject({ suspect: 'taken', claimed: [{ id }] });
  });
};
