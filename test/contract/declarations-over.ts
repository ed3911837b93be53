import { expect, it } from '@jest/globals';
import type { Declaration } from '../../lib/store/job-store.js';
import { Declaring, ORPHAN_AFTER_MS, passAlive } from './declaring.js';
import { every, MINUTE, recurrence, SECOND, storeOnTheSecond } from './recurring.js';
import { settlement, type World } from './world.js';

const OFF: Declaration = { id: 'r', isOff: true };

/** Declared recurrences that are over, and that nobody declares for a while. */
export const declarationsOver = (world: () => World): void => {
  const store = () => world().whole.queue('default');
  const get = () => store().recurrences.get('r');
  const once = recurrence(every(SECOND, { limit: 1 }));
  const remove = () => store().declarations.removeOrphan('r', 'shop', ORPHAN_AFTER_MS);

  const runNext = async () => {
    world().pass(SECOND);
    const worker = world().worker('w');
    await worker.settle(settlement.complete((await worker.claim())[0]!));
  };

  /** Another process of the app lives meanwhile. */
  const nobodyDeclaresIt = async () => {
    const other = new Declaring(world());
    await other.declare();
    await passAlive(world(), ORPHAN_AFTER_MS + 1);
    return other;
  };

  it('one that has used up its limit does not begin anew when its application was away for long', async () => {
    const { view } = storeOnTheSecond(world());
    await new Declaring(world()).declare(once);
    await runNext();
    const other = await nobodyDeclaresIt();
    for (let i = 0; i < 2; i++) expect((await other.declare()).orphans).toEqual([]);
    expect(await new Declaring(world()).status(once)).toBe('wins');
    expect(await get()).toMatchObject({ state: 'ended', count: 1, nextAtMs: null });
    expect(await view.stats()).toMatchObject({ scheduled: 1, started: 1 });
  });

  it('one that is switched off counts on when its application was away for long', async () => {
    storeOnTheSecond(world());
    const twice = recurrence(every(SECOND, { limit: 2 }));
    await new Declaring(world()).declare(twice);
    await runNext();
    world().pass(1);
    expect(await new Declaring(world()).status(OFF)).toBe('wins');
    const other = await nobodyDeclaresIt();
    for (let i = 0; i < 2; i++) expect((await other.declare()).orphans).toEqual([]);
    expect(await new Declaring(world()).status(twice)).toBe('wins');
    expect(await get()).toMatchObject({ state: 'active', count: 1 });
  });

  it('whoever removes orphans removes those as well, and then they begin anew', async () => {
    storeOnTheSecond(world());
    await new Declaring(world()).declare(once);
    await runNext();
    const other = await nobodyDeclaresIt();
    expect((await other.declareAndRemove()).orphans).toEqual(['r']);
    expect(await remove()).toBe(true);
    expect((await other.declareAndRemove()).orphans).toEqual([]);
    expect(await new Declaring(world()).status(once)).toBe('wins');
    expect(await get()).toMatchObject({ state: 'active', count: 0 });
    await runNext();
    world().pass(1);
    expect(await new Declaring(world()).status(OFF)).toBe('wins');
    expect((await (await nobodyDeclaresIt()).declareAndRemove()).orphans).toEqual(['r']);
    expect(await remove()).toBe(true);
  });

  it('one that ended by its rule alone is forgotten: it could not begin anew', async () => {
    const { recurrences } = storeOnTheSecond(world());
    await new Declaring(world()).declare(recurrence(every(SECOND, { endAtMs: world().now() + SECOND })));
    await runNext();
    expect(await get()).toMatchObject({ state: 'ended' });
    const other = await nobodyDeclaresIt();
    expect((await other.declareAndRemove()).orphans).toEqual([]);
    expect(await recurrences.upsert(recurrence(every(MINUTE)))).toMatchObject({ status: 'created' });
  });
};
