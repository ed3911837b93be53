import { describe, expect, it } from '@jest/globals';
import { ids, settlement, type World } from './world.js';

export const gates = (world: () => World): void => {
  describe('a limit over all processes', () => {
    it('lets so many run at once, whoever claims them', async () => {
      const { view } = world().store({ globalConcurrency: 3 });
      await world().scheduleAll(Array.from({ length: 10 }, () => ({})));
      expect(await world().worker('a').claim(2)).toHaveLength(2);
      expect(await world().worker('b').claim(5)).toHaveLength(1);
      expect(await world().puller('c').claim(5)).toEqual([]);
      expect(await view.limits()).toMatchObject({ running: 3 });
    });

    it('does not make a worker look again and again while all places are taken', async () => {
      world().store({ globalConcurrency: 1, maxSleepMs: 4_000, leaseMs: 60_000 });
      await world().scheduleAll([{}, {}]);
      await world().worker('a').claim();
      expect((await world().worker('b').turn({ limit: 5 })).sleepMs).toBe(4_000);
    });

    it.each(['complete', 'retry', 'discard', 'release', 'cancel', 'dead'] as const)(
      'what a turn ends by %s makes room in that turn',
      async (how) => {
        world().store({ globalConcurrency: 1 });
        await world().scheduleAll([{}, {}]);
        const worker = world().worker('w');
        const [job] = await worker.claim();
        const end = how === 'retry' ? settlement.retry(job!, 1_000) : settlement[how](job!);
        expect((await worker.turn({ settlements: [end], limit: 5 })).claimed).toHaveLength(1);
      },
    );

    it('has the places of a dead worker back when its leases have run out', async () => {
      world().store({ globalConcurrency: 2 });
      await world().scheduleAll([{}, {}, {}]);
      await world().worker('dies').claim();
      expect(await world().worker('w').claim()).toEqual([]);
      await world().outlive();
      expect(await world().worker('w').claim()).toHaveLength(2);
    });

    it('who makes room in a queue that was full tells a sleeper of another crew', async () => {
      world().store({ globalConcurrency: 1, leaseMs: 60_000 });
      await world().schedule();
      const ends = world().worker('a');
      const [job] = await ends.claim();
      await world().schedule({ name: 'other' });
      const sleeper = await world().worker('b', 'other').listens();
      await sleeper.sleeps();
      await ends.settle(settlement.complete(job!));
      expect(await sleeper.isTold()).toBeLessThan(100);
      expect(await sleeper.claim()).toHaveLength(1);
    });
  });

  describe('a rate', () => {
    it('lets so many begin within a window, whoever claims them, and drops none', async () => {
      const { view } = world().store({ rateLimit: { max: 3, perMs: 10_000 }, leaseMs: 3_600_000 });
      await world().scheduleAll(Array.from({ length: 7 }, () => ({})));
      const claimed: number[] = [];
      for (let i = 0; i < 4; i++) {
        claimed.push(
          (
            await world()
              .worker(`w${i % 2}`)
              .turn({ limit: 2 })
          ).claimed.length,
        );
        claimed.push((await world().puller('p').turn({ limit: 2 })).claimed.length);
        world().pass(10_100);
      }
      expect(claimed).toEqual([2, 1, 2, 1, 1, 0, 0, 0]);
      expect((await view.stats()).started).toBe(7);
    });

    it('counts a start for a window that is 2 % longer than said, and no millisecond less', async () => {
      world().store({ rateLimit: { max: 1, perMs: 1_000 } });
      await world().scheduleAll([{}, {}]);
      const worker = world().worker('w');
      await worker.claim();
      world().pass(1_019);
      expect(await worker.claim()).toEqual([]);
      world().pass(1);
      expect(await worker.claim()).toHaveLength(1);
    });

    it('is a window that slides: what started later leaves it later', async () => {
      world().store({ rateLimit: { max: 2, perMs: 1_000 } });
      await world().scheduleAll([{}, {}, {}, {}]);
      const worker = world().worker('w');
      await worker.claim(1);
      world().pass(600);
      await worker.claim(1);
      world().pass(420);
      expect(await worker.claim(5)).toHaveLength(1);
      world().pass(599);
      expect(await worker.claim(5)).toEqual([]);
      world().pass(1);
      expect(await worker.claim(5)).toHaveLength(1);
    });

    it('tells a worker when the next may begin', async () => {
      const { view } = world().store({ rateLimit: { max: 1, perMs: 1_000 }, leaseMs: 60_000 });
      await world().scheduleAll([{}, {}]);
      const worker = world().worker('w');
      await worker.claim(1);
      world().pass(100);
      expect((await worker.turn({ limit: 5 })).sleepMs).toBe(920);
      expect(await view.limits()).toEqual({
        nowMs: world().now(),
        running: 1,
        started: 1,
        opensAtMs: world().now() + 920,
      });
    });

    it('counts what goes back', async () => {
      world().store({ rateLimit: { max: 1, perMs: 1_000 } });
      await world().schedule();
      const worker = world().worker('w');
      await worker.settle(settlement.release((await worker.claim())[0]!));
      expect(await worker.claim()).toEqual([]);
    });

    it('tells that nothing has started where nothing has', async () => {
      const { view } = world().store({ rateLimit: { max: 1, perMs: 1_000 } });
      expect(await view.limits()).toEqual({
        nowMs: world().now(),
        running: 0,
        started: 0,
        opensAtMs: world().now() + 1_020,
      });
    });
  });

  describe('a pause', () => {
    it('lets nothing be claimed, and settles what runs', async () => {
      const { management, view } = world().store();
      await world().scheduleAll([{}, {}]);
      const worker = world().worker('w');
      const [job] = await worker.claim(1);
      await management.pause();
      expect(await view.pausedUntil()).toBe(Number.POSITIVE_INFINITY);
      expect(await worker.turn({ settlements: [settlement.complete(job!)], limit: 5 })).toMatchObject({
        settled: ['counted'],
        claimed: [],
      });
    });

    it('ends by itself at its time, which it tells', async () => {
      const { management, view } = world().store({ leaseMs: 60_000 });
      await world().schedule();
      await management.pause(3_000);
      const worker = world().worker('w');
      expect(await worker.turn({ limit: 5 })).toMatchObject({ claimed: [], sleepMs: 3_000 });
      expect(await view.pausedUntil()).toBe(world().now() + 3_000);
      world().pass(2_999);
      expect(await worker.claim()).toEqual([]);
      world().pass(1);
      expect(await view.pausedUntil()).toBeUndefined();
      expect(await worker.claim()).toHaveLength(1);
    });

    it('the later of two calls holds, whichever ends first', async () => {
      const { management, view } = world().store();
      await management.pause();
      await management.pause(1_000);
      expect(await view.pausedUntil()).toBe(world().now() + 1_000);
    });

    it('resume ends it, and tells who sleeps', async () => {
      const { management, view } = world().store({ leaseMs: 60_000 });
      await world().schedule();
      const worker = await world().worker('w').listens();
      await management.pause();
      await worker.sleeps();
      await management.resume();
      expect(await worker.isTold()).toBeLessThan(100);
      expect(await view.pausedUntil()).toBeUndefined();
      expect(await worker.claim()).toHaveLength(1);
    });

    it('resume tells the worker that a due job prefers as well, whoever sleeps before that one', async () => {
      const { management } = world().store({ leaseMs: 60_000 });
      await world().schedule({ worker: 'z' });
      const workers = await Promise.all(['a', 'b', 'z'].map((id) => world().worker(id).listens()));
      await management.pause();
      for (const worker of workers) await worker.sleeps();
      await management.resume();
      expect(await workers[2]!.isTold()).toBeLessThan(100);
    });

    it('who sleeps because of a longer one is told of the end of a shorter one', async () => {
      const { management } = world().store({ leaseMs: 60_000 });
      await world().schedule();
      const worker = await world().worker('w').listens();
      await management.pause();
      await worker.sleeps();
      await management.pause(1_000);
      expect(await worker.isTold()).toBeGreaterThan(900);
    });

    it('resume where nothing is paused does nothing', async () => {
      const { management } = world().store();
      await world().schedule();
      await management.resume();
      expect(ids(await world().worker('w').claim())).toHaveLength(1);
    });

    it('lets jobs be scheduled, cancelled and moved meanwhile', async () => {
      const { management, jobs, view } = world().store();
      await management.pause();
      const [a, b] = await world().scheduleAll([{}, {}]);
      expect(await jobs.cancel(a!.id)).toBe(true);
      expect(await jobs.reschedule(b!.id, { delayMs: 5 })).toBe(true);
      expect(await view.counts()).toMatchObject({ scheduled: 1, due: 0 });
    });
  });
};
