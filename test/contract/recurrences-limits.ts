import { expect, it } from '@jest/globals';
import { cron, every, recurrence, storeOnTheSecond } from './recurring.js';
import { ids, settlement, type World } from './world.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export const recurrencesLimits = (world: () => World): void => {
  /** The nominal instants of what begins while time goes from one due job to the next; each completes at once. */
  const run = async (most = 20): Promise<number[]> => {
    const { view, recurrences } = world().whole.queue('default');
    const worker = world().worker('w');
    const began: number[] = [];
    while (began.length < most) {
      const { dueAtMs } = await view.nextDue();
      if (dueAtMs === undefined) break;
      world().pass(Math.max(0, dueAtMs - world().now()));
      await recurrences.tend(['r']);
      for (const job of await worker.claim()) {
        began.push(Number(job.id.split('@')[1]));
        await worker.settle(settlement.completeChosen(job));
      }
      await recurrences.tend(['r']);
    }
    return began;
  };

  it('no more occurrences begin than the limit allows, and then the recurrence has ended', async () => {
    const { recurrences, view } = storeOnTheSecond(world());
    const { nextAtMs } = await recurrences.upsert(recurrence(every(1_000, { limit: 3 })));
    expect(await run()).toEqual([nextAtMs, nextAtMs! + 1_000, nextAtMs! + 2_000]);
    expect(await recurrences.get('r')).toMatchObject({
      state: 'ended',
      count: 3,
      nextAtMs: null,
      lastAtMs: nextAtMs! + 2_000,
    });
    expect(await view.stats()).toMatchObject({ scheduled: 3, completed: 3 });
  });

  it('the limit counts across changes of the rule, and a higher one lets it go on', async () => {
    const { recurrences } = storeOnTheSecond(world());
    await recurrences.upsert(recurrence(every(1_000, { limit: 2 })));
    expect(await run()).toHaveLength(2);
    const higher = recurrence(every(1_000, { limit: 5 }));
    expect(await recurrences.upsert(higher)).toEqual({ status: 'changed', nextAtMs: world().now() + 1_000 });
    expect(await run()).toHaveLength(3);
    expect(await recurrences.get('r')).toMatchObject({ state: 'ended', count: 5 });
    expect(await recurrences.upsert(higher)).toEqual({ status: 'unchanged', nextAtMs: null });
  });

  it('a limit that is reached already ends it at once, and takes the armed occurrence away', async () => {
    const { recurrences, view } = storeOnTheSecond(world());
    await recurrences.upsert(recurrence(every(1_000)));
    expect(await run(3)).toHaveLength(3);
    const lower = recurrence(every(1_000, { limit: 2 }));
    expect(await recurrences.upsert(lower)).toEqual({ status: 'changed', nextAtMs: null });
    expect(await recurrences.get('r')).toMatchObject({ state: 'ended', count: 3 });
    expect(await view.counts()).toMatchObject({ scheduled: 0, due: 0 });
  });

  it('what is run now or filled in counts for no limit', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const { nextAtMs } = await recurrences.upsert(recurrence(every(3_600_000, { limit: 1 })));
    await recurrences.runNow('r');
    expect(await recurrences.backfill('r', [nextAtMs! - 7_200_000])).toBe(1);
    const worker = world().worker('w');
    expect(await worker.claim()).toHaveLength(2);
    expect(await recurrences.get('r')).toMatchObject({ state: 'active', count: 0, nextAtMs, lastAtMs: null });
  });

  it('occurrences that are left out or cancelled count for no limit', async () => {
    const { recurrences, jobs } = storeOnTheSecond(world());
    const { nextAtMs } = await recurrences.upsert(recurrence(every(1_000, { limit: 2, onMissed: 'skip' })));
    await jobs.cancel(`r@${nextAtMs}`);
    world().pass(5_500);
    await recurrences.tend(['r']);
    expect((await world().worker('w').turn({ limit: 5 })).claimed).toEqual([]);
    expect(await recurrences.get('r')).toMatchObject({ state: 'active', count: 0 });
    expect(await run()).toHaveLength(2);
  });

  it('one that has ended is listed for a day, can be run now, and then no more', async () => {
    const { recurrences } = storeOnTheSecond(world());
    await recurrences.upsert(recurrence(every(1_000, { limit: 1 })));
    await run();
    expect(await recurrences.pause('r')).toBe(false);
    expect(await recurrences.resume('r')).toBe(false);
    world().pass(DAY_MS - 1);
    await recurrences.tend(['r']);
    expect(await recurrences.list(0, 10)).toMatchObject([{ id: 'r', state: 'ended' }]);
    expect(await recurrences.runNow('r')).toMatchObject({ name: 'work', dueAtMs: world().now() });
    world().pass(1);
    await recurrences.tend(['r']);
    expect(await recurrences.list(0, 10)).toEqual([]);
    expect(await recurrences.get('r')).toBeUndefined();
    expect(await recurrences.runNow('r')).toBeUndefined();
    expect(await recurrences.backfill('r', [world().now() - 1_000])).toBeUndefined();
  });

  it('one that has ended by its limit does not begin anew, however long ago, until it is changed or removed', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const given = recurrence(every(1_000, { limit: 2 }));
    await recurrences.upsert(given);
    expect(await run()).toHaveLength(2);
    world().pass(3 * DAY_MS);
    await recurrences.tend(['r']);
    expect(await recurrences.upsert(given)).toEqual({ status: 'unchanged', nextAtMs: null });
    expect(await run()).toEqual([]);
    expect(await recurrences.get('r')).toBeUndefined();
    expect(await recurrences.upsert(recurrence(every(1_000, { limit: 3 })))).toMatchObject({ status: 'changed' });
    expect(await recurrences.get('r')).toMatchObject({ state: 'active', count: 2 });
    expect(await run()).toHaveLength(1);
    world().pass(3 * DAY_MS);
    await recurrences.tend(['r']);
    expect(await recurrences.remove('r')).toBe('removed');
    expect(await recurrences.remove('r')).toBe('unknown');
    expect(await recurrences.upsert(given)).toMatchObject({ status: 'created' });
  });

  it('one that has ended by its end is forgotten after a day', async () => {
    const { recurrences } = storeOnTheSecond(world());
    await recurrences.upsert(recurrence(every(1_000, { limit: 9, endAtMs: world().now() + 1_000 })));
    await run();
    world().pass(DAY_MS);
    await recurrences.tend(['r']);
    expect(await recurrences.remove('r')).toBe('unknown');
  });

  it('no occurrence is before the start, and one may be at it', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const startAtMs = world().now() + 10_000;
    await recurrences.upsert(recurrence(every(1_000, { startAtMs })));
    expect((await recurrences.get('r'))?.nextAtMs).toBe(startAtMs);
    await recurrences.upsert(recurrence(every(1_000, { startAtMs: startAtMs + 1 })));
    expect((await recurrences.get('r'))?.nextAtMs).toBe(startAtMs + 1_000);
  });

  it('a start in the past makes up for nothing', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const { nextAtMs } = await recurrences.upsert(
      recurrence(every(1_000, { startAtMs: world().now() - DAY_MS, onMissed: 'all' })),
    );
    expect(nextAtMs).toBe(world().now() + 1_000);
  });

  it('an occurrence may be at the end, none is after it, and then the recurrence has ended', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const endAtMs = world().now() + 2_000;
    await recurrences.upsert(recurrence(every(1_000, { endAtMs })));
    expect(await run()).toEqual([endAtMs - 1_000, endAtMs]);
    expect(await recurrences.get('r')).toMatchObject({ state: 'ended', nextAtMs: null, lastAtMs: endAtMs });
  });

  it('a later end lets it go on', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const endAtMs = world().now() + 2_000;
    await recurrences.upsert(recurrence(every(1_000, { endAtMs })));
    await run();
    await recurrences.upsert(recurrence(every(1_000, { endAtMs: endAtMs + 2_000 })));
    expect(await recurrences.get('r')).toMatchObject({ state: 'active', nextAtMs: endAtMs + 1_000, count: 2 });
    expect(await run()).toEqual([endAtMs + 1_000, endAtMs + 2_000]);
  });

  it('an end that is over by now is no error: there is nothing to come', async () => {
    const { recurrences, view } = storeOnTheSecond(world());
    const rule = every(1_000, { endAtMs: world().now() });
    expect(await recurrences.upsert(recurrence(rule))).toEqual({ status: 'created', nextAtMs: null });
    expect(await recurrences.get('r')).toMatchObject({ state: 'ended', lastAtMs: null });
    expect(await view.stats()).toEqual({});
  });

  it('an instant that has begun is not armed again, though it was moved to before its time', async () => {
    const { recurrences, jobs } = storeOnTheSecond(world());
    const { nextAtMs } = await recurrences.upsert(recurrence(every(60_000)));
    await jobs.reschedule(`r@${nextAtMs}`, { delayMs: 0 });
    const worker = world().worker('w');
    await worker.settle(settlement.complete((await worker.claim())[0]!));
    await recurrences.pause('r');
    await recurrences.resume('r');
    expect(await recurrences.get('r')).toMatchObject({ lastAtMs: nextAtMs, nextAtMs: nextAtMs! + 60_000 });
  });

  it('multiples are counted from the epoch and the offset, whenever the recurrence was made', async () => {
    const { recurrences } = storeOnTheSecond(world());
    world().pass(123);
    const { nextAtMs } = await recurrences.upsert(recurrence(every(7_000, { offsetMs: 2_500 })));
    expect(nextAtMs! % 7_000).toBe(2_500);
    expect(nextAtMs! - world().now()).toBeGreaterThan(0);
    expect(nextAtMs! - world().now()).toBeLessThanOrEqual(7_000);
    expect(await run(3)).toEqual([nextAtMs, nextAtMs! + 7_000, nextAtMs! + 14_000]);
  });

  it('an occurrence comes strictly after the call that makes it', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const { nextAtMs } = await recurrences.upsert(recurrence(every(1_000)));
    expect(nextAtMs).toBe(world().now() + 1_000);
  });

  it('excluded instants and ranges are left out without a trace', async () => {
    const { recurrences, view } = storeOnTheSecond(world());
    const fromMs = world().now() + 1_000;
    const exclude = [fromMs, { from: fromMs + 2_000, to: fromMs + 4_000 }];
    await recurrences.upsert(recurrence(every(1_000, { exclude })));
    expect(await run(3)).toEqual([fromMs + 1_000, fromMs + 4_000, fromMs + 5_000]);
    expect(await view.stats()).toMatchObject({ started: 3, completed: 3 });
    expect((await view.stats()).discarded ?? 0).toBe(0);
  });

  it('excluded days are days of the rule, in its zone', async () => {
    const { recurrences } = storeOnTheSecond(world());
    // Noon in Tokyo, which has no daylight saving, is 03:00 UTC of the same day.
    const noonOf = (days: number) => Math.ceil((world().now() - 3 * HOUR_MS) / DAY_MS + days) * DAY_MS + 3 * HOUR_MS;
    const day = (atMs: number) => new Date(atMs).toISOString().slice(0, 10);
    const noons = [0, 1, 2, 3, 4].map(noonOf);
    const rule = cron('0 12 * * *', { timeZone: 'Asia/Tokyo', exclude: [day(noons[1]!), day(noons[3]!)] });
    const { nextAtMs } = await recurrences.upsert(recurrence(rule));
    expect(nextAtMs).toBe(noons[0]);
    expect(await run(3)).toEqual([noons[0], noons[2], noons[4]]);
  });

  it('a rule by the wall clock follows it', async () => {
    const { recurrences } = storeOnTheSecond(world());
    const { nextAtMs } = await recurrences.upsert(recurrence(cron('*/15 9 * * *')));
    const nineMs = Date.UTC(2027, 0, 1, 9);
    expect(nextAtMs).toBeGreaterThan(nineMs);
    const began = await run(9);
    expect(began[0]).toBe(nextAtMs);
    for (const atMs of began) expect((atMs - nineMs) % DAY_MS).toBeLessThan(3_600_000);
    expect(new Set(began).size).toBe(9);
  });

  it('recurrences are listed by id, in pages', async () => {
    const { recurrences } = storeOnTheSecond(world());
    for (const id of ['b', 'a', 'd', 'c']) await recurrences.upsert(recurrence(every(1_000), { id }));
    expect(ids(await recurrences.list(0, 10))).toEqual(['a', 'b', 'c', 'd']);
    expect(ids(await recurrences.list(1, 2))).toEqual(['b', 'c']);
    expect(await recurrences.list(4, 2)).toEqual([]);
  });
};
