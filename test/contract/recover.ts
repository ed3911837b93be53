import { describe, expect, it } from '@jest/globals';
import { ids, settlement, type World } from './world.js';

export const recover = (world: () => World): void => {
  it('a job whose lease runs out waits again, with a line of history that names its worker', async () => {
    const { view } = world().store();
    const { id, dueAtMs } = await world().schedule();
    await world().worker('dies').claim();
    const recovered = (await world().outlive()).flatMap((answer) => answer.recovered);
    expect(recovered).toEqual([{ id, name: 'work', attempt: 1, fate: 'waiting', worker: 'dies' }]);
    expect(await world().job(id)).toMatchObject({
      state: 'due',
      dueAtMs,
      attempts: 1,
      crashes: 1,
      failures: [{ message: 'the lease ran out: worker dies died or was blocked', attempt: 1 }],
    });
    expect(await view.stats()).toEqual({ scheduled: 1, started: 1, recovered: 1 });
  });

  it('is handed out again as the next attempt', async () => {
    world().store();
    await world().schedule();
    await world().worker('dies').claim();
    await world().outlive();
    expect((await world().worker('w').claim())[0]).toMatchObject({ attempt: 2, crashes: 1 });
  });

  it('once too often is dead, and is handed out to nobody any more', async () => {
    const { view } = world().store({ maxCrashes: 2 });
    const { id } = await world().schedule();
    await world().crash(1);
    await world().worker('dies').claim();
    const recovered = (await world().outlive()).flatMap((answer) => answer.recovered);
    expect(recovered).toMatchObject([{ id, fate: 'crashed', attempt: 2 }]);
    expect(await world().job(id)).toMatchObject({ state: 'dead', crashes: 2, attempts: 2 });
    expect((await world().job(id))?.failures.at(-1)).toMatchObject({ reason: 'crashed' });
    expect(await view.stats()).toEqual({ scheduled: 1, started: 2, recovered: 2, dead: 1 });
    expect(await world().worker('w').claim()).toEqual([]);
  });

  it('starts anew when it is replayed', async () => {
    const { management } = world().store({ maxCrashes: 1 });
    const { id } = await world().schedule();
    await world().crash(1);
    expect(await management.replayDead(id, { delayMs: 0 })).toBe(1);
    expect(await world().job(id)).toMatchObject({ state: 'due', attempts: 0, crashes: 0 });
    expect((await world().job(id))?.failures).toHaveLength(1);
    expect((await world().worker('w').claim())[0]).toMatchObject({ attempt: 1, crashes: 0 });
  });

  it('attempts that failed are no crashes', async () => {
    world().store({ maxCrashes: 2 });
    const { id } = await world().schedule();
    const worker = world().worker('w');
    for (let i = 0; i < 3; i++) await worker.settle(settlement.retry((await worker.claim())[0]!));
    await world().crash(1);
    expect(await world().job(id)).toMatchObject({ state: 'due', crashes: 1, attempts: 4 });
  });

  it('a lease is not recovered before its last millisecond is over', async () => {
    world().store({ leaseMs: 9_000 });
    await world().schedule();
    await world().worker('dies').claim();
    const living = world().worker('living', 'nothing');
    await world().serve(8_999, living);
    expect((await living.turn()).recovered).toEqual([]);
    world().pass(1);
    expect((await living.turn()).recovered).toHaveLength(1);
  });

  it('waits a lease after a silence, so that the living can renew first', async () => {
    world().store({ leaseMs: 9_000 });
    await world().schedule();
    const lives = world().worker('lives');
    const [job] = await lives.claim();
    world().pass(20_000);
    const other = world().worker('other');
    expect((await other.turn({ limit: 5 })).recovered).toEqual([]);
    expect((await lives.turn({ renewals: [job!] })).lost).toEqual([]);
    expect((await world().job(job!.id))?.state).toBe('active');
  });

  it('takes no more than a lease and a silence', async () => {
    world().store({ leaseMs: 9_000 });
    await world().schedule();
    await world().worker('dies').claim();
    world().pass(20_000);
    const other = world().worker('other');
    await other.turn();
    const answers = await world().serve(9_000, other);
    expect(answers.flatMap(({ recovered }) => recovered)).toHaveLength(1);
  });

  it.each([
    ['is no silence yet: it is recovered at its end', 4_500, 1],
    ['and a millisecond is one: it is not recovered at its end', 4_501, 0],
  ])('half a lease without a turn %s', async (_, silenceMs, count) => {
    world().store({ leaseMs: 9_000 });
    await world().schedule();
    await world().worker('dies').claim();
    const living = world().worker('living', 'nothing');
    world().pass(silenceMs);
    await living.turn();
    world().pass(9_000 - silenceMs);
    expect((await living.turn()).recovered).toHaveLength(count);
  });

  it('comes in the end where the only worker is slower than half a lease', async () => {
    world().store({ leaseMs: 9_000 });
    await world().schedule();
    await world().worker('dies').claim();
    const slow = world().worker('slow');
    const recovered: unknown[] = [];
    for (let i = 0; i < 10; i++) {
      world().pass(6_000);
      recovered.push(...(await slow.turn()).recovered);
    }
    expect(recovered).toHaveLength(1);
  });

  it('leaves alone what the same turn settles, however late it is', async () => {
    const { view } = world().store({ leaseMs: 9_000 });
    await world().schedule();
    const late = world().worker('late');
    const [job] = await late.claim();
    await world().serve(8_999, world().worker('living', 'nothing'));
    world().pass(1_000);
    expect(await late.turn({ settlements: [settlement.complete(job!)] })).toMatchObject({
      settled: ['counted'],
      recovered: [],
    });
    expect((await view.stats()).recovered).toBeUndefined();
  });

  it('hundreds of leases of a fleet that died are recovered in as many turns as it takes, and living ones are left alone', async () => {
    const { view } = world().store({ leaseMs: 9_000 });
    await world().scheduleAll(Array.from({ length: 450 }, () => ({})));
    for (const id of ['a', 'b', 'c']) await world().worker(id).claim(100);
    const lives = world().worker('lives');
    const held = (await lives.turn({ limit: 150 })).claimed;
    for (let i = 0; i < 4; i++) {
      world().pass(3_000);
      await lives.turn({ renewals: held });
    }
    for (let i = 0; i < 3; i++) await lives.turn({ renewals: held });
    expect(await view.counts()).toMatchObject({ active: 150, due: 300 });
    expect((await view.stats()).recovered).toBe(300);
  });

  it('what a turn has recovered it says to look for at once', async () => {
    world().store({ leaseMs: 9_000 });
    const { id } = await world().schedule();
    await world().worker('dies').claim();
    const living = world().worker('living');
    await world().serve(8_999, living);
    world().pass(1);
    expect(await living.turn({ limit: 5 })).toMatchObject({ recovered: [{ id }], claimed: [], sleepMs: 0 });
    expect(ids(await living.claim())).toEqual([id]);
  });

  it('a popped job is recovered under the name of its process', async () => {
    world().store();
    await world().schedule();
    await world().puller('dies').claim();
    const recovered = (await world().outlive()).flatMap((answer) => answer.recovered);
    expect(recovered).toMatchObject([{ worker: 'dies' }]);
  });

  describe('a claim of much data that was never confirmed', () => {
    it('is no crash: its job goes back as if nothing had been', async () => {
      world().store();
      await world().schedule({ id: 'x', payload: 'x'.repeat(300_000) });
      await world().worker('dies').claim();
      const recovered = (await world().outlive()).flatMap((answer) => answer.recovered);
      expect(recovered).toMatchObject([{ id: 'x', fate: 'waiting', attempt: 1 }]);
      expect(await world().job('x')).toMatchObject({ state: 'due', attempts: 0, crashes: 0, failures: [] });
    });

    it('gives the job that is queued behind it no crash either', async () => {
      world().store();
      await world().schedule({ id: 'x', payload: 'x'.repeat(300_000) });
      await world().worker('dies').claim();
      await world().replace({ id: 'x', payload: 'small' });
      await world().outlive();
      expect(await world().job('x')).toMatchObject({ crashes: 0, envelope: { payload: 'small' } });
    });

    it('can be settled all the same', async () => {
      const { view } = world().store();
      await world().schedule({ payload: 'x'.repeat(300_000) });
      const worker = world().worker('w');
      const [job] = await worker.claim();
      expect(await worker.turn({ settlements: [settlement.release(job!)], renewals: [job!] })).toMatchObject({
        settled: ['counted'],
        lost: [],
      });
      expect(await view.counts()).toMatchObject({ active: 0, due: 1 });
    });
  });
};
