import { hostname } from 'node:os';
import { expect, it } from '@jest/globals';
import { VERSION } from '../../lib/core/version.js';
import { ids, newJob, payloads, settlement, TestSession, type World } from './world.js';

/** The options of a queue that was given none. */
const DEFAULT_OPTIONS = {
  ordering: { mode: 'strict' },
  rateLimit: null,
  globalConcurrency: null,
  keepCompleted: { count: 0, ageMs: null },
  keepDead: { count: 10_000, ageMs: null },
  keepIdsMs: 600_000,
  leaseMs: 15_000,
  stealAfterMs: 5_000,
  maxCrashes: 3,
  streamEvents: false,
  codec: 'json',
};

export const views = (world: () => World): void => {
  it('of an empty queue there is nothing', async () => {
    const { view } = world().store();
    expect(await view.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
    expect(await view.countsByPriority()).toEqual([]);
    expect(await view.nextDue()).toEqual({ dueAtMs: undefined, nowMs: world().now() });
    const overview = { counts: await view.counts(), dueAtMs: undefined, nowMs: world().now() };
    expect(await view.overview(5_000)).toEqual(overview);
    expect(await view.stats()).toEqual({});
    expect(await view.job('unknown')).toBeUndefined();
    expect(await view.peek(5, ({ id }) => id)).toEqual([]);
    expect(await view.workers()).toEqual([]);
    expect(await view.handledBy('work')).toEqual({ count: 0, workers: [] });
    expect(await view.pausedUntil()).toBeUndefined();
    expect(await view.limits()).toMatchObject({ running: 0, started: 0 });
  });

  it('counts the jobs by state', async () => {
    const { view } = world().store({ keepCompleted: 5 });
    await world().scheduleAll([{}, {}, {}, { due: { delayMs: 5_000 } }, { worker: 'v' }, { name: 'other' }]);
    const worker = world().worker('w');
    const [a, b] = await worker.turn({ limit: 3 }).then(({ claimed }) => claimed);
    await worker.settle(settlement.complete(a!), settlement.dead(b!));
    expect(await view.counts()).toEqual({ scheduled: 1, due: 2, active: 1, completed: 1, dead: 1 });
    world().pass(5_000);
    expect(await view.counts()).toMatchObject({ scheduled: 0, due: 3 });
  });

  it('counts the waiting jobs by priority, most urgent first', async () => {
    const { view } = world().store();
    await world().scheduleAll([
      { priority: 10 },
      { priority: 2, due: { delayMs: 5 } },
      { priority: 2, worker: 'w' },
      { priority: 100, name: 'other' },
    ]);
    expect(await view.countsByPriority()).toEqual([
      { priority: 2, scheduled: 1, due: 1 },
      { priority: 10, scheduled: 0, due: 1 },
      { priority: 100, scheduled: 0, due: 1 },
    ]);
  });

  it('tells when the earliest waiting job is due, be it past', async () => {
    const { view } = world().store();
    await world().schedule({ due: { delayMs: 9_000 } });
    const { dueAtMs } = await world().schedule({ due: { delayMs: 3_000 }, worker: 'w', priority: 9 });
    expect(await view.nextDue()).toEqual({ dueAtMs, nowMs: world().now() });
    world().pass(60_000);
    expect((await view.nextDue()).dueAtMs).toBe(dueAtMs);
    const counts = { scheduled: 0, due: 2, active: 0, completed: 0, dead: 0 };
    expect(await view.overview(5_000)).toEqual({ counts, dueAtMs, nowMs: world().now() });
  });

  it('lists scheduled jobs by due time, those of many names and priorities too', async () => {
    const { view } = world().store();
    const made = await world().scheduleAll(
      [5, 3, 9, 1, 7].map((s, i) => ({ due: { delayMs: s * 1_000 }, name: `n${i}`, priority: 9 - i })),
    );
    expect(ids(await view.list('scheduled', 0, 10))).toEqual([3, 1, 0, 4, 2].map((i) => made[i]!.id));
    expect(ids(await view.list('scheduled', 1, 2))).toEqual([1, 0].map((i) => made[i]!.id));
    expect(await view.list('due', 0, 10)).toEqual([]);
  });

  it('lists scheduled jobs that lie behind due ones', async () => {
    const { view } = world().store();
    await world().schedule({});
    const later = await world().schedule({ due: { delayMs: 5 } });
    expect(ids(await view.list('scheduled', 0, 10))).toEqual([later.id]);
  });

  it('lists ended jobs latest first', async () => {
    const { view } = world().store({ keepCompleted: 10 });
    const worker = world().worker('w');
    const ended: Record<string, string[]> = { complete: [], dead: [] };
    for (const how of ['complete', 'dead', 'complete', 'dead'] as const) {
      const { id } = await world().schedule();
      await worker.settle(settlement[how]((await worker.claim())[0]!));
      ended[how]!.unshift(id);
      world().pass(5);
    }
    expect(ids(await view.list('completed', 0, 10))).toEqual(ended.complete);
    expect(ids(await view.list('dead', 0, 10))).toEqual(ended.dead);
    expect(ids(await view.list('dead', 1, 10))).toEqual(ended.dead!.slice(1));
  });

  it('lists active jobs by the end of their leases', async () => {
    const { view } = world().store();
    await world().scheduleAll([{}, {}]);
    const worker = world().worker('w');
    const [a, b] = await worker.claim();
    await worker.settle(settlement.extend(a!, 100_000));
    expect(ids(await view.list('active', 0, 10))).toEqual([b!.id, a!.id]);
  });

  it('converts each job as it is asked to', async () => {
    const { view } = world().store();
    await world().scheduleAll([{ priority: 2 }, { priority: 1 }]);
    expect(await view.list('due', 0, 10, ({ envelope }) => ('priority' in envelope ? envelope.priority : 0))).toEqual([
      1, 2,
    ]);
  });

  it('peeks at due ones in claim order, then at scheduled ones by due time', async () => {
    const { view } = world().store();
    await world().scheduleAll([
      { payload: '4', due: { delayMs: 500 }, priority: 1 },
      { payload: '2' },
      { payload: '3', due: { delayMs: 5 }, priority: 9 },
      { payload: '1', priority: 1 },
    ]);
    const peeked = await view.peek(10, (job) => job);
    expect(payloads(peeked)).toEqual(['1', '2', '3', '4']);
    expect(await view.peek(3, (job) => job)).toHaveLength(3);
  });

  it('workers tells each worker that is there, by id, with the names it handles and the jobs it holds', async () => {
    const { view } = world().store({ concurrency: 7 });
    await world().scheduleAll([{}, {}, {}]);
    const [b, a] = [world().worker('b', 'work', 'other'), world().worker('a')];
    await b.claim(2);
    await a.claim(5);
    const place = {
      host: hostname(),
      pid: process.pid,
      version: VERSION,
      concurrency: 7,
      options: DEFAULT_OPTIONS,
      lastSeenAtMs: world().now(),
    };
    expect(await view.workers()).toEqual([
      { id: 'a', running: 1, weight: 1, handles: ['work'], ...place },
      { id: 'b', running: 2, weight: 2, handles: ['other', 'work'], ...place },
    ]);
  });

  it('workers tells the options of each, whether it handles or pulls', async () => {
    const options = {
      ordering: { mode: 'aging', msPerLevel: 60_000 },
      rateLimit: { max: 100, perMs: 1_000 },
      globalConcurrency: 7,
      keepIdsMs: 1_000,
      leaseMs: 30_000,
      stealAfterMs: 0,
      maxCrashes: 1,
      streamEvents: { maxLength: 1_000 },
    } as const;
    const { view } = world().store({ ...options, keepCompleted: { ageMs: '1h' }, keepDead: { count: 5, ageMs: '1d' } });
    await world().worker('a').turn();
    await world().puller('b').turn();
    const keepCompleted = { count: null, ageMs: 3_600_000 };
    const keepDead = { count: 5, ageMs: 86_400_000 };
    const told = { ...options, keepCompleted, keepDead, codec: 'json' };
    expect((await view.workers()).map((worker) => worker.options)).toEqual([told, told]);
  });

  it('several sessions of one process are one worker', async () => {
    const { view } = world().store();
    await world().scheduleAll([{}, { name: 'pulled' }]);
    await world().worker('a').claim();
    await world().puller('a', 'pulled').claim();
    expect(await view.workers()).toMatchObject([{ id: 'a', running: 2, handles: ['pulled', 'work'] }]);
  });

  it('tells what weight of jobs the handlers of a worker run, without those that it pulls', async () => {
    const { view, sessions } = world().store({ concurrency: 9 });
    await world().scheduleAll([{}, { name: 'heavy' }, { name: 'heavy' }, { name: 'pulled' }]);
    const calls = new Map([['heavy', { weight: 3, size: 1 }]]);
    const worker = new TestSession(sessions.worker('a', { names: ['work', 'heavy'], limited: true, calls }));
    const handlers = [{ name: 'heavy', weight: 3, free: 9, size: 1 }];
    await worker.turn({ limit: 9, handlers });
    await world().puller('a', 'pulled').claim();
    await world().puller('b').claim();
    expect(await view.workers()).toMatchObject([
      { id: 'a', running: 4, concurrency: 9, weight: 7 },
      { id: 'b', running: 0, concurrency: 0, weight: 0 },
    ]);
  });

  it('jobs of a handler that gets several a call weigh what their calls do, if these are full', async () => {
    const { view, sessions } = world().store({ concurrency: 9 });
    await world().scheduleAll(Array.from({ length: 11 }, () => ({ name: 'many' })));
    const calls = new Map([['many', { weight: 2, size: 5 }]]);
    const worker = new TestSession(sessions.worker('a', { names: ['many'], limited: false, calls }));
    await worker.turn({ limit: 9, handlers: [{ name: 'many', weight: 2, free: 15, size: 5 }] });
    expect(await view.workers()).toMatchObject([{ id: 'a', running: 11, weight: 6 }]);
  });

  it('a worker tells of its stuck handlers at once, and that they have returned', async () => {
    const { view } = world().store({ concurrency: 9, leaseMs: 30_000 });
    await world().schedule({});
    const worker = world().worker('w', 'heavy', 'work');
    await worker.claim(1);
    const stuck = { count: 2, weight: 4, id: 'a b*c,\u00e4/\n', name: 'work' };
    await worker.turn({ stuck: { ...stuck, forMs: 5_000 } });
    const [live, ...others] = await view.workers();
    expect(others).toEqual([]);
    expect(live).toMatchObject({ id: 'w', running: 1, weight: 1, stuck });
    // The monotonic clock of the process and that of Redis are read one after the other.
    expect(Math.abs(world().now() - 5_000 - live!.stuck!.sinceMs)).toBeLessThan(1_000);
    expect(await view.handledBy('work')).toEqual({ count: 1, workers: ['w'] });
    await worker.turn({ stuck: { ...stuck, count: 1, weight: 1, forMs: 5_000 } });
    expect(await view.workers()).toMatchObject([{ id: 'w', stuck: { ...stuck, count: 1, weight: 1 } }]);
    await worker.turn();
    expect((await view.workers()).map((each) => each.stuck)).toEqual([undefined]);
    expect((await view.handledBy('work')).count).toBe(1);
  });

  it('a worker with stuck handlers that leaves is there no more', async () => {
    const { view } = world().store();
    await world().schedule({});
    const worker = world().worker('w');
    await worker.claim(1);
    const stuck = { count: 1, weight: 1, id: 'x', name: 'work', forMs: 0 };
    await worker.turn({ stuck });
    expect(await view.workers()).toHaveLength(1);
    await worker.turn({ stuck, isLast: true });
    expect(await view.workers()).toEqual([]);
  });

  it('forecasts how many waiting jobs are due between instants, the first included and the second not', async () => {
    const { view } = world().store({ maxCrashes: 2 });
    expect(await view.forecast([0, 5, 9])).toEqual([0, 0]);
    await world().schedule({ name: 'suspect' });
    await world().crash(1, 'dies', 'suspect');
    const now = world().now();
    await world().scheduleAll(
      [0, 1, 9, 10, 10, 29, 30, 31].map((ms, i) => ({
        due: { at: now + ms },
        name: `n${i % 3}`,
        priority: 1 + (i % 2),
        ...(i === 2 && { worker: 'v' }),
      })),
    );
    await world().worker('w', 'n0').claim(1);
    expect(await view.forecast([now, now + 10, now + 20, now + 30])).toEqual([2, 2, 1]);
    expect(await view.forecast([0, now + 31])).toEqual([7]);
    expect(await view.forecast([now - 5, now + 1, now + 1_000])).toEqual([0, 7]);
  });

  it('forecasts many jobs of one name as well as few of many', async () => {
    const { view } = world().store();
    const now = world().now();
    await world().scheduleAll(
      Array.from({ length: 300 }, (_, i) => ({ due: { at: now + i }, name: i < 200 ? 'a' : `n${i}` })),
    );
    const bounds = Array.from({ length: 11 }, (_, i) => now + 30 * i);
    expect(await view.forecast(bounds)).toEqual(Array.from({ length: 10 }, () => 30));
  });

  it('the queues in which somebody has scheduled or worked are told, and those that were only looked at are not', async () => {
    world().store();
    expect(await world().whole.queues()).toEqual([]);
    await world().whole.queue('looked-at').view.counts();
    await world().whole.queue('looked-at').management.clear();
    await world().schedule();
    const { sessions } = world().whole.queue('worked');
    await new TestSession(sessions.worker('w', { names: ['work'], limited: false })).claim();
    const lastSeenAtMs = world().now();
    world().pass(5);
    await world()
      .whole.queue('also')
      .jobs.replace({ ...newJob(), id: 'x' });
    expect(await world().whole.queues()).toEqual([
      { name: 'also', lastSeenAtMs: lastSeenAtMs + 5 },
      { name: 'default', lastSeenAtMs },
      { name: 'worked', lastSeenAtMs },
    ]);
    world().pass(600_000);
    await world().schedule();
    expect((await world().whole.queues())[1]).toEqual({ name: 'default', lastSeenAtMs: lastSeenAtMs + 600_005 });
  });

  it('a worker that has left is not told, nor one that has not been there for a lease', async () => {
    const { view } = world().store({ leaseMs: 10_000 });
    const [leaves, dies] = [world().worker('leaves'), world().worker('dies')];
    await leaves.claim();
    await dies.claim();
    await leaves.turn({ isLast: true });
    expect((await view.workers()).map(({ id }) => id)).toEqual(['dies']);
    world().pass(10_001);
    expect(await view.workers()).toEqual([]);
  });

  it('a job that is to be cancelled still counts as held', async () => {
    const { view, jobs } = world().store();
    const { id } = await world().schedule();
    await world().worker('w').claim();
    await jobs.cancelRunning(id);
    expect(await view.workers()).toMatchObject([{ id: 'w', running: 1 }]);
  });

  it('tells which workers handle a name, one that pulls every name among them', async () => {
    const { view } = world().store();
    await world().worker('a', 'one').claim();
    await world().worker('b', 'one', 'two').claim();
    await world().puller('c').claim();
    const one = await view.handledBy('one');
    expect({ count: one.count, workers: [...one.workers].sort() }).toEqual({ count: 3, workers: ['a', 'b', 'c'] });
    expect((await view.handledBy('none')).workers).toEqual(['c']);
  });

  it('counts all that handle a name, and names ten of them', async () => {
    const { view } = world().store();
    for (let i = 0; i < 13; i++) await world().worker(`w${i}`).claim();
    const { count, workers } = await view.handledBy('work');
    expect(count).toBe(13);
    expect(new Set(workers).size).toBe(10);
  });

  it('conserves: what was scheduled is there or is counted as gone', async () => {
    const { view, jobs } = world().store({ keepCompleted: 2 });
    await world().scheduleAll(Array.from({ length: 12 }, () => ({})));
    const worker = world().worker('w');
    const claimed = await worker.claim(6);
    await worker.settle(
      settlement.complete(claimed[0]!),
      settlement.dead(claimed[1]!),
      settlement.discard(claimed[2]!),
      settlement.retry(claimed[3]!, 0),
      settlement.cancel(claimed[4]!),
    );
    await jobs.cancel((await view.list('due', 0, 1))[0]!.id);
    const { scheduled, due, active, dead } = await view.counts();
    const stats = await view.stats();
    const gone = stats.completed! + stats.cancelled! + stats.discarded!;
    expect(stats.scheduled).toBe(scheduled + due + active + dead + gone);
  });

  it('after close, every call fails with QueueClosedError', async () => {
    const { view, jobs } = world().store();
    await view.counts();
    await world().whole.close();
    await expect(view.counts()).rejects.toThrow(expect.objectContaining({ name: 'QueueClosedError' }));
    await expect(jobs.cancel('x')).rejects.toThrow(expect.objectContaining({ name: 'QueueClosedError' }));
    world().store();
  });

  it('a queue is the same object each time, and knows nothing of another one', async () => {
    const queue = world().store();
    expect(world().whole.queue('default')).toBe(queue);
    await world().schedule({ id: 'x' });
    expect(await world().whole.queue('another').view.job('x')).toBeUndefined();
    expect(await world().whole.queue('another').view.counts()).toMatchObject({ due: 0 });
  });
};
