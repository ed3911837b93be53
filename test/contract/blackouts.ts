import { describe, expect, it } from '@jest/globals';
import type { BlackoutRule } from '../../lib/core/blackouts/blackout.js';
import { ids, settlement, type TestSession, type World } from './world.js';

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export const blackouts = (world: () => World): void => {
  /** From so many ms from now on, until so many ms from now. */
  const range = (fromMs: number, toMs: number): BlackoutRule => ({
    fromMs: world().now() + fromMs,
    toMs: world().now() + toMs,
  });

  /** The next instant at which it is so late in UTC. */
  const nextAt = (hour: number) => {
    const midnight = Math.floor(world().now() / DAY) * DAY;
    const atMs = midnight + hour * HOUR;
    return atMs > world().now() ? atMs : atMs + DAY;
  };
  const passTo = (atMs: number) => world().pass(atMs - world().now());
  const everyDay = (hour: number, durationMs: number): BlackoutRule => ({
    cron: `0 ${hour} * * *`,
    timeZone: 'UTC',
    durationMs,
  });

  /** A worker that sleeps because of the blackout that is on. */
  const asleep = async (id = 'w'): Promise<TestSession> => {
    const worker = await world().worker(id).listens();
    await worker.sleeps();
    return worker;
  };

  describe('a blackout', () => {
    it('lets nothing be claimed from its first millisecond on, and whatever is due from its end on', async () => {
      const { management } = world().store({ leaseMs: HOUR });
      await world().scheduleAll([{}, {}, {}]);
      await management.setBlackouts([range(SECOND, 3 * SECOND)]);
      const worker = world().worker('w');
      world().pass(999);
      expect(await worker.claim(1)).toHaveLength(1);
      world().pass(1);
      expect(await worker.claim(1)).toEqual([]);
      world().pass(1_999);
      expect(await worker.claim(1)).toEqual([]);
      world().pass(1);
      expect(await worker.claim()).toHaveLength(2);
    });

    it('settles what runs, and gives nothing back to it: no retry, no snoozed, no replaced job', async () => {
      const { management, view } = world().store({ leaseMs: HOUR });
      await world().scheduleAll([{}, {}, {}, { id: 'r' }]);
      const worker = world().worker('w');
      const [a, b, c, d] = await worker.claim();
      await world().replace({ id: d!.id });
      await management.setBlackouts([range(0, SECOND)]);
      const settlements = [settlement.complete(a!), settlement.retry(b!), settlement.snooze(c!, 0)];
      const answer = await worker.turn({ settlements: [...settlements, settlement.complete(d!)], limit: 9 });
      expect(answer).toMatchObject({ settled: ['counted', 'counted', 'counted', 'replaced'], claimed: [] });
      expect(await view.counts()).toMatchObject({ due: 3, active: 0 });
      world().pass(SECOND);
      expect(await worker.claim()).toHaveLength(3);
    });

    it('gives recovered jobs to nobody', async () => {
      const { management } = world().store({ leaseMs: 3 * SECOND });
      await world().schedule();
      await world().worker('dies').claim();
      await management.setBlackouts([range(0, HOUR)]);
      const living = world().worker('living');
      const answers = await world().serve(3 * SECOND + 1, living);
      expect(answers.flatMap(({ recovered }) => recovered)).toHaveLength(1);
      expect(await living.claim()).toEqual([]);
    });

    it('gives nothing to a pop, and suspects to nobody', async () => {
      const { management } = world().store({ leaseMs: 3 * SECOND, maxCrashes: 2 });
      await world().schedule();
      await world().crash(1);
      await management.setBlackouts([range(0, HOUR)]);
      expect(await world().puller('p').claim()).toEqual([]);
      expect(await world().worker('w').claim()).toEqual([]);
    });

    it('moves no job that somebody makes due now', async () => {
      const { management, jobs } = world().store();
      const { id } = await world().schedule({ due: { delayMs: HOUR } });
      await management.setBlackouts([range(0, SECOND)]);
      expect(await jobs.reschedule(id, { delayMs: 0 })).toBe(true);
      expect(await world().worker('w').claim()).toEqual([]);
      world().pass(SECOND);
      expect(ids(await world().worker('w').claim())).toEqual([id]);
    });

    it('lets a worker sleep until its end, and not look before', async () => {
      const { management } = world().store({ leaseMs: HOUR });
      await world().schedule();
      await management.setBlackouts([range(0, 3 * SECOND)]);
      const worker = world().worker('w');
      expect((await worker.turn({ limit: 5 })).sleepMs).toBe(3 * SECOND);
      world().pass(SECOND);
      await world().schedule();
      expect((await worker.turn({ limit: 5 })).sleepMs).toBe(2 * SECOND);
    });

    it('lets a worker sleep until a job is due that is due after its end', async () => {
      const { management } = world().store({ leaseMs: HOUR });
      await world().schedule({ due: { delayMs: 5 * SECOND } });
      await management.setBlackouts([range(0, 3 * SECOND)]);
      expect((await world().worker('w').turn({ limit: 5 })).sleepMs).toBe(5 * SECOND);
    });

    it('that is still to come keeps nobody from sleeping as long as ever', async () => {
      const { management } = world().store({ leaseMs: HOUR, maxSleepMs: 4 * SECOND });
      await management.setBlackouts([range(SECOND, 2 * SECOND)]);
      expect((await world().worker('w').turn({ limit: 5 })).sleepMs).toBe(4 * SECOND);
    });

    it('and a pause together hold until the later of the two is over', async () => {
      const { management } = world().store({ leaseMs: HOUR });
      await world().schedule();
      await management.setBlackouts([range(0, 3 * SECOND)]);
      const worker = world().worker('w');
      await management.pause(5 * SECOND);
      expect((await worker.turn({ limit: 5 })).sleepMs).toBe(5 * SECOND);
      await management.pause(SECOND);
      expect((await worker.turn({ limit: 5 })).sleepMs).toBe(3 * SECOND);
      await management.resume();
      expect(await worker.claim()).toEqual([]);
      world().pass(3 * SECOND);
      expect(await worker.claim()).toHaveLength(1);
    });

    it('follows on another without anybody having looked in between', async () => {
      const { management } = world().store({ leaseMs: HOUR });
      await world().scheduleAll([{}, {}]);
      await management.setBlackouts([range(0, SECOND), range(2 * SECOND, 3 * SECOND), range(5 * SECOND, 6 * SECOND)]);
      const worker = world().worker('w');
      world().pass(2_500);
      expect((await worker.turn({ limit: 5 })).sleepMs).toBe(500);
      world().pass(500);
      expect(await worker.claim(1)).toHaveLength(1);
      world().pass(2 * SECOND);
      expect(await worker.claim(1)).toEqual([]);
      world().pass(SECOND);
      expect(await worker.claim(1)).toHaveLength(1);
    });

    it('and one that touches or overlaps it are one, which nobody wakes up in', async () => {
      const { management } = world().store({ leaseMs: HOUR, maxSleepMs: HOUR });
      await world().schedule();
      await management.setBlackouts([range(4_000, 9_000), range(0, 2_000), range(1_000, 4_000), range(500, 600)]);
      expect((await world().worker('w').turn({ limit: 5 })).sleepMs).toBe(9_000);
    });

    it('is told with its end, and no longer once it is over for good', async () => {
      const { management, view } = world().store();
      const [now, later] = [range(0, SECOND), range(5 * SECOND, 6 * SECOND)];
      expect(await view.blackouts()).toEqual({ rules: [], untilMs: undefined });
      await management.setBlackouts([later, now]);
      expect(await view.blackouts()).toEqual({ rules: [later, now], untilMs: world().now() + SECOND });
      world().pass(SECOND);
      expect(await view.blackouts()).toEqual({ rules: [later], untilMs: undefined });
      world().pass(4 * SECOND);
      expect(await view.blackouts()).toEqual({ rules: [later], untilMs: world().now() + SECOND });
      world().pass(SECOND);
      expect(await view.blackouts()).toEqual({ rules: [], untilMs: undefined });
    });
  });

  describe('a blackout that a clock that went ahead has seen over', () => {
    const worked = async (rules: BlackoutRule[], setsThen = false) => {
      const { management } = world().store({ leaseMs: HOUR });
      await world().schedule();
      await management.setBlackouts(rules);
      world().pass(20 * HOUR);
      const worker = world().worker('w');
      expect(await worker.claim(1)).toHaveLength(1);
      if (setsThen) await management.setBlackouts(rules);
      world().jump(-20 * HOUR);
      return worker;
    };
    const cases = [
      ['the only one', () => [range(HOUR, 2 * HOUR)]],
      ['one before others', () => [range(HOUR, 2 * HOUR), range(5 * HOUR, 6 * HOUR), range(22 * HOUR, DAY)]],
    ] as const;

    it.each(cases)('is on nevertheless when its time comes: %s', async (_, rules) => {
      for (const setsThen of [false, true]) {
        const worker = await worked(rules(), setsThen);
        await world().schedule();
        world().pass(HOUR);
        const { view } = world().queue;
        expect(await worker.claim(1)).toEqual([]);
        expect((await view.blackouts()).untilMs).toBe(world().now() + HOUR);
        world().pass(HOUR);
        expect(await worker.claim(1)).toHaveLength(1);
      }
    });

    it('is on nevertheless where it comes again each day', async () => {
      passTo(nextAt(9));
      const begins = nextAt(13);
      const worker = await worked([everyDay(13, HOUR)], true);
      await world().schedule();
      passTo(begins);
      expect(await worker.claim(1)).toEqual([]);
      world().pass(HOUR);
      expect(await worker.claim(1)).toHaveLength(1);
    });
  });

  describe('a list of blackouts', () => {
    it('takes the place of the one before, and an empty one ends them all', async () => {
      const { management, view } = world().store();
      await world().schedule();
      await management.setBlackouts([range(0, HOUR), everyDay(3, HOUR)]);
      const other = [range(HOUR, 2 * HOUR)];
      await management.setBlackouts(other);
      expect(await view.blackouts()).toEqual({ rules: other, untilMs: undefined });
      expect(await world().worker('w').claim()).toHaveLength(1);
      await management.setBlackouts([]);
      expect(await view.blackouts()).toEqual({ rules: [], untilMs: undefined });
    });

    it('that ends the one that is on tells who sleeps', async () => {
      const { management } = world().store({ leaseMs: HOUR });
      await world().schedule();
      await management.setBlackouts([range(0, HOUR)]);
      const worker = await asleep();
      await management.setBlackouts([range(HOUR, 2 * HOUR)]);
      expect(await worker.isTold()).toBeLessThan(100);
      expect(await worker.claim()).toHaveLength(1);
    });

    it('that ends it tells the worker that a due job prefers as well, whoever sleeps before that one', async () => {
      const { management } = world().store({ leaseMs: HOUR });
      await management.setBlackouts([range(0, HOUR)]);
      await world().schedule({ worker: 'z' });
      const workers = [await asleep('a'), await asleep('b'), await asleep('z')];
      await management.setBlackouts([]);
      expect(await workers[2]!.isTold()).toBeLessThan(100);
    });

    it('that ends it earlier tells who sleeps of that end', async () => {
      const { management } = world().store({ leaseMs: HOUR });
      await world().schedule();
      await management.setBlackouts([range(0, HOUR)]);
      const worker = await asleep();
      await management.setBlackouts([range(0, SECOND)]);
      expect(await worker.isTold()).toBeGreaterThan(900);
    });

    it('that lets it last longer wakes nobody', async () => {
      const { management } = world().store({ leaseMs: HOUR });
      await world().schedule();
      await management.setBlackouts([range(0, SECOND)]);
      const worker = await asleep();
      await management.setBlackouts([range(0, HOUR)]);
      world().pass(SECOND);
      expect(await worker.claim()).toEqual([]);
      expect(worker.told).toEqual([]);
    });

    it('may name what is over', async () => {
      const { management, view } = world().store();
      await world().schedule();
      await management.setBlackouts([range(-2 * HOUR, -HOUR), range(-HOUR, 0)]);
      expect(await view.blackouts()).toEqual({ rules: [], untilMs: undefined });
      expect(await world().worker('w').claim()).toHaveLength(1);
    });
  });

  describe('a blackout that comes again and again', () => {
    it('lets nothing be claimed from each of its instants on, for as long as it lasts', async () => {
      const { management, view } = world().store({ leaseMs: DAY });
      await world().scheduleAll([{}, {}, {}]);
      const rules = [everyDay(22, 8 * HOUR)];
      await management.setBlackouts(rules);
      const worker = world().worker('w');
      for (let day = 0; day < 3; day++) {
        passTo(nextAt(22));
        expect(await worker.claim(1)).toEqual([]);
        expect(await view.blackouts()).toEqual({ rules, untilMs: world().now() + 8 * HOUR });
        world().pass(8 * HOUR - 1);
        expect(await worker.claim(1)).toEqual([]);
        world().pass(1);
        expect(await worker.claim(1)).toHaveLength(1);
      }
    });

    it('is on at once where it began before it was set', async () => {
      const { management, view } = world().store();
      passTo(nextAt(23));
      await management.setBlackouts([everyDay(22, 8 * HOUR)]);
      expect((await view.blackouts()).untilMs).toBe(world().now() + 7 * HOUR);
    });

    it('comes for ever where somebody tends it, who is told when to do so', async () => {
      const { management, view } = world().store();
      await world().schedule();
      const rules = [everyDay(22, HOUR)];
      await management.setBlackouts(rules);
      const worker = world().worker('w');
      const nextTending = async () => world().now() + ((await management.tendBlackouts()) ?? Number.POSITIVE_INFINITY);
      let tendAtMs = await nextTending();
      for (let day = 0; day < 120; day++) {
        passTo(nextAt(22));
        expect(await view.blackouts()).toEqual({ rules, untilMs: world().now() + HOUR });
        expect(await worker.claim()).toEqual([]);
        if (world().now() >= tendAtMs) tendAtMs = await nextTending();
      }
      world().pass(HOUR);
      expect(await worker.claim()).toHaveLength(1);
    });

    it('needs no tending where there is none', async () => {
      const { management } = world().store();
      expect(await management.tendBlackouts()).toBeUndefined();
      await management.setBlackouts([range(0, HOUR)]);
      expect(await management.tendBlackouts()).toBeUndefined();
    });
  });
};
