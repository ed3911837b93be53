import { describe, expect, it } from '@jest/globals';
import type { QueueOptions } from '../../lib/core/options/queue-options.js';
import type { StoredJob } from '../../lib/store/job-store.js';
import { inspectorOf } from './inspected.js';
import { MINUTE, recurrenceOf, SECOND } from './recurring.js';
import type { World } from './world.js';
import { settlement } from './world.js';

type Way = [name: string, end: (world: World) => Promise<unknown>, kept: Partial<StoredJob>, dueInMs?: number];

const discardIfLate = { lateness: { maxLatenessMs: 100, onLate: 'discard' as const } };

/** It begins a moment after it was due. */
const run = async (world: World) => {
  world.pass(7);
  return (await world.worker('w').claim())[0]!;
};

/** Each ends job `x` in a way of its own. `dueInMs`: how long after the beginning it was due at last; 0 unless said otherwise. */
const WAYS: Way[] = [
  [
    'its handler discards it',
    async (world) => {
      await world.schedule({ id: 'x' });
      const reason = 'no longer "needed"\n';
      await world.worker('w').settle(settlement.discard(await run(world), true, reason));
    },
    { state: 'discarded', reason: 'no longer "needed"\n', attempts: 1 },
  ],
  [
    'its handler discards it without a reason',
    async (world) => {
      await world.schedule({ id: 'x' });
      await world.worker('w').settle(settlement.discard(await run(world)));
    },
    { state: 'discarded', reason: '', attempts: 1 },
  ],
  [
    'it is too late',
    async (world) => {
      await world.schedule({ id: 'x', ...discardIfLate });
      world.pass(101);
      await world.worker('w').turn({ limit: 1 });
    },
    { state: 'discarded', reason: 'late', attempts: 0 },
  ],
  [
    'it is cancelled while it waits',
    async (world) => {
      await world.schedule({ id: 'x', due: { delayMs: 5_000 } });
      await world.queue.jobs.cancel('x');
    },
    { state: 'cancelled', reason: 'cancel', attempts: 0 },
    5_000,
  ],
  [
    'it is cancelled between two attempts',
    async (world) => {
      await world.schedule({ id: 'x' });
      await world.worker('w').settle(settlement.retry(await run(world), 5_000));
      await world.queue.jobs.cancel('x');
    },
    { state: 'cancelled', reason: 'cancel', attempts: 1 },
    5_007,
  ],
  [
    'it is cancelled by its tag',
    async (world) => {
      await world.schedule({ id: 'x', tags: ['t', 'u'] });
      await world.queue.management.cancelTagged('t', () => {});
    },
    { state: 'cancelled', reason: 'cancelTagged', attempts: 0 },
  ],
  [
    'its queue is cleared',
    async (world) => {
      await world.schedule({ id: 'x' });
      await world.queue.management.clear();
    },
    { state: 'cancelled', reason: 'clear', attempts: 0 },
  ],
  [
    'its run is cancelled',
    async (world) => {
      await world.schedule({ id: 'x' });
      const job = await run(world);
      await world.queue.jobs.cancelRunning('x');
      await world.worker('w').settle(settlement.complete(job));
    },
    { state: 'cancelled', reason: 'cancelRunning', attempts: 1 },
  ],
  [
    'its run is cancelled and its worker dies',
    async (world) => {
      await world.schedule({ id: 'x' });
      await run(world);
      await world.queue.jobs.cancelRunning('x');
      await world.outlive();
    },
    { state: 'cancelled', reason: 'cancelRunning', attempts: 1 },
  ],
  [
    'the job that was queued behind its run is cancelled',
    async (world) => {
      await world.schedule({ id: 'x' });
      const job = await run(world);
      await world.replace({ id: 'x' });
      await world.queue.jobs.cancel('x');
      await world.worker('w').settle(settlement.retry(job));
    },
    { state: 'cancelled', reason: 'cancel', attempts: 1 },
  ],
  [
    'a pop cancels it',
    async (world) => {
      await world.schedule({ id: 'x' });
      const puller = world.puller('p');
      const [job] = await puller.claim();
      await puller.settle(settlement.cancel(job!));
    },
    { state: 'cancelled', reason: 'cancelRunning', attempts: 1 },
  ],
];

/** On the second, so that the case can say when an occurrence comes. */
const open = (world: World, options: QueueOptions) => {
  world.pass(SECOND - (world.now() % SECOND));
  return world.store(options);
};

