import { expect, it } from '@jest/globals';
import { MOST_JOBS } from '../../lib/core/constants.js';
import { ids, payloads, type World } from './world.js';

export const limits = (world: () => World): void => {
  const handler = (name: string, weight: number, free = 100, size = 1) => ({ name, weight, free, size });

  it('takes no more weight than there is capacity for', async () => {
    world().store();
    await world().scheduleAll(Array.from({ length: 10 }, () => ({})));
    const { claimed } = await world()
      .worker('w')
      .turn({ limit: 7, handlers: [handler('work', 3)] });
    expect(claimed).toHaveLength(2);
  });

  it('the best job waits for capacity that it fits into, and nothing lighter goes before it', async () => {
    world().store();
    await world().scheduleAll([
      { name: 'heavy', priority: 1 },
      { name: 'light', priority: 2 },
    ]);
    const worker = world().worker('w', 'heavy', 'light');
    const handlers = [handler('heavy', 5)];
    expect(await worker.turn({ limit: 4, handlers })).toMatchObject({ claimed: [], sleepMs: 500 });
    expect((await worker.turn({ limit: 6, handlers })).claimed).toHaveLength(2);
  });

  it('who has taken what fits, and has capacity left, looks again in half a second', async () => {
    world().store();
    await world().scheduleAll([{ name: 'light' }, { name: 'heavy' }]);
    const answer = await world()
      .worker('w', 'heavy', 'light')
      .turn({ limit: 3, handlers: [handler('heavy', 3)] });
    expect(answer).toMatchObject({ sleepMs: 500 });
    expect(answer.claimed).toHaveLength(1);
  });

  it('who has no capacity left is not told when to look', async () => {
    world().store();
    await world().scheduleAll([{}, {}]);
    expect((await world().worker('w').turn({ limit: 1 })).sleepMs).toBeUndefined();
    expect((await world().worker('w').turn({ limit: 0 })).sleepMs).toBeUndefined();
  });

  it('a handler that is full is passed over, and holds up no others', async () => {
    world().store();
    await world().scheduleAll([{ name: 'full', priority: 1 }, { payload: 'other' }]);
    const worker = world().worker('w', 'full', 'work');
    expect(payloads((await worker.turn({ limit: 5, handlers: [handler('full', 1, 0)] })).claimed)).toEqual(['other']);
  });

  it('a handler is full as soon as its last place is taken in the claim', async () => {
    world().store();
    const jobs = await world().scheduleAll([{ name: 'one' }, { name: 'one' }, { name: 'one' }, { name: 'two' }]);
    const worker = world().worker('w', 'one', 'two');
    expect(ids((await worker.turn({ limit: 10, handlers: [handler('one', 1, 2)] })).claimed)).toEqual(
      ids([jobs[0]!, jobs[1]!, jobs[3]!]),
    );
  });

  it('jobs of one call weigh what one of them does', async () => {
    world().store();
    await world().scheduleAll([...Array.from({ length: 9 }, () => ({ name: 'many' })), { name: 'one', priority: 6 }]);
    const worker = world().worker('w', 'many', 'one');
    const { claimed } = await worker.turn({ limit: 7, handlers: [handler('many', 3, 12, 4)] });
    expect(claimed).toHaveLength(8);
    const rest = await worker.turn({ limit: 4, handlers: [handler('many', 3, 4, 4)] });
    expect(rest.claimed).toHaveLength(2);
  });

  it('what joins a call that is being filled weighs nothing, and what begins another one is bounded by the capacity', async () => {
    world().store();
    await world().scheduleAll(Array.from({ length: 10 }, () => ({ name: 'many' })));
    const worker = world().worker('w', 'many');
    const joined = await worker.turn({ limit: 1, handlers: [handler('many', 3, 14, 4)] });
    expect(joined.claimed).toHaveLength(2);
    const full = await worker.turn({ limit: 1, handlers: [handler('many', 1, 3, 4)] });
    expect(full.claimed).toHaveLength(3);
  });

  it('however much room there is, a turn claims no more jobs than it may, and looks again at once', async () => {
    world().store();
    await world().scheduleAll(Array.from({ length: MOST_JOBS + 10 }, () => ({ name: 'many' })));
    const worker = world().worker('w', 'many');
    const first = await worker.turn({ limit: 9, handlers: [handler('many', 1, 4_000, 500)] });
    expect(first.claimed).toHaveLength(MOST_JOBS);
    expect(first).toMatchObject({ isUnconfirmed: false, sleepMs: 0 });
    const second = await worker.turn({ limit: 9, handlers: [handler('many', 1, 4_000, 500)] });
    expect(second.claimed).toHaveLength(10);
  });

  it('who has capacity for a thousand jobs gets a thousand', async () => {
    world().store();
    await world().scheduleAll(Array.from({ length: 1_000 }, () => ({})));
    expect((await world().worker('w').turn({ limit: 1_000 })).claimed).toHaveLength(1_000);
  });

  it('a full handler is passed over at every priority, where jobs age as well', async () => {
    for (const ordering of [{ mode: 'strict' }, { mode: 'aging', msPerLevel: 100 }] as const) {
      world().store({ ordering });
      await world().scheduleAll([1, 2, 3].flatMap((priority) => [{ name: 'full', priority }, { priority }]));
      const worker = world().worker('w', 'full', 'work');
      const { claimed } = await worker.turn({ limit: 10, handlers: [handler('full', 1, 1)] });
      expect(claimed).toHaveLength(4);
      expect(await world().audit()).toEqual([]);
      if (ordering.mode === 'strict') await world().close();
    }
  });

  it('who has no place in a handler for what is due tells one that has, and none that has not either', async () => {
    world().store({ leaseMs: 60_000 });
    const names = ['work', 'other'];
    const [has, hasNot] = [
      await world()
        .worker('a', ...names)
        .listens(),
      await world()
        .worker('b', ...names)
        .listens(),
    ];
    const full = [handler('work', 1, 0)];
    await hasNot.sleeps({ handlers: full });
    await has.sleeps();
    const busy = world().worker('c', ...names);
    await busy.turn({ limit: 1, handlers: full });
    await world().schedule({ due: { at: world().now() } });
    expect(await has.isTold()).toBeLessThan(100);
    expect(hasNot.told).toEqual([]);
  });
};
