import { expect, it } from '@jest/globals';
import { ids, payloads, settlement, type World } from './world.js';

export const replace = (world: () => World): void => {
  it('creates a job where the id is unknown, and debounces it where it waits', async () => {
    const { view } = world().store();
    expect(await world().replace({ id: 'x', payload: 'a', due: { delayMs: 1_000 } })).toMatchObject({
      status: 'created',
    });
    expect(await world().replace({ id: 'x', payload: 'b', due: { delayMs: 2_000 } })).toMatchObject({
      status: 'replaced',
      dueAtMs: world().now() + 2_000,
    });
    expect(await view.counts()).toMatchObject({ scheduled: 1, due: 0 });
    expect((await view.stats()).scheduled).toBe(1);
    world().pass(2_000);
    expect(payloads(await world().worker('w').claim())).toEqual(['b']);
  });

  it('moves the job where its priority or its worker is another one', async () => {
    const { view } = world().store();
    await world().schedule({ id: 'x', priority: 9, worker: 'a' });
    await world().replace({ id: 'x', priority: 1 });
    expect(await view.countsByPriority()).toEqual([{ priority: 1, scheduled: 0, due: 1 }]);
    expect(ids(await world().worker('b').claim())).toEqual(['x']);
  });

  it('a job that waits for its next attempt begins anew, without its history', async () => {
    world().store();
    await world().schedule({ id: 'x' });
    const worker = world().worker('w');
    await worker.settle(settlement.retry((await worker.claim())[0]!, 5_000));
    await world().replace({ id: 'x' });
    expect(await world().job('x')).toMatchObject({ attempts: 0, failures: [] });
    expect((await worker.claim())[0]).toMatchObject({ attempt: 1 });
  });

  it('a job that has crashed and is replaced keeps its crashes', async () => {
    world().store({ maxCrashes: 5 });
    await world().schedule({ id: 'x' });
    await world().crash(2);
    await world().replace({ id: 'x' });
    expect(await world().job('x')).toMatchObject({ crashes: 2, failures: [] });
    expect((await world().worker('w').claim())[0]).toMatchObject({ attempt: 1, crashes: 2 });
  });

  it('a suspect that is replaced stays one', async () => {
    world().store({ maxCrashes: 2 });
    await world().schedule({ id: 'x' });
    await world().crash(1);
    expect((await world().job('x'))?.isSuspect).toBe(true);
    await world().replace({ id: 'x', priority: 1 });
    expect((await world().job('x'))?.isSuspect).toBe(true);
  });

  it('a dead job that is replaced counts as pushed out, and its history is forgotten', async () => {
    const { view } = world().store();
    await world().schedule({ id: 'x' });
    const worker = world().worker('w');
    await worker.settle(settlement.dead((await worker.claim())[0]!));
    expect(await world().replace({ id: 'x' })).toMatchObject({ status: 'created', pushedOut: true });
    expect(await world().job('x')).toMatchObject({ state: 'due', attempts: 0, failures: [] });
    expect(await view.stats()).toMatchObject({ scheduled: 2, deadDropped: 1 });
  });

  it('what was created by replace has a chosen id, and the time of the last replace', async () => {
    world().store();
    await world().replace({ id: 'x' });
    world().pass(1_000);
    await world().replace({ id: 'x' });
    expect((await world().job('x'))?.envelope).toMatchObject({ idWasChosen: true, createdAtMs: world().now() });
  });
};
