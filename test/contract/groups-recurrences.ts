import { describe, expect, it } from '@jest/globals';
import type { ClaimedJob } from '../../lib/store/job-store.js';
import { MINUTE, recurrenceOf, SECOND } from './recurring.js';
import { settlement, type World } from './world.js';

/** Recurrences whose occurrences wait for the previous one (`overlap: 'queue'`), in groups that hold jobs back themselves. */
export const groupsRecurrences = (world: () => World): void => {
  const PERIOD = 10 * MINUTE;
  /** Where an occurrence looks whether the previous one has ended. */
  const LOOKS_MS = 250;
  const worker = () => world().worker('w');

  /** The first occurrence of a recurrence in group `a` runs. */
  async function started(groups: object, rule: object = {}) {
    const { recurrences, view } = world().store({ leaseMs: 36_000_000, groups });
    const every = { everyMs: PERIOD, overlap: 'queue', ...rule } as const;
    const at = (await recurrences.upsert(recurrenceOf(every, { group: 'a' }))).nextAtMs!;
    /** Passes the time to an instant, in periods after the first. */
    const passTo = (periods: number) => world().pass(at + periods * PERIOD - world().now());
    passTo(0);
    const [first] = await worker().claim();

    /** Ends these; answers what one turn claims and leaves out, occurrences by their number. */
    async function turn(...ended: ClaimedJob[]) {
      world().pass(LOOKS_MS);
      const settlements = ended.map((job) => settlement.completeChosen(job));
      const { claimed, skippedOccurrences } = await worker().turn({ settlements, limit: 5 });
      const named = (id: string) => id.replace(/^r@(\d+)$/, (_, instant) => `r+${(Number(instant) - at) / PERIOD}`);
      const leftOut = skippedOccurrences.map(({ id, reason }) => `${named(id)} ${reason}`);
      return { claimed, saw: [...claimed.map(({ id }) => named(id)), ...leftOut].join(', ') };
    }
    /** Ends what runs, until nothing of the group is due; answers what has run. */
    async function drain(...running: ClaimedJob[]): Promise<string[]> {
      const seen: string[] = [];
      for (let ended = running; ended.length > 0; ) {
        const { claimed, saw } = await turn(...ended);
        if (claimed.length > 0) seen.push(saw);
        ended = [...claimed];
      }
      return seen;
    }
    const addDue = (id: string, more = {}) => world().schedule({ id, group: 'a', ...more });
    return { recurrences, view, first: first!, at, passTo, turn, drain, addDue };
  }

  it.each([
    ['without a limit', {}],
    ['with a concurrency above 1', { concurrency: 2 }],
  ])('an occurrence that waits for the previous one takes no place of its group %s', async (_, groups) => {
    const { first, passTo, turn, addDue } = await started(groups);
    passTo(1);
    expect((await turn()).saw).toBe('');
    await addDue('x');
    const { claimed, saw } = await turn();
    expect(saw).toBe('x');
    expect((await turn()).saw).toBe('');
    expect((await turn(first)).saw).toBe('r+1');
    await worker().settle(settlement.completeChosen(claimed[0]!));
  });

  describe.each([
    ['concurrency', { concurrency: 1 }],
    ['order', { order: 'fifo' as const }],
  ])('in a group that one job holds by its %s', (kind, groups) => {
    it('an occurrence waits for its group, begins in the turn that ends the previous one, and before jobs that were due later', async () => {
      const { first, view, passTo, turn, drain, addDue } = await started(groups);
      passTo(1);
      world().pass(1);
      await addDue('x');
      expect((await turn()).saw).toBe('');
      expect(await view.group('a')).toMatchObject({ due: 2, active: 1, heldBy: kind });
      expect(await view.heldDue()).toBe(2);
      const { claimed, saw } = await turn(first);
      expect(saw).toBe('r+1');
      expect(await drain(...claimed)).toEqual(['x']);
      expect(await view.group('a')).toMatchObject({ waiting: 1, due: 0, active: 0 });
    });

    it('those that their group has held up until a later one was due are missed, and only the latest of these is made up for', async () => {
      const { first, passTo, turn, drain, addDue } = await started(groups);
      passTo(1);
      world().pass(1);
      await addDue('x');
      for (const periods of [2, 3]) {
        passTo(periods);
        world().pass(SECOND);
        expect((await turn()).saw).toBe('');
      }
      expect((await turn(first)).saw).toBe('r+1 missed');
      const { claimed, saw } = await turn();
      expect(saw).toBe('x');
      expect(await drain(...claimed)).toEqual(['r+2', 'r+3']);
      expect(await world().queue.view.stats()).toMatchObject({ started: 4, completed: 4, discarded: 1 });
    });

    it('one that its group has held for longer than a minute is left out where no missed one is made up for', async () => {
      const { first, passTo, turn } = await started(groups, { onMissed: 'skip' });
      passTo(1);
      world().pass(2 * MINUTE);
      expect((await turn(first)).saw).toBe('r+1 missed');
    });

    it('where all are made up for, each runs at its place among the jobs of the group', async () => {
      const { first, passTo, drain, addDue } = await started(groups, { onMissed: 'all' });
      for (const periods of [1, 2]) {
        passTo(periods);
        world().pass(1);
        await addDue(`x+${periods}`);
      }
      passTo(3);
      expect(await drain(first)).toEqual(['r+1', 'x+1', 'r+2', 'x+2', 'r+3']);
    });
  });

  it('an occurrence that waits between two attempts holds the next one and its group, in order', async () => {
    const { first, passTo, turn, drain, addDue } = await started({ order: 'fifo' });
    await worker().settle(settlement.retry(first, PERIOD + MINUTE));
    passTo(1);
    world().pass(1);
    await addDue('x');
    expect((await turn()).saw).toBe('');
    world().pass(MINUTE);
    const { claimed, saw } = await turn();
    expect(saw).toBe('r+0');
    expect(await drain(...claimed)).toEqual(['r+1', 'x']);
  });

  it('an occurrence that waits for the previous one, which is of another group, holds no group in order', async () => {
    const { recurrences, first, passTo, turn, addDue } = await started({ order: 'fifo' });
    const moved = recurrenceOf({ everyMs: PERIOD, overlap: 'queue' }, { group: 'b' });
    await recurrences.upsert(moved);
    passTo(1);
    expect((await turn()).saw).toBe('');
    await addDue('x', { group: 'b' });
    const { claimed, saw } = await turn();
    expect(saw).toBe('x');
    expect((await turn(first)).saw).toBe('');
    expect((await turn(claimed[0]!)).saw).toBe('r+1');
  });
};
