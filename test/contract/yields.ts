import { expect, it } from '@jest/globals';
import type { QueueOptions } from '../../lib/core/options/queue-options.js';
import type { ClaimedJob } from '../../lib/store/job-store.js';
import { ids, settlement, type TestSession, type World } from './world.js';

export const yields = (world: () => World): void => {
  /** Worker `a` has all places, and a backlog beside them. */
  const busy = async (options: QueueOptions & { globalConcurrency: number }) => {
    world().store(options);
    await world().scheduleAll(Array.from({ length: 10 }, () => ({ name: 'bulk' })));
    const a = world().worker('a', 'bulk');
    return { a, held: await a.claim(options.globalConcurrency) };
  };
  /** What `a` claims as it settles these. */
  const goOn = (a: TestSession, ...ended: ClaimedJob[]) =>
    a.turn({ settlements: ended.map((job) => settlement.complete(job)), limit: ended.length + 3 });
  const sleeper = async (session: TestSession, full: string[] = []) => {
    await session.listens();
    const handlers = full.map((name) => ({ name, weight: 1, free: 0, size: 1 }));
    expect((await session.turn({ limit: 1, handlers })).claimed).toEqual([]);
    return session;
  };

  it('a place that becomes free is left to a more urgent job that only a sleeping worker handles', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const b = await sleeper(world().worker('b', 'urgent'));
    const { id } = await world().schedule({ name: 'urgent', priority: 1 });
    await b.sleeps({ limit: 1 });
    expect(ids((await goOn(a, held[0]!)).claimed)).toEqual([]);
    await b.isTold();
    // Nobody else gets that place meanwhile.
    expect(await a.claim()).toEqual([]);
    expect(ids(await b.claim())).toEqual([id]);
  });

  it('is left to the more urgent job also in a turn that puts a job of its own back', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const b = await sleeper(world().worker('b', 'urgent'));
    const { id } = await world().schedule({ name: 'urgent', priority: 1 });
    await b.sleeps({ limit: 1 });
    // Before its offers the turn has asked who handles the job that goes back: `b` does not.
    const answer = await a.turn({ settlements: [settlement.retry(held[0]!, 60_000)], limit: 4 });
    expect([answer.settled, ids(answer.claimed)]).toEqual([['counted'], []]);
    await b.isTold();
    expect(ids(await b.claim())).toEqual([id]);
  });

  it('is left to a job that prefers a sleeping worker, before those of its priority that prefer nobody', async () => {
    const { a, held } = await busy({ globalConcurrency: 2, stealAfterMs: 60_000 });
    const x = await sleeper(world().worker('x', 'bulk'));
    const { id } = await world().schedule({ name: 'bulk', worker: 'x' });
    await x.sleeps({ limit: 1 });
    expect(ids((await goOn(a, held[0]!)).claimed)).toEqual([]);
    await x.isTold();
    expect(ids(await x.claim(1))).toEqual([id]);
  });

  it('is left to a job without a group whose turn it is, before those of groups of its priority', async () => {
    world().store({ globalConcurrency: 2 });
    await world().scheduleAll(Array.from({ length: 10 }, () => ({ name: 'bulk', group: 'tenant' })));
    const a = world().worker('a', 'bulk');
    const held = await a.claim(2);
    const b = await sleeper(world().worker('b', 'other'));
    const { id } = await world().schedule({ name: 'other' });
    await b.sleeps({ limit: 1 });
    expect(ids((await goOn(a, held[0]!)).claimed)).toEqual([]);
    await b.isTold();
    expect(ids(await b.claim())).toEqual([id]);
    // The tenant's turn comes behind.
    expect(await goOn(a, held[1]!)).toMatchObject({ claimed: [{ envelope: { group: 'tenant' } }] });
  });

  it('is left for each of two better jobs to a sleeper of its own', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const [b, c] = [await sleeper(world().worker('b', 'one')), await sleeper(world().worker('c', 'two'))];
    await world().scheduleAll([
      { name: 'one', priority: 1 },
      { name: 'two', priority: 1 },
    ]);
    await b.sleeps({ limit: 1 });
    await c.sleeps({ limit: 1 });
    expect((await goOn(a, ...held)).claimed).toEqual([]);
    expect(await b.claim()).toHaveLength(1);
    expect(await c.claim()).toHaveLength(1);
  });

  it('is left to the better job that was due first', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const [b, c] = [await sleeper(world().worker('b', 'one')), await sleeper(world().worker('c', 'two'))];
    // By id the other one would come first.
    await world().schedule({ name: 'one', priority: 1, id: 'z' });
    world().pass(5);
    await world().schedule({ name: 'two', priority: 1, id: 'y' });
    await b.sleeps({ limit: 1 });
    await c.sleeps({ limit: 1 });
    expect((await goOn(a, held[0]!)).claimed).toEqual([]);
    expect(ids([...(await c.claim()), ...(await b.claim())])).toEqual(['z']);
  });

  it('is taken by the worker itself where the sleeper has no place in its handler for the better job', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const b = await sleeper(world().worker('b', 'urgent', 'more'), ['urgent']);
    await world().schedule({ name: 'urgent', priority: 1 });
    await b.sleeps({ limit: 1, handlers: [{ name: 'urgent', weight: 1, free: 0, size: 1 }] });
    expect((await goOn(a, held[0]!)).claimed).toHaveLength(1);
  });

  it('is taken by the worker itself where the job of the sleeper is not better', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const b = await sleeper(world().worker('b', 'patient'));
    await world().schedule({ name: 'patient', priority: 9 });
    await b.sleeps({ limit: 1 });
    expect((await goOn(a, held[0]!)).claimed).toHaveLength(1);
  });

  it('is taken by the worker itself where nobody sleeps, or nobody hears', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    await world().schedule({ name: 'urgent', priority: 1 });
    expect((await goOn(a, held[0]!)).claimed).toHaveLength(1);
    await world().worker('deaf', 'urgent').turn({ limit: 1, suspects: '' });
  });

  it('is no longer kept once the time of the sleeper is over, and whoever left it looks then', async () => {
    const { a, held } = await busy({ globalConcurrency: 2, leaseMs: 60_000 });
    const b = await sleeper(world().worker('b', 'urgent'));
    await world().schedule({ name: 'urgent', priority: 1 });
    await b.sleeps({ limit: 1 });
    const left = await goOn(a, held[0]!);
    expect(left.sleepMs).toBeLessThanOrEqual(250);
    world().pass(250);
    expect(await a.claim(1)).toHaveLength(1);
  });

  it('is left once only to a job for which nobody comes', async () => {
    const { a, held } = await busy({ globalConcurrency: 2, leaseMs: 60_000 });
    const b = await sleeper(world().worker('b', 'urgent'));
    const { id } = await world().schedule({ name: 'urgent', priority: 1 });
    await b.sleeps({ limit: 1 });
    expect((await goOn(a, held[0]!)).claimed).toEqual([]);
    world().pass(200);
    const [taken] = (await a.turn({ limit: 1 })).claimed;
    await b.sleeps({ limit: 1 });
    const [next] = (await a.turn({ settlements: [settlement.complete(taken!)], limit: 1 })).claimed;
    expect(next).toBeDefined();
    expect((await world().job(id))?.state).toBe('due');
    // But not for ever: the sleeper may have been slow.
    world().pass(5_000);
    await b.sleeps({ limit: 1 });
    expect((await a.turn({ settlements: [settlement.complete(next!)], limit: 1 })).claimed).toEqual([]);
    expect(ids(await b.claim())).toEqual([id]);
  });

  it('that another took for a still better job is left again, as soon as that one has ended', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const b = await sleeper(world().worker('b', 'urgent'));
    const { id } = await world().schedule({ name: 'urgent', priority: 1 });
    await b.sleeps({ limit: 1 });
    expect((await goOn(a, held[0]!)).claimed).toEqual([]);
    await world().schedule({ name: 'most-urgent', priority: 0 });
    const c = world().worker('c', 'most-urgent');
    const [best] = await c.claim();
    world().pass(250);
    await b.sleeps({ limit: 1 });
    await c.settle(settlement.complete(best!));
    expect(await a.claim()).toEqual([]);
    expect(ids(await b.claim())).toEqual([id]);
  });

  it('is not given away by a turn of a process that is kept for a suspect', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const b = await sleeper(world().worker('b', 'urgent'));
    const { id } = await world().schedule({ name: 'urgent', priority: 1 });
    await b.sleeps({ limit: 1 });
    expect((await goOn(a, held[0]!)).claimed).toEqual([]);
    await world().worker('kept', 'bulk').turn({ limit: 0, suspects: 'keep' });
    expect(await world().worker('other', 'bulk').claim(1)).toEqual([]);
    expect(ids(await b.claim(1))).toEqual([id]);
  });

  it('is not left to one better job after another for which nobody comes', async () => {
    const { a, held } = await busy({ globalConcurrency: 1, leaseMs: 60_000 });
    const names = ['one', 'two'];
    const asleep = [];
    for (const id of ['b', 'c']) asleep.push(await sleeper(world().worker(id, ...names)));
    await world().scheduleAll(names.map((name) => ({ name, priority: 1 })));
    for (const each of asleep) await each.sleeps({ limit: 1 });
    expect((await goOn(a, ...held)).claimed).toEqual([]);
    world().pass(250);
    expect(await a.claim(1)).toHaveLength(1);
  });

  it('hides no other place: who may take one that becomes free meanwhile is told', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    await world().schedule({ name: 'other', priority: 1 });
    await a.settle(settlement.complete(held[1]!));
    const c = world().worker('c', 'other');
    const [running] = await c.claim(1);
    const b = await sleeper(world().worker('b', 'urgent'));
    const d = await sleeper(world().worker('d', 'patient'));
    await world().schedule({ name: 'urgent', priority: 1 });
    await world().schedule({ name: 'patient', priority: 9 });
    await b.sleeps({ limit: 1 });
    await d.sleeps({ limit: 1 });
    expect((await goOn(a, held[0]!)).claimed).toEqual([]);
    expect(await d.sleeps({ limit: 1 })).toBeGreaterThan(0);
    await c.settle(settlement.complete(running!));
    await d.isTold();
    expect(await d.claim(1)).toHaveLength(1);
  });

  it('is not left by whoever may run the better job itself', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const b = await sleeper(world().worker('b', 'urgent'));
    const { id } = await world().schedule({ name: 'urgent', priority: 1 });
    await b.sleeps({ limit: 1 });
    expect((await goOn(a, held[0]!)).claimed).toEqual([]);
    expect(ids(await world().worker('any', 'urgent', 'bulk').claim())).toEqual([id]);
  });

  it('is not left until a time that was noted while the clock was ahead', async () => {
    const { a, held } = await busy({ globalConcurrency: 2 });
    const b = await sleeper(world().worker('b', 'urgent'));
    await world().schedule({ name: 'urgent', priority: 1 });
    world().jump(3_600_000);
    await a.turn({ renewals: held });
    await b.sleeps({ limit: 1 });
    expect((await goOn(a, held[0]!)).claimed).toEqual([]);
    world().jump(-3_600_000);
    expect(await a.claim(1)).toHaveLength(1);
  });

  it('is not left by a pop that does not wait', async () => {
    const { held } = await busy({ globalConcurrency: 2 });
    const b = await sleeper(world().worker('b', 'urgent'));
    await world().schedule({ name: 'urgent', priority: 1 });
    await b.sleeps({ limit: 1 });
    const pull = world().puller('p', 'bulk');
    const answer = await pull.turn({
      settlements: [settlement.complete(held[0]!)],
      limit: 1,
      standing: 'goes',
    });
    expect(answer.claimed).toHaveLength(1);
  });
};
