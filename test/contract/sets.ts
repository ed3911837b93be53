import { beforeEach, describe, expect, it } from '@jest/globals';
import type { NextJob } from '../../lib/store/job-store.js';
import { ids, newJob, settlement, type World } from './world.js';

type Outcome = 'completed' | 'dead' | 'discarded' | 'cancelled';

/** Each way out of a queue, for a job that waits and is due, in a queue in which nothing else is. */
const WAYS_OUT: Record<string, [Outcome, (world: World, id: string) => Promise<unknown>]> = {
  completes: ['completed', (world) => end(world, settlement.complete)],
  'completes under a chosen id': ['completed', (world) => end(world, settlement.completeChosen)],
  'is discarded': ['discarded', (world) => end(world, (job) => settlement.discard(job))],
  'is discarded as it is late': [
    'discarded',
    async (world, id) => {
      await world.replace({ id, set: 's', lateness: { maxLatenessMs: 1_000, onLate: 'discard' } });
      world.pass(2_000);
      await world.worker('w').claim();
    },
  ],
  'is dead as it is late': [
    'dead',
    async (world, id) => {
      await world.replace({ id, set: 's', lateness: { maxLatenessMs: 1_000, onLate: 'dead-letter' } });
      world.pass(2_000);
      await world.worker('w').claim();
    },
  ],
  dies: ['dead', (world) => end(world, settlement.dead)],
  'kills its workers': ['dead', (world) => world.crash(world.settings.maxCrashes)],
  'is cancelled by its handler': ['cancelled', (world) => end(world, settlement.cancel)],
  'is cancelled while it runs': [
    'cancelled',
    async (world, id) => {
      const worker = world.worker('w');
      const [job] = await worker.claim();
      await world.queue.jobs.cancelRunning(id);
      await worker.settle(settlement.complete(job!));
    },
  ],
  'is cancelled while it runs, and its worker dies': [
    'cancelled',
    async (world, id) => {
      await world.worker('w').claim();
      await world.queue.jobs.cancelRunning(id);
      await world.outlive();
    },
  ],
  'is cancelled': ['cancelled', (world, id) => world.queue.jobs.cancel(id)],
  'is removed': ['cancelled', (world, id) => world.queue.jobs.remove(id)],
  'is cleared away': ['cancelled', (world) => world.queue.management.clear()],
  'is cancelled by a tag': ['cancelled', (world) => world.queue.management.cancelTagged('a', () => {})],
  'is replaced by a job of no set': ['cancelled', (world, id) => world.replace({ id, name: 'work' })],
  'is to be last, as the job queued behind it was cancelled': [
    'cancelled',
    async (world, id) => {
      const worker = world.worker('w');
      const [job] = await worker.claim();
      await world.replace({ id });
      await world.queue.jobs.cancel(id);
      await worker.settle(settlement.retry(job!));
    },
  ],
  'completes before a job that was queued behind it': [
    'completed',
    async (world, id) => {
      const worker = world.worker('w');
      const [job] = await worker.claim();
      await world.replace({ id, due: { delayMs: 60_000 } });
      await worker.settle(settlement.complete(job!));
    },
  ],
  'fails before a job that was queued behind it': [
    'cancelled',
    async (world, id) => {
      const worker = world.worker('w');
      const [job] = await worker.claim();
      await world.replace({ id, due: { delayMs: 60_000 } });
      await worker.settle(settlement.retry(job!));
    },
  ],
};

async function end(world: World, how: (job: Claimed) => Parameters<Worker['settle']>[0]): Promise<void> {
  const worker = world.worker('w');
  await worker.settle(how((await worker.claim(1))[0]!));
}
type Worker = ReturnType<World['worker']>;
type Claimed = Awaited<ReturnType<Worker['claim']>>[0];

const DONE: NextJob = { ...newJob({ name: 'done' }), id: 'made-id', due: { delayMs: 0 } };
const NONE = { completed: 0, dead: 0, discarded: 0, cancelled: 0 };

