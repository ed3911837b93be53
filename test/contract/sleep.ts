import { expect, it } from '@jest/globals';
import { settlement, type World } from './world.js';

export const sleep = (world: () => World): void => {
  it('tells to the millisecond how long it is until the next job is due', async () => {
    world().store({ leaseMs: 60_000 });
    await world().scheduleAll([{ due: { delayMs: 4_321 } }, { due: { delayMs: 4_400 }, priority: 1 }]);
    expect(await world().worker('w').sleeps()).toBe(4_321);
  });

  it('never longer than maxSleepMs, nor than a third of a lease', async () => {
    world().store({ leaseMs: 60_000, maxSleepMs: 7_000 });
    expect(await world().worker('w').sleeps()).toBe(7_000);
    await world().close();
    world().store({ leaseMs: 9_000, maxSleepMs: 7_000 });
    expect(await world().worker('w').sleeps()).toBe(3_000);
  });

  it('until a lease of another worker runs out', async () => {
    world().store({ leaseMs: 9_000, maxSleepMs: 60_000 });
    await world().schedule();
    await world().worker('a').claim();
    const worker = world().worker('b');
    for (let i = 0; i < 2; i++) {
      world().pass(3_000);
      await worker.turn();
    }
    world().pass(1_000);
    expect(await worker.sleeps()).toBe(2_000);
  });

  it('of what it may not run it does not spin', async () => {
    world().store({ leaseMs: 60_000 });
    await world().scheduleAll([{ name: 'strange' }, { name: 'full' }]);
    const handlers = [{ name: 'full', weight: 1, free: 0, size: 1 }];
    expect(await world().worker('w', 'work', 'full').sleeps({ handlers })).toBe(5_000);
  });

  it('says whether it was a whole turn, and whether what it settles frees a place for others', async () => {
    world().store({ leaseMs: 60_000 });
    const worker = world().worker('w');
    await worker.turn();
    expect(await worker.turn()).toMatchObject({ isWhole: false, freesNothingForOthers: true });
    const handlers = [{ name: 'work', weight: 1, free: 1, size: 1 }];
    expect(await worker.turn({ handlers })).toMatchObject({ freesNothingForOthers: false });
    await world().schedule({ group: 'a' });
    await worker.turn();
    expect(await worker.turn()).toMatchObject({ isWhole: true, freesNothingForOthers: false });
  });

  it('looks at once again where what it put back is due already', async () => {
    world().store();
    await world().schedule();
    const worker = world().worker('w');
    const [job] = await worker.claim();
    expect((await worker.turn({ settlements: [settlement.retry(job!, 0)], limit: 5 })).sleepMs).toBe(0);
  });

  it('looks when what it put back is due', async () => {
    world().store({ leaseMs: 60_000 });
    await world().schedule();
    const worker = world().worker('w');
    const [job] = await worker.claim();
    expect((await worker.turn({ settlements: [settlement.retry(job!, 2_500)], limit: 5 })).sleepMs).toBe(2_500);
  });

  it('a sleeper is told of a job that is scheduled for now, and for when one is due later', async () => {
    world().store({ leaseMs: 60_000 });
    const worker = await world().worker('w').listens();
    await worker.sleeps();
    await world().schedule({ due: { delayMs: 3_000 } });
    const told = await worker.isTold();
    expect(told).toBeGreaterThan(2_900);
    expect(told).toBeLessThanOrEqual(3_000);
    await world().schedule();
    while (worker.told.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(worker.told[1]).toBeLessThan(100);
  });

  it('a sleeper is not told of names that it does not handle', async () => {
    world().store({ leaseMs: 60_000 });
    const [worker, other] = [await world().worker('w').listens(), await world().worker('o', 'strange').listens()];
    await worker.sleeps();
    await other.sleeps();
    await world().schedule({ name: 'strange' });
    await other.isTold();
    expect(worker.told).toEqual([]);
  });

  it('a sleeper that has left is told of nothing', async () => {
    world().store({ leaseMs: 60_000 });
    const worker = await world().worker('w').listens();
    await worker.sleeps();
    worker.session.leave();
    const other = await world().worker('o').listens();
    await other.sleeps();
    await world().schedule();
    await other.isTold();
    expect(worker.told).toEqual([]);
  });

  it('is told of what another one moves to now', async () => {
    const { jobs } = world().store({ leaseMs: 60_000 });
    const { id } = await world().schedule({ due: { delayMs: 60_000 } });
    const worker = await world().worker('w').listens();
    await worker.sleeps();
    await jobs.reschedule(id, { delayMs: 0 });
    expect(await worker.isTold()).toBeLessThan(100);
  });

  it('is told of what another one puts back', async () => {
    world().store({ leaseMs: 60_000 });
    await world().schedule();
    const leaves = world().worker('v');
    const [job] = await leaves.claim();
    const worker = await world().worker('w').listens();
    await worker.sleeps();
    await leaves.settle(settlement.release(job!));
    expect(await worker.isTold()).toBeLessThan(100);
    expect(await worker.claim()).toHaveLength(1);
  });

  it('is told of what replaces a job', async () => {
    world().store({ leaseMs: 60_000 });
    await world().schedule({ id: 'x', due: { delayMs: 60_000 } });
    const worker = await world().worker('w').listens();
    await worker.sleeps();
    await world().replace({ id: 'x' });
    expect(await worker.isTold()).toBeLessThan(100);
  });

  it('is told where there is more than another one of its names can take', async () => {
    world().store({ leaseMs: 60_000 });
    const worker = await world().worker('w').listens();
    await worker.sleeps();
    await world().scheduleAll([{}, {}]);
    await worker.sleeps({ limit: 0 });
    const idle = await world().worker('u').listens();
    await idle.sleeps({ limit: 1, handlers: [{ name: 'work', weight: 1, free: 0, size: 1 }] });
    await world().worker('v').turn({ limit: 1 });
    expect(await idle.isTold()).toBeLessThan(100);
  });

  it('is told that a job which it holds is to be cancelled', async () => {
    const { jobs } = world().store();
    const { id } = await world().schedule();
    const worker = await world().worker('w').listens();
    await worker.claim();
    await jobs.cancelRunning(id);
    for (let i = 0; worker.cancels === 0 && i < 2_000; i++) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(worker.cancels).toBeGreaterThan(0);
  });
};