export const ended = (world: () => World): void => {
  const discard = async (count: number) => {
    const made = await world().scheduleAll(Array.from({ length: count }, () => ({})));
    const worker = world().worker('w');
    await worker.turn({ settlements: (await worker.claim(count)).map((job) => settlement.discard(job)) });
    return made.map(({ id }) => id);
  };
  const keptOf = async (ids: readonly string[]) => {
    const jobs = await Promise.all(ids.map((id) => world().job(id)));
    return ids.filter((_, i) => jobs[i]);
  };

  describe.each(WAYS)('where %s', (_, end, kept, dueInMs = 0) => {
    it('what has become of a job is kept, without its payload', async () => {
      const { view } = world().store({ keepEnded: 5 });
      const dueAtMs = world().now() + dueInMs;
      await end(world());
      const job = await world().job('x');
      expect(job).toMatchObject({ id: 'x', crashes: 0, failures: [], dueAtMs, ...kept });
      // A lease that runs out is found in the turn after that.
      expect([world().now(), world().now() - 1]).toContain(job?.endedAtMs);
      expect(job?.envelope).toMatchObject({ name: 'work', priority: 5, payload: '' });
      expect(job).not.toHaveProperty('result');
      expect(await view.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
    });

    it('nothing is kept by default', async () => {
      world().store();
      await end(world());
      expect(await world().job('x')).toBeUndefined();
    });

    it('a new job of the id takes its place', async () => {
      const { jobs } = world().store({ keepEnded: 5, keepIdsMs: 0 });
      await end(world());
      expect((await world().schedule({ id: 'x' })).status).toBe('created');
      expect((await world().job('x'))?.state).toBe('due');
      expect(await jobs.remove('x')).toBe(true);
      expect(await world().job('x')).toBeUndefined();
    });
  });

  it('a job that replaces one that has ended takes its place', async () => {
    const { jobs } = world().store({ keepEnded: 5 });
    await world().schedule({ id: 'x' });
    await jobs.cancel('x');
    expect((await world().replace({ id: 'x' })).status).toBe('created');
    const job = await run(world());
    await world().worker('w').settle(settlement.complete(job));
    expect(await world().job('x')).toBeUndefined();
  });

  it('nothing is kept of a job that was removed, and remove deletes what is kept', async () => {
    const { jobs } = world().store({ keepEnded: 5 });
    await world().scheduleAll([{ id: 'x' }, { id: 'y' }]);
    expect(await jobs.remove('x')).toBe(true);
    expect(await world().job('x')).toBeUndefined();
    await jobs.cancel('y');
    expect(await jobs.remove('y')).toBe(true);
    expect(await jobs.remove('y')).toBe(false);
    expect(await world().job('y')).toBeUndefined();
  });

  it('a discarded id is remembered as ever, until what is kept is removed', async () => {
    const { jobs } = world().store({ keepEnded: 5 });
    await world().schedule({ id: 'x' });
    await world()
      .worker('w')
      .settle(settlement.discard(await run(world()), true));
    expect((await world().schedule({ id: 'x' })).status).toBe('ended');
    expect((await world().job('x'))?.state).toBe('discarded');
    await jobs.remove('x');
    expect((await world().schedule({ id: 'x' })).status).toBe('created');
  });

  it('a job whose place a queued one takes leaves nothing', async () => {
    const { jobs } = world().store({ keepEnded: 5 });
    await world().schedule({ id: 'x' });
    const job = await run(world());
    await world().replace({ id: 'x' });
    await world().worker('w').settle(settlement.discard(job));
    expect((await world().job('x'))?.state).toBe('due');
    // A record of the first one would show up once the second is gone.
    expect(await jobs.remove('x')).toBe(true);
    expect(await world().job('x')).toBeUndefined();
  });

  it('all that an envelope says stays', async () => {
    const { jobs } = world().store({ keepEnded: 5 });
    await world().schedule({
      id: 'x',
      tags: ['a', 'b c'],
      priority: 2,
      worker: 'v',
      settings: { maxAttempts: 3, headers: { a: 'b' } },
      payload: 'line\nbreak\n',
      ...discardIfLate,
    });
    const { envelope } = (await world().job('x'))!;
    await jobs.cancel('x');
    expect((await world().job('x'))?.envelope).toEqual({ ...envelope, payload: '' });
  });

  it('the inspector shows when and why it ended, and no payload', async () => {
    const { jobs } = world().store({ keepEnded: 5 });
    await world().schedule({ id: 'x', payload: '{"secret":1}', tags: ['a'] });
    const { inspector } = inspectorOf(world());
    await jobs.cancel('x');
    const job = await inspector.job('x');
    expect(job).toMatchObject({ state: 'cancelled', reason: 'cancel', endedAt: new Date(world().now()), tags: ['a'] });
    expect(job?.payload).toBeUndefined();
  });

  it('no more stay than are to be kept, the latest, whoever ends them', async () => {
    const { jobs } = world().store({ keepEnded: 3 });
    const first = await discard(2);
    world().pass(1);
    await world().scheduleAll(['a', 'b'].map((id) => ({ id })));
    await jobs.cancel('a');
    world().pass(1);
    await jobs.cancel('b');
    expect(await keptOf([...first, 'a', 'b'])).toEqual([[...first].sort()[1], 'a', 'b']);
    world().pass(1);
    const last = await discard(5);
    expect(await keptOf(last)).toHaveLength(3);
    expect(await keptOf(['a', 'b'])).toEqual([]);
  });

  it('what is too old is dropped by turns that find nothing, and by the next call that cancels', async () => {
    const { jobs } = world().store({ keepEnded: { ageMs: 5_000 } });
    const first = await discard(2);
    world().pass(4_999);
    await world().worker('w').turn({ limit: 1 });
    expect(await keptOf(first)).toEqual(first);
    world().pass(1);
    await world().worker('w').turn({ limit: 1 });
    expect(await keptOf(first)).toEqual([]);
    const second = await discard(1);
    await world().schedule({ id: 'x' });
    world().pass(5_000);
    await jobs.cancel('x');
    expect(await keptOf([...second, 'x'])).toEqual(['x']);
  });

  describe('of an occurrence', () => {
    const at = () => Math.ceil(world().now() / MINUTE) * MINUTE;

    it.each<[string, (world: World) => Promise<unknown>]>([
      ['paused', ({ queue }) => queue.recurrences.pause('r')],
      ['removed', ({ queue }) => queue.recurrences.remove('r')],
      ['changed', ({ queue }) => queue.recurrences.upsert(recurrenceOf({ everyMs: 7_000 }))],
    ])('whose recurrence is %s it says that', async (_, change) => {
      const { recurrences } = open(world(), { keepEnded: 5 });
      world().pass(1);
      const id = `r@${at()}`;
      await recurrences.upsert(recurrenceOf());
      await change(world());
      expect(await world().job(id)).toMatchObject({ state: 'cancelled', reason: 'recurrence', attempts: 0 });
    });

    it('that was missed it says that, and a backfill takes its place', async () => {
      const { recurrences } = open(world(), { keepEnded: 5 });
      world().pass(1);
      const first = at();
      await recurrences.upsert(recurrenceOf({ onMissed: 'skip' }));
      world().pass(5 * MINUTE + 1);
      await world().worker('w').turn({ limit: 1 });
      expect(await world().job(`r@${first}`)).toMatchObject({ state: 'discarded', reason: 'missed' });
      await recurrences.backfill('r', [first]);
      expect((await world().job(`r@${first}`))?.state).toBe('due');
    });

    it('whose previous one has not ended it says that', async () => {
      const { recurrences } = open(world(), { keepEnded: 5, leaseMs: 600_000 });
      world().pass(1);
      const first = at();
      await recurrences.upsert(recurrenceOf({ overlap: 'skip' }));
      world().pass(first - world().now());
      await world().worker('w').claim();
      world().pass(MINUTE);
      await world().worker('v').turn({ limit: 1 });
      expect(await world().job(`r@${first + MINUTE}`)).toMatchObject({ state: 'discarded', reason: 'overlap' });
    });

    it('that is armed anew under its id, nothing is left', async () => {
      const { jobs, recurrences } = open(world(), { keepEnded: 5 });
      world().pass(1);
      const id = `r@${at()}`;
      await recurrences.upsert(recurrenceOf());
      await recurrences.pause('r');
      await recurrences.resume('r');
      expect((await world().job(id))?.state).toBe('scheduled');
      expect(await jobs.remove(id)).toBe(true);
      expect(await world().job(id)).toBeUndefined();
    });
  });
};
