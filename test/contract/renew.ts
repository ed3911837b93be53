import { expect, it } from '@jest/globals';
import { settlement, type World } from './world.js';

export const renew = (world: () => World): void => {
  it('holds a job past its first lease', async () => {
    world().store({ leaseMs: 9_000 });
    await world().schedule();
    const worker = world().worker('w');
    const [job] = await worker.claim();
    for (let i = 0; i < 6; i++) {
      world().pass(3_000);
      expect(await worker.turn({ renewals: [job!] })).toMatchObject({ lost: [], recovered: [] });
    }
    expect(await world().job(job!.id)).toMatchObject({ state: 'active', leaseUntilMs: world().now() + 9_000 });
  });

  it('tells which leases are no longer held, and renews the others', async () => {
    world().store();
    await world().scheduleAll([{}, {}]);
    const worker = world().worker('w');
    const [a, b] = await worker.claim();
    world().pass(1_000);
    expect(
      (await worker.turn({ renewals: [{ id: a!.id, fence: '1' }, b!, { id: 'unknown', fence: '1' }] })).lost,
    ).toEqual([a!.id, 'unknown']);
    expect((await world().job(b!.id))?.leaseUntilMs).toBe(world().now() + world().settings.leaseMs);
    expect((await world().job(a!.id))?.leaseUntilMs).toBe(world().now() - 1_000 + world().settings.leaseMs);
  });

  it('one turn renews as many leases as a worker with batches may hold', async () => {
    world().store();
    const worker = world().worker('w');
    const held = [];
    for (let i = 0; i < 13; i++) {
      await world().scheduleAll(Array.from({ length: 500 }, () => ({})));
      held.push(...(await worker.turn({ limit: 500 })).claimed);
    }
    expect(held).toHaveLength(6_500);
    world().pass(1_000);
    expect((await worker.turn({ renewals: held })).lost).toEqual([]);
    for (const { id } of [held[0]!, held[3_999]!, held[4_000]!, held.at(-1)!])
      expect((await world().job(id))?.leaseUntilMs).toBe(world().now() + world().settings.leaseMs);
  });

  it('a lease that has run out and that nobody has recovered is renewed, in the very turn that would recover it', async () => {
    world().store({ leaseMs: 9_000 });
    await world().schedule();
    const worker = world().worker('w');
    const [job] = await worker.claim();
    await world().serve(8_999, world().worker('living', 'nothing'));
    world().pass(1);
    expect(await worker.turn({ renewals: [job!] })).toMatchObject({ lost: [], recovered: [] });
    expect((await world().job(job!.id))?.state).toBe('active');
  });

  it('a job that a turn both ends and renews has ended, and is not lost', async () => {
    const { view } = world().store();
    await world().schedule();
    const worker = world().worker('w');
    const [job] = await worker.claim();
    expect(await worker.turn({ settlements: [settlement.complete(job!)], renewals: [job!] })).toMatchObject({
      settled: ['counted'],
      lost: [],
    });
    expect((await view.counts()).active).toBe(0);
  });

  it('a renewal confirms a claim of much data: a lease that runs out then is a crash', async () => {
    world().store({ leaseMs: 9_000 });
    await world().schedule({ id: 'x', payload: 'x'.repeat(300_000) });
    const worker = world().worker('w');
    const { claimed, isUnconfirmed } = await worker.turn({ limit: 1 });
    expect(isUnconfirmed).toBe(true);
    await worker.turn({ renewals: claimed });
    await world().outlive();
    expect(await world().job('x')).toMatchObject({ crashes: 1, attempts: 1 });
  });

  it('a claim of many small jobs needs no confirmation', async () => {
    world().store();
    await world().scheduleAll(Array.from({ length: 500 }, () => ({})));
    expect((await world().worker('w').turn({ limit: 500 })).isUnconfirmed).toBe(false);
  });

  it('a confirmation keeps what somebody wants cancelled, and tells it', async () => {
    const { jobs } = world().store();
    await world().schedule({ id: 'x', payload: 'x'.repeat(300_000) });
    const worker = world().worker('w');
    const { claimed } = await worker.turn({ limit: 1 });
    await jobs.cancelRunning('x');
    expect((await worker.turn({ renewals: claimed })).toCancel).toEqual(['x']);
    expect(await worker.settle(settlement.complete(claimed[0]!))).toEqual(['cancelled']);
  });
};
