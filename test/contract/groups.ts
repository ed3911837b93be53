import { describe, expect, it } from '@jest/globals';
import type { ClaimedJob, NewJob, Turn } from '../../lib/store/job-store.js';
import { payloads, settlement, type TestSession, type World } from './world.js';

/** Jobs of a group, or of none, that are named by it. */
export const some = (group: string | undefined, count: number, job: Partial<NewJob> = {}): Partial<NewJob>[] =>
  Array.from({ length: count }, () => ({ ...(group !== undefined && { group }), payload: group ?? '-', ...job }));

/** Claims so many, a few at a time, and completes each; answers their payloads in the order of their starts. */
export async function run(worker: TestSession, starts: number, at = 1, turn: Partial<Turn> = {}): Promise<string[]> {
  const found: ClaimedJob[] = [];
  let claimed: readonly ClaimedJob[] = [];
  do {
    const settlements = claimed.map((job) => settlement.complete(job));
    ({ claimed } = await worker.turn({ settlements, limit: Math.min(at, starts - found.length), ...turn }));
    found.push(...claimed);
  } while (claimed.length > 0 && found.length < starts);
  await worker.turn({ settlements: claimed.map((job) => settlement.complete(job)) });
  return payloads(found) as string[];
}

export const groups = (world: () => World): void => {
  const worker = (...names: string[]) => world().worker('w', ...names);

  describe('of one priority', () => {
    it.each([1, 4, 100])(
      'groups take turns with each other and with the jobs that have none, %i a claim',
      async (at) => {
        world().store();
        await world().scheduleAll([...some('b', 4), ...some('a', 3), ...some(undefined, 2), ...some('b', 2)]);
        expect((await run(worker(), 11, at)).join('')).toBe('-ab-ababbbb');
      },
    );

    it('jobs of one group come in due order, equal ones by id', async () => {
      world().store();
      const at = world().now();
      await world().scheduleAll([
        { group: 'a', id: 'y', payload: '3', due: { at: at + 5 } },
        { group: 'a', id: 'x', payload: '2', due: { at: at + 5 } },
        { group: 'a', id: 'z', payload: '1', due: { at: at + 4 }, name: 'other' },
        { group: 'b', payload: 'b', due: { at: at + 6 } },
      ]);
      world().pass(10);
      expect(await run(worker('work', 'other'), 4)).toEqual(['1', 'b', '2', '3']);
    });

    it('one of weight w starts w of its jobs for each one of weight 1', async () => {
      const { management } = world().store();
      await management.setGroup('three', { weight: 3 });
      await management.setGroup('two', { weight: 2 });
      await world().scheduleAll([...some('one', 350), ...some('two', 350), ...some('three', 350)]);
      const started = await run(worker(), 600, 50);
      const share = (group: string) => started.filter((each) => each === group).length / 100;
      for (const [group, weight] of [
        ['one', 1],
        ['two', 2],
        ['three', 3],
      ] as const) {
        expect(share(group)).toBeGreaterThan(weight * 0.95);
        expect(share(group)).toBeLessThan(weight * 1.05);
      }
    });

    it('one of half the weight starts half as many, and a new weight holds from the next claim on', async () => {
      const { management } = world().store();
      await management.setGroup('a', { weight: 0.5 });
      await world().scheduleAll([...some('a', 20), ...some('b', 20)]);
      expect((await run(worker(), 7)).join('')).toBe('abbabba');
      await management.setGroup('a', {});
      expect((await run(worker(), 5)).join('')).toBe('bbaba');
    });

    it('one that comes later joins at the present: it is next but for one start of each, and makes up for nothing', async () => {
      world().store();
      await world().scheduleAll([...some('a', 20), ...some('b', 20)]);
      await run(worker(), 11);
      await world().scheduleAll(some('new', 5));
      expect((await run(worker(), 8)).join(' ')).toBe('b new a b new a b new');
    });

    it('one that leaves its turns and comes back at once gains nothing', async () => {
      world().store();
      await world().scheduleAll([...some('b', 5), ...some('a', 1)]);
      const started: string[] = [];
      for (let i = 0; i < 6; i++) {
        started.push(...(await run(worker(), 1)));
        if (started.at(-1) === 'a') await world().scheduleAll(some('a', 1));
      }
      expect(started.join('')).toBe('ababab');
    });

    it('nor does one whose due jobs are cancelled while others come', async () => {
      const { jobs } = world().store();
      await world().scheduleAll([...some('b', 5), ...some('a', 1, { id: 'first' }), ...some('a', 1, { id: 'second' })]);
      expect(await run(worker(), 1)).toEqual(['a']);
      await jobs.cancel('second');
      await world().scheduleAll(some('a', 1));
      expect((await run(worker(), 3)).join('')).toBe('bab');
    });

    it('jobs without a group that were alone for long stand where the others join', async () => {
      world().store();
      await world().scheduleAll(some(undefined, 12));
      await run(worker(), 6);
      await world().scheduleAll(some('a', 4));
      expect((await run(worker(), 6)).join('')).toBe('-a-a-a');
    });

    it('one of whose jobs a worker may run none keeps its turn', async () => {
      world().store();
      await world().scheduleAll([...some('a', 5, { name: 'other' }), ...some('b', 9)]);
      expect((await run(worker(), 3)).join('')).toBe('bbb');
      const full = { handlers: [{ name: 'other', weight: 1, free: 0, size: 1 }] };
      expect((await run(worker('work', 'other'), 1, 1, full)).join('')).toBe('b');
      expect((await run(worker('work', 'other'), 7)).join('')).toBe('aaaaabb');
    });

    it('a start is a turn, whatever the job weighs, and a job that is late and discarded takes none', async () => {
      world().store();
      const lateness = { maxLatenessMs: 10, onLate: 'discard' } as const;
      await world().scheduleAll([...some('a', 1, { lateness }), ...some('b', 3), ...some('a', 2)]);
      world().pass(20);
      const heavy = { limit: 3, handlers: [{ name: 'work', weight: 3, free: 9, size: 1 }] };
      expect((await worker().turn(heavy)).late).toHaveLength(1);
      expect((await run(worker(), 5, 1, heavy)).join('')).toBe('ababb');
    });

    it('a job that goes back has had its turn', async () => {
      world().store();
      await world().scheduleAll([...some('a', 1), ...some('b', 2)]);
      const [job] = await worker().claim(1);
      await worker().settle(settlement.release(job!));
      expect((await run(worker(), 3)).join('')).toBe('bab');
    });

    it('pops take turns as well', async () => {
      world().store();
      await world().scheduleAll([...some('a', 3), ...some('b', 3)]);
      expect((await run(world().puller('p'), 6)).join('')).toBe('ababab');
    });
  });

  it('priority comes first, over all groups', async () => {
    world().store();
    await world().scheduleAll([...some('a', 3, { priority: 1 }), ...some('b', 3), ...some(undefined, 1)]);
    expect((await run(worker(), 7, 3)).join('')).toBe('aaa-bbb');
  });

  it('where jobs age, the job whose turn it is stands for its priority', async () => {
    world().store({ ordering: { mode: 'aging', msPerLevel: 100 } });
    const from = world().now();
    await world().scheduleAll([
      { group: 'a', payload: 'a0', priority: 5, due: { at: from } },
      { group: 'a', payload: 'a1', priority: 5, due: { at: from + 10 } },
      { group: 'b', payload: 'b600', priority: 5, due: { at: from + 600 } },
      { group: 'c', payload: 'c450', priority: 1, due: { at: from + 450 } },
    ]);
    world().pass(1_000);
    // By rank a1 comes before c450; but it is b's turn at its priority, and b600 comes behind c450.
    expect(await run(worker(), 4)).toEqual(['a0', 'c450', 'b600', 'a1']);
  });

  it('lists and peeks go by due time, not by turns', async () => {
    const { view } = world().store();
    const at = world().now();
    await world().scheduleAll(
      ['a', 'a', 'b'].map((group, i) => ({ group, payload: `${group}${i}`, due: { at: at + i } })),
    );
    world().pass(10);
    expect(payloads((await view.list('due', 0, 10)) as never)).toEqual(['a0', 'a1', 'b2']);
    expect(payloads((await view.peek(3, (job) => job)) as never)).toEqual(['a0', 'a1', 'b2']);
  });

  it('a group has any printable name, and its jobs keep it', async () => {
    const { view } = world().store();
    const names = [':', ';', ';1', ':2', '@', '!', '=a', '*', '^', '', 'two words', 'ü😀', 'x'.repeat(256)].filter(
      Boolean,
    );
    const made = await world().scheduleAll(names.flatMap((group) => some(group, 2)));
    for (const [i, { id }] of made.entries())
      expect((await world().job(id))?.envelope).toMatchObject({ group: names[Math.floor(i / 2)] });
    const states = ['due'] as const;
    for (const group of names)
      expect((await view.find({ states, group }, undefined, { size: 100, limit: 100 })).jobs).toHaveLength(2);
    const started = await run(worker(), 2 * names.length);
    expect(started.slice(0, names.length)).toEqual(
      [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    expect(started.slice(names.length)).toEqual(started.slice(0, names.length));
  });

  it('a job that is replaced takes the group of the one in its place', async () => {
    const { view } = world().store();
    await world().schedule({ id: 'x', group: 'a' });
    await world().replace({ id: 'x', group: 'b' });
    expect(await view.group('a')).toMatchObject({ waiting: 0 });
    expect(await view.group('b')).toMatchObject({ waiting: 1, due: 1 });
  });
};
