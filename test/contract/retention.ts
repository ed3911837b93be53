import { expect, it } from '@jest/globals';
import { ids, settlement, type World } from './world.js';

export const retention = (world: () => World): void => {
  const finish = async (count: number, how: 'complete' | 'dead') => {
    const made = ids(await world().scheduleAll(Array.from({ length: count }, () => ({}))));
    const worker = world().worker('w');
    const answer = await worker.turn({
      settlements: (await worker.claim(count)).map((job) => settlement[how](job)),
    });
    return { made, dropped: answer.deadDropped };
  };

  it('completed jobs stay within their count, however many end in one turn, and the latest stay', async () => {
    const { view } = world().store({ keepCompleted: 3 });
    await finish(5, 'complete');
    world().pass(1);
    const { made } = await finish(2, 'complete');
    expect((await view.counts()).completed).toBe(3);
    expect(ids(await view.list('completed', 0, 2)).sort()).toEqual([...made].sort());
  });

  it.each(['complete', 'dead'] as const)('hundreds that %s in each turn leave no more than are kept', async (how) => {
    const { view } = world().store({ concurrency: 500, keepCompleted: 50, keepDead: 50 });
    for (let turn = 0; turn < 3; turn++) await finish(400, how);
    const counts = await view.counts();
    expect(counts[how === 'complete' ? 'completed' : 'dead']).toBe(50);
    expect((await view.stats()).deadDropped).toBe(how === 'dead' ? 1_150 : undefined);
  });

  it('no completed job is kept where the count is 0', async () => {
    const { view } = world().store({ keepCompleted: 0 });
    const { made } = await finish(1, 'complete');
    expect((await view.counts()).completed).toBe(0);
    expect(await world().job(made[0]!)).toBeUndefined();
  });

  it('dead jobs stay within their count, and what is dropped is told and counted', async () => {
    const { view } = world().store({ keepDead: 3 });
    const { made, dropped } = await finish(5, 'dead');
    expect(dropped).toEqual(made.slice(0, 2).map((id) => ({ id, name: 'work' })));
    expect(await view.counts()).toMatchObject({ dead: 3 });
    expect((await view.stats()).deadDropped).toBe(2);
  });

  it('dead jobs whose age is over are dropped by turns that find nothing', async () => {
    const { view } = world().store({ keepDead: { count: 10, ageMs: 5_000 } });
    const { made } = await finish(1, 'dead');
    const worker = world().worker('w');
    world().pass(4_999);
    expect((await worker.turn()).deadDropped).toEqual([]);
    // Of its turns those drop that list the session, a few times a lease.
    world().pass(world().settings.leaseMs / 4);
    expect((await worker.turn()).deadDropped).toEqual([{ id: made[0], name: 'work' }]);
    expect((await view.counts()).dead).toBe(0);
  });

  it('completed jobs whose age is over are dropped by turns that find nothing', async () => {
    const { view } = world().store({ keepCompleted: { ageMs: 5_000 } });
    await finish(2, 'complete');
    world().pass(4_999);
    await world().worker('w').turn();
    expect((await view.counts()).completed).toBe(2);
    world().pass(1);
    await world().worker('w').turn();
    expect((await view.counts()).completed).toBe(0);
  });

  it('a dead job that is dropped is forgotten with its history', async () => {
    world().store({ keepDead: 0 });
    const { made } = await finish(1, 'dead');
    expect(await world().job(made[0]!)).toBeUndefined();
  });

  it('a job that crashes once too often counts among the dead that are kept', async () => {
    const { view } = world().store({ keepDead: 1, maxCrashes: 1 });
    await world().scheduleAll([{}, {}]);
    await world().worker('dies').claim();
    const answers = await world().outlive();
    expect(answers.flatMap(({ deadDropped }) => deadDropped)).toHaveLength(1);
    expect(await view.counts()).toMatchObject({ dead: 1, due: 0, active: 0 });
  });
};
