import { describe, expect, it } from '@jest/globals';
import type { FoundJobs, JobSelection, StoredJob } from '../../lib/store/job-store.js';
import { ids, settlement, type World } from './world.js';

const WAITING_OR_ACTIVE: JobSelection = { states: ['scheduled', 'due', 'active'] };

/** Takes all steps of a search; `between` happens after each. */
async function search(
  world: World,
  selection: Partial<JobSelection> = {},
  {
    size = 5,
    limit = 3,
    between = async () => {},
  }: { size?: number; limit?: number; between?: () => Promise<unknown> } = {},
): Promise<StoredJob[]> {
  const found: StoredJob[] = [];
  let place: string | undefined;
  for (let steps = 0; ; ) {
    const step: FoundJobs = await world.queue.view.find({ ...WAITING_OR_ACTIVE, ...selection }, place, { size, limit });
    expect(step.jobs.length).toBeLessThanOrEqual(limit);
    found.push(...step.jobs);
    if (step.next === undefined) return found;
    expect(++steps).toBeLessThan(2_000);
    place = step.next;
    await between();
  }
}

const sorted = (jobs: readonly { id: string }[]) => ids(jobs).sort();

export const find = (world: () => World): void => {
  it('of an empty queue finds nothing', async () => {
    world().store();
    for (const states of [['due'], ['active'], ['dead'], ['completed'], ['due', 'completed']] as const)
      expect(await search(world(), { states })).toEqual([]);
    expect(await search(world(), { tags: ['a'] })).toEqual([]);
  });

  it.each([1, 7, 1_000])('finds each job once in pages of %i', async (limit) => {
    world().store();
    const made = await world().scheduleAll(
      Array.from({ length: 120 }, (_, i) => ({
        name: `n${i % 5}`,
        priority: i % 3,
        due: { delayMs: (i % 2) * 5_000 },
      })),
    );
    expect(sorted(await search(world(), {}, { limit, size: 16 }))).toEqual(sorted(made));
  });

  it('tells all that is known of a job, as job does', async () => {
    const { view } = world().store({ keepCompleted: 5 });
    await world().scheduleAll([
      { id: 'x', tags: ['a'], worker: 'v' },
      { id: 'y', due: { delayMs: 9_000 } },
      {},
      {},
      {},
    ]);
    const worker = world().worker('w');
    const [a, b] = await worker.claim(3);
    await worker.settle(settlement.complete(a!), settlement.dead(b!));
    const found = await search(world(), { states: ['scheduled', 'due', 'active', 'completed', 'dead'] });
    expect(found).toHaveLength(5);
    for (const job of found) expect(job).toEqual(await view.job(job.id));
  });

  describe('finds only those', () => {
    it('of the states that are asked for', async () => {
      const { view } = world().store({ keepCompleted: 10 });
      await world().scheduleAll(Array.from({ length: 20 }, (_, i) => ({ due: { delayMs: i < 4 ? 60_000 : 0 } })));
      const worker = world().worker('w');
      const claimed = await worker.claim(9);
      await worker.settle(...claimed.slice(0, 2).map((job) => settlement.complete(job)));
      await worker.settle(...claimed.slice(2, 5).map((job) => settlement.dead(job)));
      for (const state of ['scheduled', 'due', 'active', 'completed', 'dead'] as const) {
        const expected = await view.list(state, 0, 100);
        expect(sorted(await search(world(), { states: [state] }))).toEqual(sorted(expected));
      }
      const both = [...(await view.list('completed', 0, 9)), ...(await view.list('scheduled', 0, 9))];
      expect(sorted(await search(world(), { states: ['scheduled', 'completed'] }))).toEqual(sorted(both));
    });

    it('of any of the names, also where they have run', async () => {
      world().store({ keepCompleted: 5 });
      const [a, b] = await world().scheduleAll([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
      expect(sorted(await search(world(), { names: ['a', 'b', 'none'] }))).toEqual(sorted([a!, b!]));
      const worker = world().worker('w', 'a');
      await worker.settle(settlement.complete((await worker.claim())[0]!));
      expect(ids(await search(world(), { states: ['completed', 'due'], names: ['a'] }))).toEqual([a!.id]);
    });

    it('that carry all of the tags', async () => {
      world().store({ keepCompleted: 5 });
      const [both, , other] = await world().scheduleAll([
        { tags: ['a', 'two words'] },
        { tags: ['a'], due: { delayMs: 5 } },
        { tags: ['two words', 'a', 'c'], priority: 9 },
        { tags: ['aa'] },
      ]);
      expect(await search(world(), { tags: ['a'] })).toHaveLength(3);
      expect(sorted(await search(world(), { tags: ['two words', 'a'] }))).toEqual(sorted([both!, other!]));
      for (const tags of [
        ['two words', 'a', 'c'],
        ['c', 'a'],
        ['a', 'c'],
      ])
        expect(ids(await search(world(), { tags }, { size: 1 }))).toEqual([other!.id]);
      expect(await search(world(), { tags: ['a', 'none'] })).toEqual([]);
      const worker = world().worker('w');
      await worker.settle(settlement.complete((await worker.claim(1))[0]!));
      expect(ids(await search(world(), { states: ['completed'], tags: ['a', 'two words'] }))).toEqual([both!.id]);
    });

    it('of the group, whatever stands in its name, also where they have run', async () => {
      world().store({ keepCompleted: 5 });
      const groups = ['a', 'a:1', 'a;1', '@a', 'ab', undefined];
      const made = await world().scheduleAll(groups.map((group) => ({ group, name: group ?? 'a' })));
      await world().schedule({ id: 'w', worker: 'a' });
      await world().schedule({ id: 'late', group: 'a', lateness: { maxLatenessMs: 9_000, onLate: 'run' } });
      expect(sorted(await search(world(), { group: 'a' }))).toEqual(['late', made[0]!.id].sort());
      for (const [i, group] of groups.slice(1, 5).entries())
        expect(ids(await search(world(), { group }))).toEqual([made[i + 1]!.id]);
      expect(await search(world(), { group: 'a', names: ['ab'] })).toEqual([]);
      const worker = world().worker('v', 'a:1');
      await worker.settle(settlement.complete((await worker.claim())[0]!));
      expect(ids(await search(world(), { states: ['completed'], group: 'a:1' }))).toEqual([made[1]!.id]);
      expect(await search(world(), { states: ['completed'], group: 'a' })).toEqual([]);
    });

    it('whose tag is not that of a job queued behind them', async () => {
      world().store();
      await world().schedule({ id: 'x', tags: ['old'] });
      await world().worker('w').claim();
      await world().replace({ id: 'x', tags: ['new'] });
      expect(await search(world(), { tags: ['new'] })).toEqual([]);
      expect(ids(await search(world(), { tags: ['old'] }))).toEqual(['x']);
    });

    it('whose ids begin so, be it with letters that are signs of a pattern', async () => {
      world().store();
      const odd = ['a*1', 'a[b]2', 'a?3', 'a\\4', 'ab5', 'é6'];
      for (const id of odd) await world().schedule({ id });
      expect(sorted(await search(world(), { idPrefix: 'a' }))).toEqual(odd.slice(0, 5).sort());
      for (const id of odd) expect(ids(await search(world(), { idPrefix: id.slice(0, -1) }))).toContain(id);
      expect(ids(await search(world(), { idPrefix: 'a*' }))).toEqual(['a*1']);
      expect(ids(await search(world(), { idPrefix: 'a[' }))).toEqual(['a[b]2']);
    });

    it('that are due from an instant on, and before another', async () => {
      world().store({ keepCompleted: 9 });
      const now = world().now();
      const [first, second, third] = await world().scheduleAll(
        [0, 1, 2].map((s) => ({ due: { at: now + s * 1_000 } })),
      );
      const between = { dueFromMs: now, dueToMs: now + 2_000 };
      expect(sorted(await search(world(), between))).toEqual(sorted([first!, second!]));
      expect(ids(await search(world(), { dueFromMs: now + 1_001 }))).toEqual([third!.id]);
      world().pass(5_000);
      const worker = world().worker('w');
      const [a, b] = await worker.claim(2);
      await worker.settle(settlement.complete(a!), settlement.dead(b!));
      await worker.claim(1);
      const states = ['active', 'completed', 'dead'] as const;
      expect(sorted(await search(world(), { ...between, states }))).toEqual(sorted([first!, second!]));
      expect(ids(await search(world(), { states, dueFromMs: now + 2_000 }))).toEqual([third!.id]);
    });
  });

  it('finds suspects, and jobs that prefer a worker', async () => {
    world().store({ maxCrashes: 2 });
    await world().schedule({ id: 'suspect' });
    await world().crash(1);
    await world().schedule({ id: 'prefers', worker: 'v' });
    expect(sorted(await search(world(), { states: ['due'] }))).toEqual(['prefers', 'suspect']);
  });

  it.each([
    ['jobs', {}],
    ['tag', { tags: ['stays'] }],
  ] as const)(
    'what is there from the first step to the last is found once while others come and go (%s)',
    async (_, selection) => {
      const { jobs } = world().store();
      const stay = await world().scheduleAll(Array.from({ length: 150 }, () => ({ tags: ['stays'] })));
      const go = await world().scheduleAll(
        Array.from({ length: 1_900 }, () => ({ tags: ['stays'], due: { delayMs: 9_000 } })),
      );
      const going = [...go];
      const found = await search(world(), selection, {
        size: 40,
        limit: 25,
        between: async () => {
          for (const { id } of going.splice(0, 380)) await jobs.cancel(id);
        },
      });
      const stayed = new Set(ids(stay));
      expect(sorted(found.filter(({ id }) => stayed.has(id)))).toEqual(sorted(stay));
    },
  );

  it('ended jobs that stay are found once while others end and go', async () => {
    const { jobs } = world().store({ keepCompleted: 500, keepDead: 500 });
    await world().scheduleAll(Array.from({ length: 80 }, () => ({})));
    const worker = world().worker('w');
    const claimed = await worker.claim(80);
    const states = ['completed', 'dead'] as const;
    await worker.settle(...claimed.map((job, i) => (i % 2 ? settlement.complete(job) : settlement.dead(job))));
    const going = ids(claimed).filter((_, i) => i % 3 === 0);
    const stay = ids(claimed).filter((_, i) => i % 3 !== 0);
    const found = await search(
      world(),
      { states },
      { between: async () => void (going[0] && (await jobs.remove(going.shift()!))) },
    );
    expect(sorted(found.filter(({ id }) => stay.includes(id)))).toEqual([...stay].sort());
  });
};
