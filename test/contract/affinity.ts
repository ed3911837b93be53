import { expect, it } from '@jest/globals';
import { ids, payloads, settlement, type World } from './world.js';

export const affinity = (world: () => World): void => {
  /** Schedules these jobs so that their due times grow in the order given, and lets all become due. */
  const scheduleInOrder = async (jobs: readonly { payload: string; worker?: string; priority?: number }[]) => {
    const first = world().now() + 50;
    await world().scheduleAll(jobs.map((job, i) => ({ due: { at: first + i }, ...job })));
    world().pass(50 + jobs.length);
  };
  /** A worker of that id is there. */
  const here = (worker: string) => world().worker(worker).turn();

  it('inside a priority a worker takes its own jobs first, then common ones, then those that it may steal', async () => {
    world().store({ stealAfterMs: 0 });
    await here('other');
    await scheduleInOrder([
      { payload: 'stolen 1', worker: 'other' },
      { payload: 'common 1' },
      { payload: 'urgent, stolen', worker: 'other', priority: 1 },
      { payload: 'own 1', worker: 'w1' },
      { payload: 'stolen 2', worker: 'another' },
      { payload: 'own 2', worker: 'w1' },
      { payload: 'common 2' },
      { payload: 'late, own', worker: 'w1', priority: 9 },
    ]);
    expect(payloads(await world().worker('w1').claim(10))).toEqual([
      'urgent, stolen',
      'own 1',
      'own 2',
      'common 1',
      'common 2',
      'stolen 1',
      'stolen 2',
      'late, own',
    ]);
  });

  it('where jobs age, own jobs still come first inside a priority', async () => {
    world().store({ stealAfterMs: 0, ordering: { mode: 'aging', msPerLevel: 1_000_000 } });
    await scheduleInOrder([
      { payload: 'stolen', worker: 'gone' },
      { payload: 'common' },
      { payload: 'own', worker: 'w1' },
      { payload: 'urgent', priority: 1 },
    ]);
    expect(payloads(await world().worker('w1').claim(10))).toEqual(['urgent', 'own', 'common', 'stolen']);
  });

  it('leaves a job to a worker that is there until it is stealAfterMs late, and looks again then', async () => {
    world().store({ stealAfterMs: 400 });
    await here('other');
    await world().schedule({ worker: 'other' });
    const thief = world().worker('w1');
    expect(await thief.turn({ limit: 5 })).toMatchObject({ claimed: [], sleepMs: 400 });
    world().pass(399);
    expect(await thief.claim()).toEqual([]);
    world().pass(1);
    expect(await thief.claim()).toHaveLength(1);
  });

  it('does not wait for a worker that is not there, never was, or has left', async () => {
    world().store({ stealAfterMs: 600_000 });
    await here('leaves');
    await world().schedule({ worker: 'leaves', payload: 'a' });
    await world().schedule({ worker: 'never-was', payload: 'b' });
    const thief = world().worker('w1');
    expect(payloads(await thief.claim())).toEqual(['b']);
    await world().worker('leaves').turn({ isLast: true });
    expect(payloads(await thief.claim())).toEqual(['a']);
  });

  it('does not wait for a worker that died without a word longer than a lease', async () => {
    world().store({ stealAfterMs: 600_000, leaseMs: 10_000 });
    await here('dies');
    await world().schedule({ worker: 'dies' });
    const thief = world().worker('w1');
    world().pass(9_999);
    expect(await thief.claim()).toEqual([]);
    world().pass(1);
    expect(await thief.claim()).toHaveLength(1);
  });

  it('a retried job comes back to the worker that it prefers', async () => {
    world().store({ stealAfterMs: 600_000 });
    const preferred = world().worker('w1');
    await preferred.turn();
    await world().schedule({ worker: 'w1' });
    const [job] = await preferred.claim();
    await preferred.settle(settlement.retry(job!, 0));
    expect(await world().worker('w2').claim()).toEqual([]);
    expect(await preferred.claim()).toHaveLength(1);
  });

  it.each(['w1', 'w2'])(
    'one that %s puts back for later, where nobody else waits for a worker, is looked for in time',
    async (id) => {
      const { view } = world().store({ stealAfterMs: 500, maxCrashes: 1, leaseMs: 60_000 });
      await world().schedule({ worker: 'w1' });
      world().pass(500);
      const worker = world().worker(id);
      const [job] = await worker.claim();
      const { settled, sleepMs } = await worker.turn({ settlements: [settlement.retry(job!, 2_000)], limit: 5 });
      expect(settled).toEqual(['counted']);
      expect(sleepMs).toBe(2_000);
      expect(await view.counts()).toMatchObject({ active: 0, scheduled: 1 });
    },
  );

  it('a worker that settles after its last turn is not among those that are there again', async () => {
    world().store({ stealAfterMs: 600_000 });
    const leaves = world().worker('w1');
    await world().scheduleAll([{ worker: 'w1' }, { worker: 'w1' }]);
    const [job] = await leaves.claim(1);
    await leaves.turn({ isLast: true });
    await leaves.settle(settlement.release(job!));
    expect(await world().worker('w2').claim()).toHaveLength(2);
  });

  it('hundreds of jobs that prefer others hide neither own nor common ones', async () => {
    world().store({ stealAfterMs: 600_000 });
    const others = Array.from({ length: 60 }, (_, i) => `other-${i}`);
    for (const other of others.slice(0, 3)) await here(other);
    await world().scheduleAll(
      others.flatMap((worker) => Array.from({ length: 10 }, (_, i) => ({ worker, name: `name-${i}` }))),
    );
    await world().scheduleAll([{ payload: 'common' }, { payload: 'own', worker: 'w1' }]);
    expect(payloads(await world().worker('w1').claim(2))).toEqual(['own', 'common']);
    const thief = world().worker('thief', ...Array.from({ length: 10 }, (_, i) => `name-${i}`));
    // Three workers are there, so theirs wait; the others were never there.
    expect((await thief.turn({ limit: 1_000 })).claimed).toHaveLength(570);
  });

  it('counts, lists and cancels what prefers a worker like any other job', async () => {
    const { view, jobs } = world().store();
    const due = await world().schedule({ worker: 'w9', priority: 3 });
    const later = await world().schedule({ worker: 'w9', due: { delayMs: 60_000 } });
    expect(await view.counts()).toMatchObject({ scheduled: 1, due: 1 });
    expect(await view.countsByPriority()).toEqual([
      { priority: 3, scheduled: 0, due: 1 },
      { priority: 5, scheduled: 1, due: 0 },
    ]);
    expect(ids(await view.list('due', 0, 10))).toEqual([due.id]);
    expect(ids(await view.list('scheduled', 0, 10))).toEqual([later.id]);
    expect((await view.nextDue()).dueAtMs).toBe(due.dueAtMs);
    expect(await jobs.cancel(due.id)).toBe(true);
    expect(await jobs.reschedule(later.id, { delayMs: 0 })).toBe(true);
    expect(await view.counts()).toMatchObject({ scheduled: 0, due: 1 });
  });

  it('a pull takes the jobs that prefer its process first', async () => {
    world().store({ stealAfterMs: 0 });
    await scheduleInOrder([{ payload: 'common' }, { payload: 'own', worker: 'w1' }]);
    expect(payloads(await world().puller('w1').claim())).toEqual(['own', 'common']);
  });

  it('the worker that a job prefers is told of it at once, and others for when they may steal it', async () => {
    world().store({ stealAfterMs: 3_000, maxSleepMs: 10_000, leaseMs: 60_000 });
    const own = await world().worker('w1').listens();
    const other = await world().worker('w2').listens();
    await own.sleeps();
    await other.sleeps();
    await world().schedule({ worker: 'w1' });
    expect(await own.isTold()).toBeLessThan(100);
    expect(await other.isTold()).toBeGreaterThan(2_900);
    expect(await other.claim()).toEqual([]);
    expect(await own.claim()).toHaveLength(1);
  });

  it('what goes back from a worker that has left is told to the others at once', async () => {
    world().store({ stealAfterMs: 60_000, leaseMs: 60_000 });
    const [leaves, stays] = [world().worker('w1'), await world().worker('w2').listens()];
    await world().schedule({ worker: 'w1' });
    const [job] = await leaves.claim();
    await leaves.turn({ isLast: true });
    await stays.sleeps();
    await leaves.settle(settlement.release(job!));
    expect(await stays.isTold()).toBeLessThan(100);
    expect(await stays.claim()).toHaveLength(1);
  });

  it('a worker looks for its own jobs that become due while a limit over all processes is reached', async () => {
    world().store({ leaseMs: 60_000, maxSleepMs: 15_000, stealAfterMs: 60_000, globalConcurrency: 1 });
    await here('w1');
    await world().schedule();
    await world().worker('w4').claim();
    await world().schedule({ due: { delayMs: 3_000 }, worker: 'w1' });
    expect(await world().worker('w1').sleeps()).toBe(3_000);
  });

  it('where its own jobs wait for the rate, a worker looks half a second after that', async () => {
    world().store({ leaseMs: 60_000, maxSleepMs: 15_000, stealAfterMs: 60_000, rateLimit: { max: 1, perMs: 3_000 } });
    const others = ['w2', 'w3'].map((id) => world().worker(id));
    for (const other of others) await other.listens();
    const worker = await world().worker('w1').listens();
    await world().schedule();
    await worker.settle(...(await worker.claim()).map((job) => settlement.complete(job)));
    await world().schedule({ worker: 'w1' });
    for (const other of others) await other.sleeps();
    expect(await worker.sleeps()).toBeLessThanOrEqual(3_550);
  });
};
