import { describe, expect, it } from '@jest/globals';
import { some } from './groups.js';
import { payloads, settlement, type World } from './world.js';

export const groupsCorners = (world: () => World): void => {
  const worker = () => world().worker('w');
  const claimed = async (limit = 10) => payloads((await worker().turn({ limit })).claimed) as string[];

  describe('one claim of several priorities', () => {
    it.each([
      ['concurrency', { concurrency: 1 }],
      ['rate', { rateLimit: { max: 1, perMs: 1_000 } }],
      ['order', { order: 'fifo' as const }],
    ])('keeps a group within its %s also where jobs age', async (_, groups) => {
      world().store({ groups, ordering: { mode: 'aging', msPerLevel: 1_000 } });
      await world().scheduleAll([...some('a', 2), ...some('a', 2, { priority: 1 }), ...some('b', 1, { priority: 9 })]);
      expect(await claimed()).toEqual(['a', 'b']);
      expect(await claimed()).toEqual([]);
    });
  });

  it('nothing is left of a turn whose jobs somebody cancels one by one', async () => {
    const { jobs } = world().store();
    for (const id of ['1', '2', '3']) await world().schedule({ id, group: 'a', payload: id });
    expect(await claimed(1)).toEqual(['1']);
    await jobs.cancel('2');
    await jobs.cancel('3');
    expect(await claimed()).toEqual([]);
  });

  it('a group that was held until now, and has no jobs any more, is forgotten', async () => {
    const { jobs, view } = world().store({ groups: { rateLimit: { max: 1, perMs: 1_000 } } });
    await world().scheduleAll([
      { id: '1', group: 'a', payload: '1' },
      { id: '2', group: 'a', payload: '2' },
    ]);
    const [job] = (await worker().turn({ limit: 10 })).claimed;
    await worker().settle(settlement.completeChosen(job!));
    await jobs.cancel('2');
    world().pass(2_000);
    expect(await claimed()).toEqual([]);
    expect(await view.groups(10)).toEqual([]);
  });
};