export const sets = (world: () => World): void => {
  const open = (id = 's', done: NextJob | 'none' = DONE) =>
    world().queue.sets.open(id, done === 'none' ? undefined : done);
  const known = (id = 's') => world().queue.sets.read(id);
  /** The completion jobs that are there, by what they tell of their sets. */
  const completions = async () =>
    (await world().queue.view.list('due', 0, 10)).flatMap(({ envelope }) =>
      'setDone' in envelope && envelope.setDone ? [envelope.setDone] : [],
    );

  describe('the last member of a closed set', () => {
    it.each(Object.entries(WAYS_OUT))('that %s', async (_, [outcome, leave]) => {
      world().store({ maxCrashes: 2 });
      await open();
      await world().schedule({ id: 'x', set: 's', tags: ['a'] });
      await world().queue.sets.close('s');
      expect(await known()).toMatchObject({ state: 'closed', total: 1, pending: 1, ...NONE });
      expect(await completions()).toEqual([]);
      await leave(world(), 'x');
      const ended = { total: 1, ...NONE, [outcome]: 1 };
      expect(await known()).toMatchObject({ state: 'done', pending: 0, ...ended });
      expect(await completions()).toEqual([{ id: 's', ...ended }]);
    });
  });

  describe('a set that is open', () => {
    beforeEach(async () => {
      world().store();
      await open();
    });

    it.each(Object.entries(WAYS_OUT))('counts a member that %s, and is not done', async (_, [outcome, leave]) => {
      world().store({ maxCrashes: 2 });
      await open();
      await world().schedule({ id: 'x', set: 's', tags: ['a'] });
      await leave(world(), 'x');
      expect(await known()).toMatchObject({ state: 'open', total: 1, pending: 0, ...NONE, [outcome]: 1 });
      expect(await completions()).toEqual([]);
      expect(await world().queue.sets.close('s')).toBe(true);
      expect(await completions()).toEqual([{ id: 's', total: 1, ...NONE, [outcome]: 1 }]);
    });

    it('is opened once', async () => {
      expect(await open()).toEqual({ isOpened: false, state: 'open' });
      await world().schedule({ set: 's' });
      await world().queue.sets.close('s');
      expect(await open()).toEqual({ isOpened: false, state: 'closed' });
      await end(world(), settlement.complete);
      expect(await open()).toEqual({ isOpened: false, state: 'done' });
    });

    it('is done as it is closed where it has no members, and once', async () => {
      expect(await world().queue.sets.close('s')).toBe(true);
      expect(await world().queue.sets.close('s')).toBe(false);
      expect(await completions()).toEqual([{ id: 's', total: 0, ...NONE }]);
    });

    it('without a completion job is done without one', async () => {
      await open('t', 'none');
      await world().queue.sets.close('t');
      expect(await known('t')).toMatchObject({ state: 'done', total: 0 });
      expect(await completions()).toEqual([]);
    });

    it('has the members that came before and after it was closed', async () => {
      await world().scheduleAll([{ set: 's' }, { set: 's' }]);
      await world().queue.sets.close('s');
      const worker = world().worker('w');
      const [first, second] = await worker.claim(2);
      await world().schedule({ set: 's' });
      await worker.settle(settlement.complete(first!), settlement.complete(second!));
      expect(await known()).toMatchObject({ state: 'closed', total: 3, pending: 1, completed: 2 });
      await end(world(), settlement.complete);
      expect(await completions()).toEqual([{ id: 's', total: 3, ...NONE, completed: 3 }]);
    });

    it('keeps a member that is tried again, put off or put back', async () => {
      await world().schedule({ set: 's' });
      await world().queue.sets.close('s');
      const worker = world().worker('w');
      for (const how of [settlement.retry, (job: Claimed) => settlement.snooze(job, 0), settlement.release])
        await worker.settle(how((await worker.claim())[0]!));
      await worker.claim();
      await world().outlive();
      expect(await known()).toMatchObject({ state: 'closed', total: 1, pending: 1, ...NONE });
      await end(world(), settlement.complete);
      expect(await completions()).toHaveLength(1);
    });

    it('keeps as one member a job that a member of it replaces', async () => {
      await world().schedule({ id: 'x', set: 's' });
      await world().replace({ id: 'x', set: 's' });
      const worker = world().worker('w');
      const [job] = await worker.claim();
      await world().replace({ id: 'x', set: 's' });
      await worker.settle(settlement.complete(job!));
      expect(await known()).toMatchObject({ total: 1, pending: 1, ...NONE });
      await end(world(), settlement.complete);
      expect(await known()).toMatchObject({ total: 1, pending: 0, completed: 1 });
    });

    it('gets the job that is queued behind a member of another set at once', async () => {
      await open('t', { ...DONE, id: 'other' });
      await world().schedule({ id: 'x', set: 's' });
      const worker = world().worker('w');
      const [job] = await worker.claim();
      await world().replace({ id: 'x', set: 't' });
      for (const id of ['s', 't']) await world().queue.sets.close(id);
      expect([await known('s'), await known('t')]).toMatchObject([{ pending: 1 }, { pending: 1 }]);
      await worker.settle(settlement.complete(job!));
      expect([await known('s'), await known('t')]).toMatchObject([{ state: 'done', completed: 1 }, { pending: 1 }]);
      await world().queue.jobs.cancel('x');
      expect(await known('t')).toMatchObject({ state: 'done', cancelled: 1 });
    });

    it('takes a dead member back that is replayed before it is done', async () => {
      await world().scheduleAll([
        { id: 'x', set: 's' },
        { set: 's', due: { delayMs: 60_000 } },
      ]);
      await end(world(), settlement.dead);
      expect(await known()).toMatchObject({ pending: 1, dead: 1 });
      await world().queue.management.replayDead('x', { delayMs: 0 });
      expect(await known()).toMatchObject({ total: 2, pending: 2, ...NONE });
      await end(world(), settlement.complete);
      expect(await known()).toMatchObject({ total: 2, pending: 1, completed: 1, dead: 0 });
    });

    it('does not count a dead member again that is purged, removed or pushed out', async () => {
      await world().scheduleAll([
        { id: 'x', set: 's' },
        { id: 'y', set: 's' },
      ]);
      for (let i = 0; i < 2; i++) await end(world(), settlement.dead);
      await world().queue.jobs.remove('x');
      await world().replace({ id: 'y', due: { delayMs: 60_000 } });
      expect(await known()).toMatchObject({ total: 2, pending: 0, ...NONE, dead: 2 });
    });

    it('that is over takes no member, and a dead one of it runs uncounted', async () => {
      await world().schedule({ id: 'x', set: 's' });
      await end(world(), settlement.dead);
      await world().queue.sets.close('s');
      for (const set of ['s', 'nowhere']) {
        await expect(world().schedule({ id: 'y', set })).rejects.toMatchObject({ reason: 'set-over' });
        await expect(world().schedule({ set })).rejects.toMatchObject({ reason: 'set-over' });
        await expect(world().replace({ id: 'y', set })).rejects.toMatchObject({ reason: 'set-over' });
      }
      expect(await world().job('y')).toBeUndefined();
      await world().queue.management.replayDead('x', { delayMs: 0 });
      await end(world(), settlement.complete);
      expect(await known()).toMatchObject({ state: 'done', total: 1, ...NONE, dead: 1 });
    });

    it('refuses single members of many, and the others are there', async () => {
      const told: unknown[] = [];
      const jobs = [newJob({ set: 's' }), newJob({ set: 'nowhere' }), newJob(), newJob({ id: 'z', set: 's' })];
      await world().queue.jobs.scheduleMany(jobs, (i, answer, error) => {
        told[i] = answer?.status ?? (error as { reason?: string }).reason;
      });
      expect(told).toEqual(['created', 'set-over', 'created', 'created']);
      expect(await known()).toMatchObject({ total: 2, pending: 2 });
    });

    it('does not get a member by an id that is there', async () => {
      await world().schedule({ id: 'x', due: { delayMs: 60_000 } });
      expect(await world().schedule({ id: 'x', set: 's' })).toMatchObject({ status: 'waiting' });
      expect(await world().schedule({ id: 'x', set: 'nowhere' })).toMatchObject({ status: 'waiting' });
      expect(await known()).toMatchObject({ total: 0 });
    });

    it('counts many that end in one turn, each by its own end', async () => {
      await world().scheduleAll(Array.from({ length: 6 }, () => ({ set: 's' })));
      await world().queue.sets.close('s');
      const worker = world().worker('w');
      const [a, b, c, d, e, f] = await worker.claim(6);
      await worker.settle(
        settlement.complete(a!),
        settlement.dead(b!),
        settlement.discard(c!),
        settlement.complete(d!),
        settlement.cancel(e!),
        settlement.complete(f!),
      );
      expect(await completions()).toEqual([{ id: 's', total: 6, completed: 3, dead: 1, discarded: 1, cancelled: 1 }]);
    });

    it('whose completion job waits a while is done before', async () => {
      await open('t', { ...DONE, id: 'later', due: { delayMs: 30_000 } });
      const at = world().now();
      await world().queue.sets.close('t');
      expect(await world().job('later')).toMatchObject({ state: 'scheduled', dueAtMs: at + 30_000 });
      expect(await known('t')).toMatchObject({ state: 'done' });
    });

    it('wakes a worker for its completion job', async () => {
      const sleeper = await world().worker('sleeper', 'done').listens();
      await sleeper.sleeps();
      await world().queue.sets.close('s');
      expect(await sleeper.isTold()).toBeLessThanOrEqual(0);
    });

    it('tells of its completion job whoever has ended the last member', async () => {
      await world().schedule({ set: 's' });
      await world().queue.sets.close('s');
      const worker = world().worker('w');
      const [job] = await worker.claim();
      const { completions } = await worker.turn({ settlements: [settlement.complete(job!)] });
      expect(completions).toEqual([{ id: 'made-id', name: 'done', dueAtMs: world().now() }]);
    });

    it('tells of its completion job the call that has ended the last member', async () => {
      const told: unknown[] = [];
      world().whole.hearCompletions((queue, job) => told.push([queue, job.id, job.name]));
      await world().schedule({ id: 'x', set: 's' });
      await world().queue.sets.close('s');
      await world().queue.jobs.cancel('x');
      expect(told).toEqual([['default', 'made-id', 'done']]);
    });
  });

  describe('of sets', () => {
    it('all are listed, those that are not done first, each kind latest first', async () => {
      world().store();
      for (const id of ['a', 'b', 'c', 'd']) {
        await open(id, 'none');
        await world().schedule({ set: id, due: { delayMs: 60_000 } });
        world().pass(1);
      }
      for (const id of ['b', 'a']) {
        await world().queue.sets.close(id);
        world().pass(1);
      }
      for (const { id } of await world().queue.view.list('scheduled', 0, 2)) await world().queue.jobs.cancel(id);
      const { sets } = world().queue;
      const states = async (...args: Parameters<typeof sets.list>) => ids(await sets.list(...args));
      expect(await states(['open', 'closed', 'done'], 100)).toEqual(['d', 'c', 'b', 'a']);
      expect(await states(['closed', 'done'], 100)).toEqual(['b', 'a']);
      expect(await states(['open'], 1)).toEqual(['d']);
    });

    it('a done one is remembered for keepIdsMs', async () => {
      world().store({ keepIdsMs: 60_000 });
      await open();
      await world().queue.sets.close('s');
      world().pass(59_999);
      expect(await known()).toMatchObject({ state: 'done' });
      world().pass(1);
      expect(await known()).toBeUndefined();
      expect(await world().queue.sets.list(['done'], 10)).toEqual([]);
      expect(await open()).toEqual({ isOpened: true, state: 'open' });
    });

    it('members are found by their set, the dead ones among the dead', async () => {
      world().store();
      await open();
      await world().scheduleAll([
        { id: 'dies', set: 's' },
        { id: 'waits', set: 's', tags: ['a'], due: { delayMs: 60_000 } },
        { id: 'other', due: { delayMs: 60_000 } },
      ]);
      await end(world(), settlement.dead);
      const found = async (selection: object) => {
        const { jobs } = await world().queue.view.find(
          { states: ['scheduled', 'due', 'active'], ...selection },
          undefined,
          {
            size: 100,
            limit: 100,
          },
        );
        return ids(jobs);
      };
      expect(await found({ set: 's' })).toEqual(['waits']);
      expect(await found({ set: 's', tags: ['a'] })).toEqual(['waits']);
      expect(await found({ set: 's', tags: ['b'] })).toEqual([]);
      expect(await found({ set: 's', states: ['dead'] })).toEqual(['dies']);
      const job = await world().job('waits');
      expect(job?.envelope).toMatchObject({ set: 's', tags: ['a'] });
    });

    it('all members of a large set are found, page by page', async () => {
      world().store();
      await open();
      const members = Array.from({ length: 700 }, (_, i) => `m${i}`);
      await world().scheduleAll(members.map((id) => ({ id, set: 's' })));
      const found = new Set<string>();
      const selection = { states: ['scheduled', 'due'] as const, set: 's' };
      let cursor: string | undefined;
      do {
        const page = await world().queue.view.find(selection, cursor, { size: 100, limit: 100 });
        for (const { id } of page.jobs) found.add(id);
        cursor = page.next;
      } while (cursor !== undefined);
      expect([...found].sort()).toEqual(members.sort());
    });
  });
};
