import { describe, expect, it } from '@jest/globals';
import type { Declaration, Declarer } from '../../lib/store/job-store.js';
import { Declaring, ORPHAN_AFTER_MS, passAlive } from './declaring.js';
import { every, recurrence, storeOnTheSecond } from './recurring.js';
import { ids, settlement, type World } from './world.js';

const DAY_MS = 86_400_000;
const OFF: Declaration = { id: 'r', isOff: true };

export const declarations = (world: () => World): void => {
  const store = () => world().whole.queue('default');
  const get = () => store().recurrences.get('r');
  const hourly = every(3_600_000);
  const daily = every(DAY_MS);
  const A = recurrence(hourly);
  const B = recurrence(daily);
  /** Of which declaration the rule is. */
  const everyMs = async () => (await get())?.rule.timing.everyMs;
  const process = (by?: Partial<Declarer>) => new Declaring(world(), by);
  /** One that starts later than all before it. */
  const laterProcess = (by?: Partial<Declarer>) => {
    world().pass(1_000);
    return process(by);
  };

  it('what is declared is armed, and says who declared it', async () => {
    storeOnTheSecond(world());
    expect(await process({ revision: 7 }).declare(A)).toEqual({
      statuses: ['wins'],
      orphans: [],
      startedAtMs: world().now(),
    });
    expect(await get()).toMatchObject({
      state: 'active',
      nextAtMs: expect.any(Number),
      declaredBy: { app: 'shop', revision: 7, startedAtMs: world().now() },
    });
    expect(ids(await store().view.list('scheduled', 0, 10))).toEqual([`r@${(await get())!.nextAtMs}`]);
  });

  it('each declaration has its status, in their order', async () => {
    const { recurrences } = storeOnTheSecond(world());
    await recurrences.upsert(recurrence(hourly, { id: 'upserted' }));
    await process({ revision: 2 }).declare(recurrence(hourly, { id: 'other' }));
    const { statuses } = await process({ revision: 1 }).declare(
      recurrence(daily, { id: 'upserted' }),
      A,
      recurrence(daily, { id: 'other' }),
    );
    expect(statuses).toEqual(['upserted', 'wins', 'loses']);
  });

  it('a process that declares the same again changes nothing', async () => {
    const { view } = storeOnTheSecond(world());
    const declaring = process();
    await declaring.declare(A);
    const before = [await get(), await view.list('scheduled', 0, 10), await view.stats()];
    world().pass(5_000);
    expect(await declaring.declare(A)).toMatchObject({ statuses: ['wins'], orphans: [] });
    expect([await get(), await view.list('scheduled', 0, 10), await view.stats()]).toEqual(before);
  });

  it('a declaration whose payload has its fields in another order is the same one', async () => {
    storeOnTheSecond(world());
    await process({ revision: 2 }).declare(recurrence(hourly, { payload: '{"a":{"b":1,"c":2},"d":[2,1]}' }));
    const older = process({ revision: 1 });
    expect(await older.status(recurrence(hourly, { payload: '{"d":[2,1],"a":{"c":2,"b":1}}' }))).toBe('wins');
    expect(await older.status(recurrence(hourly, { payload: '{"d":[1,2],"a":{"c":2,"b":1}}' }))).toBe('loses');
  });

  it('a process keeps the start that it was told', async () => {
    storeOnTheSecond(world());
    const declaring = process();
    const { startedAtMs } = await declaring.declare(A);
    world().pass(5_000);
    expect((await declaring.declare(A)).startedAtMs).toBe(startedAtMs);
  });

  it('a recurrence that was upserted is left alone', async () => {
    const { recurrences } = storeOnTheSecond(world());
    await recurrences.upsert(A);
    expect(await process({ revision: 9 }).status(B)).toBe('upserted');
    expect(await process({ revision: 9 }).status(OFF)).toBe('upserted');
    expect(await get()).toMatchObject({ rule: hourly, state: 'active' });
    expect((await get())?.declaredBy).toBeUndefined();
  });

  it('a declared recurrence is neither upserted nor removed', async () => {
    const { recurrences } = storeOnTheSecond(world());
    await process().declare(A);
    const before = await get();
    expect(await recurrences.upsert(B)).toMatchObject({ status: 'declared' });
    expect(await recurrences.remove('r')).toBe('declared');
    expect(await get()).toEqual(before);
  });

  /** One that lives on, and declares nothing but what it is told to. */
  const living = async (by?: Partial<Declarer>) => {
    const declaring = process(by);
    await declaring.declare();
    return declaring;
  };

  describe('of processes that declare different rules', () => {
    it('the one that started last wins', async () => {
      storeOnTheSecond(world());
      const first = process();
      expect(await first.status(A)).toBe('wins');
      const second = laterProcess();
      expect(await second.status(B)).toBe('wins');
      expect(await first.status(A)).toBe('loses');
      expect(await everyMs()).toBe(DAY_MS);
    });

    it('of two that start in one millisecond the first keeps it', async () => {
      storeOnTheSecond(world());
      expect(await process().status(A)).toBe('wins');
      expect(await process().status(B)).toBe('loses');
      expect(await everyMs()).toBe(3_600_000);
    });

    it('a higher revision wins, whoever started last', async () => {
      storeOnTheSecond(world());
      const newer = process({ revision: 2 });
      await newer.declare(B);
      const older = laterProcess({ revision: 1 });
      expect(await older.status(A)).toBe('loses');
      expect(await newer.status(B)).toBe('wins');
      expect(await everyMs()).toBe(DAY_MS);
    });

    it('no revision is below any, also one below 0', async () => {
      storeOnTheSecond(world());
      await process({ revision: -5 }).declare(B);
      expect(await laterProcess().status(A)).toBe('loses');
    });

    it('of one revision the one that started last wins', async () => {
      storeOnTheSecond(world());
      const first = process({ revision: 3 });
      await first.declare(A);
      expect(await laterProcess({ revision: 3 }).status(B)).toBe('wins');
      expect(await first.status(A)).toBe('loses');
    });

    it('a process that declares the winner with a higher revision holds it against those between', async () => {
      storeOnTheSecond(world());
      await process({ revision: 1 }).declare(A);
      expect(await laterProcess({ revision: 3 }).status(A)).toBe('wins');
      expect(await laterProcess({ revision: 2 }).status(B)).toBe('loses');
      expect(await get()).toMatchObject({ declaredBy: { revision: 3 } });
    });

    it('two processes of each build settle on one rule', async () => {
      storeOnTheSecond(world());
      const old = [process(), laterProcess()];
      for (const each of old) await each.declare(A);
      const fresh = [laterProcess(), laterProcess()];
      for (const each of fresh) await each.declare(B);
      for (let round = 0; round < 3; round++) {
        world().pass(5_000);
        for (const each of old) expect(await each.status(A)).toBe('loses');
        for (const each of fresh) expect(await each.status(B)).toBe('wins');
      }
      expect(await everyMs()).toBe(DAY_MS);
    });

    it('the next one takes over once no live process declares the winner any more', async () => {
      storeOnTheSecond(world());
      const old = process({ revision: 1 });
      await old.declare(A);
      const fresh = process({ revision: 2 });
      await fresh.declare(B);
      await passAlive(world(), ORPHAN_AFTER_MS);
      expect(await old.status(A)).toBe('loses');
      world().pass(1);
      expect(await old.status(A)).toBe('wins');
      expect(await get()).toMatchObject({ rule: hourly, declaredBy: { revision: 1 } });
      expect(await fresh.status(B)).toBe('wins');
    });

    it('nobody takes over while another process declares the winner', async () => {
      storeOnTheSecond(world());
      const old = process({ revision: 1 });
      await old.declare(A);
      await process({ revision: 2 }).declare(B);
      const other = process({ revision: 1 });
      for (let i = 0; i < 4; i++) {
        world().pass(ORPHAN_AFTER_MS / 2);
        expect(await other.status(B)).toBe('wins');
        expect(await old.status(A)).toBe('loses');
      }
    });

    it('apps are told apart: one takes over what another one declares no more', async () => {
      storeOnTheSecond(world());
      await process({ app: 'shop' }).declare(A);
      const stock = laterProcess({ app: 'stock' });
      expect(await stock.status(B)).toBe('wins');
      expect(await get()).toMatchObject({ declaredBy: { app: 'stock' } });
    });
  });

  describe('a changed declaration', () => {
    it('makes up for nothing before the change', async () => {
      const { view } = storeOnTheSecond(world());
      const old = every(1_000, { onMissed: 'all' });
      await process().declare(recurrence(old));
      world().pass(10_000);
      await process({ revision: 1 }).declare(recurrence(every(60_000, { onMissed: 'all' })));
      expect((await world().worker('w').turn({ limit: 50 })).claimed).toEqual([]);
      expect((await get())!.nextAtMs).toBeGreaterThan(world().now());
      expect(await view.counts()).toMatchObject({ scheduled: 1, due: 0 });
    });

    it('with the same timing keeps what is armed, with the new job', async () => {
      const { view } = storeOnTheSecond(world());
      const declaring = process();
      await declaring.declare(A);
      const { nextAtMs } = (await get())!;
      await declaring.declare(A);
      const { statuses } = await laterProcess().declare(recurrence(hourly, { payload: '{"new":1}', tags: ['t'] }));
      expect(statuses).toEqual(['wins']);
      expect(await view.list('scheduled', 0, 10)).toMatchObject([
        { id: `r@${nextAtMs}`, dueAtMs: nextAtMs, envelope: { payload: '{"new":1}', tags: ['t'] } },
      ]);
      expect(await view.stats()).toEqual({ scheduled: 1 });
    });

    it('leaves a paused recurrence paused', async () => {
      const { recurrences, view } = storeOnTheSecond(world());
      await process().declare(A);
      await recurrences.pause('r', 'for now');
      const fresh = laterProcess();
      expect(await fresh.status(B)).toBe('wins');
      expect(await get()).toMatchObject({ state: 'paused', reason: 'for now', rule: daily, nextAtMs: null });
      expect(await view.counts()).toMatchObject({ scheduled: 0 });
      expect(await recurrences.resume('r')).toBe(true);
      expect((await get())!.nextAtMs! % DAY_MS).toBe(0);
    });

    it('counts on, and begins nothing twice', async () => {
      storeOnTheSecond(world());
      await process().declare(recurrence(every(1_000)));
      const worker = world().worker('w');
      world().pass(1_000);
      const [job] = await worker.claim();
      await worker.settle(settlement.complete(job!));
      await laterProcess().declare(recurrence(every(500)));
      const { lastAtMs, nextAtMs, count } = (await get())!;
      expect(count).toBe(1);
      expect(nextAtMs).toBeGreaterThan(lastAtMs!);
    });
  });

  describe('a recurrence that is switched off', () => {
    it('is armed no more, is told to nobody, and cannot be run', async () => {
      const { recurrences, view } = storeOnTheSecond(world());
      await process().declare(A);
      expect(await laterProcess().status(OFF)).toBe('wins');
      expect(await get()).toBeUndefined();
      expect(await recurrences.list(0, 10)).toEqual([]);
      expect(await view.counts()).toMatchObject({ scheduled: 0 });
      expect(await recurrences.runNow('r')).toBeUndefined();
      expect(await recurrences.backfill('r', [world().now()])).toBeUndefined();
      expect(await recurrences.pause('r')).toBe(false);
      expect(await recurrences.resume('r')).toBe(false);
    });

    it('is not switched on by an older build', async () => {
      storeOnTheSecond(world());
      const old = process({ revision: 1 });
      await old.declare(A);
      const fresh = process({ revision: 2 });
      await fresh.declare(OFF);
      expect(await old.status(A)).toBe('loses');
      world().pass(5_000);
      expect(await fresh.status(OFF)).toBe('wins');
      expect(await get()).toBeUndefined();
    });

    it('stays off where it never was on', async () => {
      const { recurrences } = storeOnTheSecond(world());
      expect(await process({ revision: 2 }).status(OFF)).toBe('wins');
      expect(await process({ revision: 1 }).status(A)).toBe('loses');
      expect(await recurrences.upsert(A)).toEqual({ status: 'declared', nextAtMs: null });
      expect(await get()).toBeUndefined();
    });

    it('comes back after now, and counts on', async () => {
      storeOnTheSecond(world());
      await process().declare(recurrence(every(1_000)));
      const worker = world().worker('w');
      world().pass(1_000);
      await worker.settle(settlement.complete((await worker.claim())[0]!));
      await laterProcess().declare(OFF);
      world().pass(3_000);
      expect(await laterProcess().status(recurrence(every(1_000)))).toBe('wins');
      expect(await get()).toMatchObject({ state: 'active', nextAtMs: world().now() + 1_000, count: 1 });
    });

    it('can be upserted once nobody declares anything of it any more', async () => {
      const { recurrences } = storeOnTheSecond(world());
      await process().declare(OFF);
      const other = await living();
      await passAlive(world(), ORPHAN_AFTER_MS + 1);
      expect((await other.declare()).orphans).toEqual([]);
      expect(await recurrences.upsert(A)).toMatchObject({ status: 'created' });
    });
  });

  describe('an orphan', () => {
    it('is told once, to one process of its app', async () => {
      storeOnTheSecond(world());
      await process().declare(A, recurrence(hourly, { id: 'q' }), recurrence(hourly, { id: 'kept' }));
      const [one, two] = [await living(), await living()];
      const kept = recurrence(hourly, { id: 'kept' });
      await passAlive(world(), ORPHAN_AFTER_MS);
      expect((await one.declare(kept)).orphans).toEqual([]);
      world().pass(1);
      expect([...(await one.declare(kept)).orphans].sort()).toEqual(['q', 'r']);
      expect((await two.declare(kept)).orphans).toEqual([]);
      expect((await one.declare(kept)).orphans).toEqual([]);
    });

    it('goes on until somebody removes it', async () => {
      const { view } = storeOnTheSecond(world());
      await process().declare(A);
      const other = await living();
      await passAlive(world(), ORPHAN_AFTER_MS + 1);
      expect((await other.declare()).orphans).toEqual(['r']);
      expect(await get()).toMatchObject({ state: 'active' });
      expect(await store().declarations.removeOrphan('r', 'shop', ORPHAN_AFTER_MS)).toBe(true);
      expect(await get()).toBeUndefined();
      expect(await view.stats()).toEqual({ scheduled: 1, cancelled: 1 });
      expect(await store().declarations.removeOrphan('r', 'shop', ORPHAN_AFTER_MS)).toBe(false);
    });

    it('is none of another app, and none while any of its processes declares a rule for the id', async () => {
      storeOnTheSecond(world());
      await process({ revision: 2 }).declare(A);
      const old = process({ revision: 1 });
      const stock = await living({ app: 'stock' });
      for (let i = 0; i < 3; i++) {
        world().pass(ORPHAN_AFTER_MS / 2);
        expect((await old.declare(B)).orphans).toEqual([]);
        expect((await stock.declare()).orphans).toEqual([]);
      }
      expect(await store().declarations.removeOrphan('r', 'shop', ORPHAN_AFTER_MS)).toBe(false);
      await passAlive(world(), ORPHAN_AFTER_MS + 1);
      expect((await stock.declare()).orphans).toEqual([]);
      expect(await store().declarations.removeOrphan('r', 'stock', ORPHAN_AFTER_MS)).toBe(false);
    });

    it('is none any more once it is declared again, and is told again after that', async () => {
      storeOnTheSecond(world());
      const declaring = process();
      await declaring.declare(A);
      const other = await living();
      await passAlive(world(), ORPHAN_AFTER_MS + 1);
      expect((await other.declare()).orphans).toEqual(['r']);
      await declaring.declare(A);
      expect(await store().declarations.removeOrphan('r', 'shop', ORPHAN_AFTER_MS)).toBe(false);
      await passAlive(world(), ORPHAN_AFTER_MS + 1);
      expect((await other.declare()).orphans).toEqual(['r']);
    });

    it('is told to no process that has just started: the one that declares it may be about to start as well', async () => {
      storeOnTheSecond(world());
      const declaring = process();
      await declaring.declare(A);
      world().pass(DAY_MS);
      const first = process();
      expect((await first.declareAndRemove()).orphans).toEqual([]);
      world().pass(ORPHAN_AFTER_MS / 2);
      expect((await process().declare(A)).statuses).toEqual(['wins']);
      world().pass(ORPHAN_AFTER_MS / 2);
      expect((await first.declareAndRemove()).orphans).toEqual([]);
      expect(await get()).toMatchObject({ state: 'active' });
    });

    it('is told again to a process that removes it', async () => {
      storeOnTheSecond(world());
      await process().declare(A);
      const [reporter, remover] = [await living(), await living()];
      await passAlive(world(), ORPHAN_AFTER_MS + 1);
      expect((await reporter.declare()).orphans).toEqual(['r']);
      for (let i = 0; i < 2; i++) expect((await remover.declareAndRemove()).orphans).toEqual(['r']);
      expect(await store().declarations.removeOrphan('r', 'shop', ORPHAN_AFTER_MS)).toBe(true);
      expect((await remover.declareAndRemove()).orphans).toEqual([]);
    });

    it('was never one that somebody upserted', async () => {
      const { recurrences } = storeOnTheSecond(world());
      await recurrences.upsert(A);
      await process().declare(A);
      const other = await living();
      await passAlive(world(), ORPHAN_AFTER_MS + 1);
      expect((await other.declare()).orphans).toEqual([]);
      expect(await store().declarations.removeOrphan('r', 'shop', ORPHAN_AFTER_MS)).toBe(false);
    });
  });

  it('one that has ended does not begin anew while it is declared, however long', async () => {
    const { recurrences, view } = storeOnTheSecond(world());
    const declaring = process();
    const once = recurrence(every(1_000, { limit: 1 }));
    await declaring.declare(once);
    world().pass(1_000);
    const worker = world().worker('w');
    await worker.settle(settlement.complete((await worker.claim())[0]!));
    expect(await get()).toMatchObject({ state: 'ended', count: 1 });
    for (let i = 0; i < 3; i++) {
      world().pass(DAY_MS / 2);
      await declaring.declare(once);
      await recurrences.tend();
      expect(await declaring.status(once)).toBe('wins');
      // After a day it is there for those alone who declare it.
      const isListed = i === 0;
      expect((await recurrences.list(0, 10)).length).toBe(isListed ? 1 : 0);
      expect((await get()) !== undefined).toBe(isListed);
    }
    expect(await recurrences.runNow('r')).toBeUndefined();
    expect(await recurrences.backfill('r', [world().now()])).toBeUndefined();
    expect(await view.stats()).toMatchObject({ scheduled: 1, started: 1 });
  });
};
