import { expect, it } from '@jest/globals';
import { ids, settlement, type World } from './world.js';

export const pull = (world: () => World): void => {
  it('claims jobs of every name, also of those that nobody has used yet', async () => {
    world().store();
    const puller = world().puller('p');
    expect(await puller.claim()).toEqual([]);
    const made = await world().scheduleAll([{ name: 'a' }, { name: 'b: c' }]);
    expect(ids(await puller.claim()).sort()).toEqual(ids(made).sort());
  });

  it('claims only the names that it asks for', async () => {
    world().store();
    const [a] = await world().scheduleAll([{ name: 'a' }, { name: 'b' }]);
    expect(ids(await world().puller('p', 'a').claim())).toEqual([a!.id]);
  });

  it('what it holds it settles, extends and renews like a worker', async () => {
    const { view } = world().store();
    await world().scheduleAll([{}, {}]);
    const puller = world().puller('p');
    const [a, b] = await puller.claim();
    expect(await world().job(a!.id)).toMatchObject({ state: 'active', worker: 'p' });
    expect(await puller.settle(settlement.complete(a!), settlement.extend(b!, 90_000))).toEqual(['counted', 'counted']);
    expect((await puller.turn({ renewals: [b!] })).lost).toEqual([]);
    expect(await view.counts()).toMatchObject({ active: 1 });
  });

  it('a pull that waits is told of a job', async () => {
    world().store({ leaseMs: 60_000 });
    const puller = await world().puller('p').listens();
    await puller.sleeps({ standing: 'until-claimed' });
    await world().schedule();
    expect(await puller.isTold()).toBeLessThan(100);
    expect(await puller.claim()).toHaveLength(1);
  });

  it('a pull that goes is told of nothing any more', async () => {
    world().store({ leaseMs: 60_000 });
    const puller = await world().puller('p').listens();
    await puller.sleeps({ standing: 'until-claimed' });
    await puller.sleeps({ standing: 'goes' });
    // Messages come in order: one that waits is told after it.
    const waits = await world().puller('q').listens();
    await waits.sleeps({ standing: 'until-claimed' });
    await world().schedule();
    await waits.isTold();
    expect(puller.told).toEqual([]);
  });

  it('a pull that has claimed something is told of nothing any more', async () => {
    world().store({ leaseMs: 60_000 });
    const puller = await world().puller('p').listens();
    await world().schedule();
    expect((await puller.turn({ limit: 5, standing: 'until-claimed' })).claimed).toHaveLength(1);
    puller.told.length = 0;
    const waits = await world().puller('q').listens();
    await waits.sleeps({ standing: 'until-claimed' });
    await world().schedule();
    await waits.isTold();
    expect(puller.told).toEqual([]);
  });

  it('one of two that wait for the same names is still told when the other one goes', async () => {
    world().store({ leaseMs: 60_000 });
    const [first, second] = [await world().puller('p').listens(), await world().puller('q').listens()];
    await first.sleeps({ standing: 'until-claimed' });
    await second.sleeps({ standing: 'until-claimed' });
    await first.turn({ limit: 5, standing: 'goes' });
    await world().schedule();
    expect(await second.isTold()).toBeLessThan(100);
  });

  it('a pull that goes hands over what it was to look for', async () => {
    world().store({ leaseMs: 60_000, maxSleepMs: 20_000 });
    const [first, second] = [await world().puller('p').listens(), await world().puller('q').listens()];
    await world().schedule({ due: { delayMs: 5_000 } });
    await first.sleeps({ standing: 'until-claimed' });
    const sleepMs = await second.sleeps({ standing: 'until-claimed' });
    await first.turn({ limit: 5, standing: 'goes' });
    // It looks by itself then, or was told to.
    const looksIn = sleepMs! <= 5_000 ? sleepMs! : await second.isTold();
    expect(looksIn).toBeLessThanOrEqual(5_000);
  });
};
