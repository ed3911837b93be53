import { expect, it } from '@jest/globals';
import { Declaring, ORPHAN_AFTER_MS, passAlive } from './declaring.js';
import { every, HOUR, MINUTE, recurrence, storeOnTheSecond } from './recurring.js';
import type { World } from './world.js';

/** Nobody declares for a while: Redis was away, or its clock went ahead. */
export const declarationsGaps = (world: () => World): void => {
  const store = () => world().whole.queue('default');
  const A = recurrence(every(HOUR));
  const B = recurrence(every(MINUTE));
  const removeOrphan = () => store().declarations.removeOrphan('r', 'shop', ORPHAN_AFTER_MS);
  const process = (revision?: number, app = 'shop') =>
    new Declaring(world(), { app, ...(revision !== undefined && { revision }) });
  const nobodyDeclares = () => world().pass(3 * ORPHAN_AFTER_MS);

  it('the first process to declare after that takes no other for dead', async () => {
    storeOnTheSecond(world());
    const [first, other] = [process(), process()];
    await first.declare();
    await other.declare(A);
    await store().recurrences.pause('r', 'for now');
    nobodyDeclares();
    expect((await first.declareAndRemove()).orphans).toEqual([]);
    expect(await removeOrphan()).toBe(false);
    expect(await other.status(A)).toBe('wins');
    await passAlive(world(), ORPHAN_AFTER_MS);
    expect((await first.declareAndRemove()).orphans).toEqual([]);
    expect(await store().recurrences.get('r')).toMatchObject({ state: 'paused' });
    await passAlive(world(), 1);
    expect((await first.declareAndRemove()).orphans).toEqual(['r']);
    expect(await removeOrphan()).toBe(true);
  });

  it.each([
    ['of its own app', 'shop'],
    ['of another app', 'stock'],
  ])('a build that lost, and declares first after that, loses still to one %s', async (_, app) => {
    storeOnTheSecond(world());
    const [old, fresh] = [process(1), process(2, app)];
    await old.declare(A);
    await fresh.declare(B);
    const before = await store().recurrences.get('r');
    nobodyDeclares();
    expect(await old.status(A)).toBe('loses');
    expect(await fresh.status(B)).toBe('wins');
    expect(await old.status(A)).toBe('loses');
    expect(await store().recurrences.get('r')).toEqual(before);
  });

  it('it takes over where the winner is not heard for as long after that', async () => {
    storeOnTheSecond(world());
    const old = process(1);
    await old.declare(A);
    await process(2).declare(B);
    nobodyDeclares();
    expect(await old.status(A)).toBe('loses');
    await passAlive(world(), ORPHAN_AFTER_MS);
    expect(await old.status(A)).toBe('loses');
    world().pass(1);
    expect(await old.status(A)).toBe('wins');
  });
};
