import { afterEach, describe, expect, it } from '@jest/globals';
import { type JobState, OnScheduledJob, ScheduledJob, type ScheduledJobRef } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

afterEach(stopApps);

const HOUR = 3_600_000;
const NO_STATS = {
  scheduled: 0,
  started: 0,
  completed: 0,
  failed: 0,
  retried: 0,
  dead: 0,
  cancelled: 0,
  discarded: 0,
  snoozed: 0,
  recovered: 0,
  deadDropped: 0,
};
const NO_COUNTS = { scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 };

class Handlers {
  readonly started: string[] = [];
  private readonly gates = new Map<string, () => void>();

  @OnScheduledJob('double')
  double(payload: number): number {
    return payload * 2;
  }

  @OnScheduledJob('fail')
  fail(): void {
    throw new Error('no');
  }

  /** Runs until it is opened. */
  @OnScheduledJob('gate')
  gate(_: unknown, job: ScheduledJob): Promise<void> {
    this.started.push(job.id);
    return new Promise((resolve) => this.gates.set(job.id, resolve));
  }

  open(id: string): void {
    this.gates.get(id)!();
  }
}

async function start(queue: object = {}, more: object = {}) {
  const app = await startApp([Handlers], { queues: { default: { keepCompleted: 100, ...queue } }, ...more });
  const { inspector, producer } = app;
  return {
    ...app,
    handlers: app.get(Handlers),
    /** Waits until the job is in that state. */
    inState: (ref: ScheduledJobRef | string, state: JobState) =>
      until(`the job is ${state}`, async () => {
        const job = await inspector.job(ref);
        return job?.state === state ? job : undefined;
      }),
    /** Schedules a job that runs until `open`, and waits until it does. */
    async running(id: string): Promise<ScheduledJobRef> {
      const ref = await producer.schedule('gate', null, { id });
      await until('the gate is reached', () => app.get(Handlers).started.includes(id));
      return ref;
    },
  };
}

const ids = (jobs: { id: string }[]) => jobs.map(({ id }) => id);

describe('of an empty queue', () => {
  it('every number is 0, nothing is due, and no job is there', async () => {
    const { inspector } = await startApp();
    expect(await inspector.counts()).toEqual(NO_COUNTS);
    expect(await inspector.stats()).toEqual(NO_STATS);
    expect(await inspector.nextDueAt()).toBeNull();
    expect(await inspector.latenessMs()).toBe(0);
    expect(await inspector.job('x')).toBeNull();
    for (const state of ['scheduled', 'due', 'active', 'completed', 'dead'] as const)
      expect(await inspector.list(state)).toEqual([]);
  });
});

it('counts, stats and states tell what became of every job', async () => {
  const { producer, inspector, inState, running, handlers } = await start();
  const later = await producer.schedule('double', 1, { delay: HOUR });
  const gone = await producer.schedule('double', 1, { delay: HOUR });
  const unhandled = await producer.schedule('nobody', 1);
  const active = await running('g');
  const completed = await producer.schedule('double', 21);
  const dead = await producer.schedule('fail', 1, { maxAttempts: 2, backoff: { type: 'fixed', delayMs: 1 } });
  await producer.cancel(gone);
  await inState(completed, 'completed');
  await inState(dead, 'dead');

  expect(await inspector.counts()).toEqual({ scheduled: 1, due: 1, active: 1, completed: 1, dead: 1 });
  expect(await inspector.stats()).toEqual({
    ...NO_STATS,
    scheduled: 6,
    started: 4,
    completed: 1,
    failed: 2,
    retried: 1,
    dead: 1,
    cancelled: 1,
  });
  expect(ids(await inspector.list('scheduled'))).toEqual([later.id]);
  expect(ids(await inspector.list('due'))).toEqual([unhandled.id]);
  expect(ids(await inspector.list('active'))).toEqual(['g']);
  expect(ids(await inspector.list('completed'))).toEqual([completed.id]);
  expect(ids(await inspector.list('dead'))).toEqual([dead.id]);
  expect(await inspector.job(gone)).toBeNull();

  handlers.open('g');
  await inState(active, 'completed');
  expect(await inspector.counts()).toEqual({ scheduled: 1, due: 1, active: 0, completed: 2, dead: 1 });
});

it('one job is told with all that is known of it in its state', async () => {
  const { producer, inspector, inState, running, handlers } = await start({}, { workerId: 'me' });
  const waiting = await producer.schedule(
    'double',
    { n: 1 },
    { delay: HOUR, priority: 3, headers: { a: 'b' }, tags: ['t'] },
  );
  expect(await inspector.job(waiting)).toEqual({
    id: waiting.id,
    queue: 'default',
    name: 'double',
    version: 1,
    state: 'scheduled',
    payload: { n: 1 },
    headers: { a: 'b' },
    tags: ['t'],
    priority: 3,
    dueAt: waiting.dueAt,
    createdAt: new Date(waiting.dueAt!.getTime() - HOUR),
    attempts: 0,
    crashes: 0,
    failures: [],
  });
  const said = { maxAttempts: 3, backoff: { type: 'fixed', delayMs: 7 }, timeoutMs: 9 } as const;
  const lateness = { maxLatenessMs: 60_000, onLate: 'discard' } as const;
  const other = await producer.schedule('double', { n: 1 }, { delay: HOUR, ...said, ...lateness });
  expect(await inspector.job(other)).toMatchObject({ ...said, ...lateness });

  const ref = await running('g');
  const active = await inState(ref, 'active');
  expect(active).toMatchObject({ id: 'g', state: 'active', attempts: 1, worker: 'me', dueAt: ref.dueAt });
  expect(active.fence).toBeGreaterThan(ref.dueAt!.getTime());
  expect(active).not.toHaveProperty('cancelRequested');
  expect(active.leaseUntil!.getTime() - ref.dueAt!.getTime()).toBeGreaterThanOrEqual(15_000);

  handlers.open('g');
  const ended = await inState(ref, 'completed');
  expect(ended).toMatchObject({ id: 'g', name: 'gate', payload: null, attempts: 1, failures: [], dueAt: ref.dueAt });
  expect(ended.endedAt!.getTime()).toBeGreaterThanOrEqual(ref.dueAt!.getTime());
  expect(ended).not.toHaveProperty('leaseUntil');
});

it('a job of another queue is found by its ref, or by its id with the queue', async () => {
  const { producer, inspector } = await start();
  const ref = await producer.schedule('nobody', 1, { queue: 'reports', id: 'x', delay: HOUR });
  expect(await inspector.job('x')).toBeNull();
  expect(await inspector.job(ref)).toMatchObject({ id: 'x', queue: 'reports' });
  expect(await inspector.job('x', { queue: 'reports' })).toMatchObject({ id: 'x', queue: 'reports' });
  expect(await inspector.counts({ queue: 'reports' })).toMatchObject({ scheduled: 1 });
  expect(await inspector.stats({ queue: 'reports' })).toMatchObject({ scheduled: 1 });
  expect(await inspector.nextDueAt({ queue: 'reports' })).toEqual(ref.dueAt);
  expect(ids(await inspector.list('scheduled', { queue: 'reports' }))).toEqual(['x']);
  expect(await inspector.counts()).toEqual(NO_COUNTS);
  expect(await inspector.nextDueAt()).toBeNull();
});

it('the next due time is that of the earliest waiting job, and lateness is how long it has been due', async () => {
  const { producer, inspector } = await startApp();
  const later = await producer.schedule('nobody', 1, { delay: 2 * HOUR });
  expect(await inspector.nextDueAt()).toEqual(later.dueAt);
  const sooner = await producer.schedule('nobody', 1, { delay: HOUR, priority: 100 });
  expect(await inspector.nextDueAt()).toEqual(sooner.dueAt);
  expect(await inspector.latenessMs()).toBe(0);
  await producer.cancel(sooner);
  expect(await inspector.nextDueAt()).toEqual(later.dueAt);

  const now = await producer.schedule('nobody', 1);
  expect(await inspector.nextDueAt()).toEqual(now.dueAt);
  const lateness = await until('it is late', () => inspector.latenessMs());
  const sinceDue = Date.now() - now.dueAt!.getTime();
  expect(lateness).toBeLessThanOrEqual(sinceDue);
  expect(await inspector.latenessMs()).toBeGreaterThanOrEqual(lateness);
});

describe('list', () => {
  it('tells scheduled jobs by due time, due ones by priority and then due time, and pages through them', async () => {
    const { producer, inspector } = await startApp();
    for (const [id, delay] of [
      ['c', 3],
      ['a', 1],
      ['e', 5],
      ['b', 2],
      ['d', 4],
    ] as const) {
      await producer.schedule(`job-${id}`, 1, { id, delay: delay * HOUR, priority: delay % 2 ? 5 : 1 });
    }
    expect(ids(await inspector.list('scheduled'))).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(ids(await inspector.list('scheduled', { limit: 2 }))).toEqual(['a', 'b']);
    expect(ids(await inspector.list('scheduled', { offset: 2, limit: 2 }))).toEqual(['c', 'd']);
    expect(ids(await inspector.list('scheduled', { offset: 4, limit: 2 }))).toEqual(['e']);
    expect(await inspector.list('scheduled', { offset: 5 })).toEqual([]);
    expect(await inspector.list('scheduled', { offset: 100_000 })).toEqual([]);
    await expect(inspector.list('scheduled', { offset: 100_001 })).rejects.toMatchObject({
      name: 'InvalidScheduleError',
      message: 'list: offset: got 100001, expected at most 100000. Use find, which goes on by a cursor.',
    });

    for (const id of ['c', 'a', 'e', 'b', 'd']) {
      const ref = await producer.runNow(id);
      expect(ref).toBe(true);
      await until('a millisecond has passed', async () => (await inspector.latenessMs()) > 0);
    }
    const byDue = [...(await inspector.list('due'))].sort(
      (a, b) => a.dueAt.getTime() - b.dueAt.getTime() || (a.id < b.id ? -1 : 1),
    );
    const claimOrder = [...byDue].sort((a, b) => a.priority - b.priority);
    expect(claimOrder.map(({ priority }) => priority)).toEqual([1, 1, 5, 5, 5]);
    expect(ids(await inspector.list('due'))).toEqual(ids(claimOrder));
    expect(ids(await inspector.list('due', { offset: 1, limit: 3 }))).toEqual(ids(claimOrder).slice(1, 4));
    expect(await inspector.list('scheduled')).toEqual([]);
  });

  it('tells ended jobs the latest first, and pages through them', async () => {
    const { producer, inspector, inState } = await start();
    for (const [name, state] of [
      ['double', 'completed'],
      ['fail', 'dead'],
    ] as const) {
      const refs: string[] = [];
      for (let i = 0; i < 4; i++) {
        const ref = await producer.schedule(name, 1, { id: `${name}-${i}`, maxAttempts: 1 });
        refs.unshift(ref.id);
        const { endedAt } = await inState(ref, state);
        await until('the next one ends in another millisecond', () => Date.now() > endedAt!.getTime());
      }
      expect(ids(await inspector.list(state))).toEqual(refs);
      expect(ids(await inspector.list(state, { offset: 1, limit: 2 }))).toEqual(refs.slice(1, 3));
    }
  });

  it('tells active jobs, each with its worker', async () => {
    const { inspector, running } = await start({}, { workerId: 'me' });
    await running('a');
    await running('b');
    const jobs = await inspector.list('active');
    expect(ids(jobs).sort()).toEqual(['a', 'b']);
    expect(jobs.map(({ worker }) => worker)).toEqual(['me', 'me']);
    expect(await inspector.list('active', { limit: 1 })).toHaveLength(1);
  });
});

describe('what has ended is kept as the queue says:', () => {
  it('completed jobs with their results, as many as keepCompleted', async () => {
    const { producer, inspector, inState } = await start({ keepCompleted: 2 });
    for (const n of [1, 2, 3]) await inState(await producer.schedule('double', n, { id: `job-${n}` }), 'completed');
    await until('the oldest is dropped', async () => (await inspector.counts()).completed === 2);
    expect((await inspector.list('completed')).map(({ id, result }) => [id, result]).sort()).toEqual([
      ['job-2', 4],
      ['job-3', 6],
    ]);
    expect(await inspector.job('job-1')).toBeNull();
    expect(await inspector.stats()).toMatchObject({ completed: 3 });
  });

  it('no completed jobs by default', async () => {
    const { producer, inspector } = await startApp([Handlers]);
    const ref = await producer.schedule('double', 1);
    await until('the job has completed', async () => (await inspector.stats()).completed === 1);
    expect(await inspector.counts()).toEqual(NO_COUNTS);
    expect(await inspector.job(ref)).toBeNull();
  });

  it('completed jobs up to an age', async () => {
    const { producer, inspector, inState } = await start({ keepCompleted: { ageMs: 300 }, maxSleepMs: 20 });
    const ref = await producer.schedule('double', 21);
    expect(await inState(ref, 'completed')).toMatchObject({ result: 42 });
    await until('the job is dropped', async () => (await inspector.job(ref)) === null);
    expect(await inspector.counts()).toEqual(NO_COUNTS);
  });

  it('dead jobs as many as keepDead, and those pushed out are counted', async () => {
    const { producer, inspector } = await start({ keepDead: 2 });
    for (let i = 1; i <= 5; i++) {
      await producer.schedule('fail', i, { id: `job-${i}`, maxAttempts: 1 });
      await until('it is dead', async () => (await inspector.stats()).dead === i);
    }
    await until('the oldest are dropped', async () => (await inspector.counts()).dead === 2);
    expect(ids(await inspector.list('dead')).sort()).toEqual(['job-4', 'job-5']);
    expect(await inspector.stats()).toMatchObject({ dead: 5, deadDropped: 3 });
    expect(await inspector.job('job-1')).toBeNull();
  });
});

describe('a job that waits, runs, has ended or never was:', () => {
  const CALLS = [
    ['cancel', (app: Awaited<ReturnType<typeof start>>, ref: string) => app.producer.cancel(ref)],
    [
      'reschedule',
      (app: Awaited<ReturnType<typeof start>>, ref: string) => app.producer.reschedule(ref, { delay: '2h' }),
    ],
    ['runNow', (app: Awaited<ReturnType<typeof start>>, ref: string) => app.producer.runNow(ref)],
  ] as const;

  it.each(CALLS)('%s answers true only for one that waits', async (name, call) => {
    const app = await start({}, { queues: { default: { keepCompleted: 10 } } });
    const { producer, inState, running, handlers } = app;
    await producer.schedule('double', 1, { id: 'waiting', delay: HOUR });
    expect(await call(app, 'waiting')).toBe(true);

    await running('running');
    expect(await call(app, 'running')).toBe(false);
    expect(await inState('running', 'active')).toMatchObject({ attempts: 1 });
    handlers.open('running');
    await inState('running', 'completed');
    expect(await call(app, 'running')).toBe(false);

    await inState(await producer.schedule('fail', 1, { id: 'dead', maxAttempts: 1 }), 'dead');
    expect(await call(app, 'dead')).toBe(false);
    expect(await inState('dead', 'dead')).toMatchObject({ attempts: 1 });
    expect(await call(app, 'never')).toBe(false);
    if (name === 'cancel') expect(await call(app, 'waiting')).toBe(false);
  });

  it('a cancelled job never starts, and is counted', async () => {
    const { producer, inspector, running, handlers } = await start({ concurrency: 1 });
    await running('first');
    const ref = await producer.schedule('gate', null, { id: 'second' });
    expect(await producer.cancel(ref)).toBe(true);
    await producer.schedule('gate', null, { id: 'third' });
    handlers.open('first');
    await until('the third has started', () => handlers.started.includes('third'));
    handlers.open('third');
    await until('both have completed', async () => (await inspector.stats()).completed === 2);
    expect(handlers.started).toEqual(['first', 'third']);
    expect(await inspector.stats()).toMatchObject({ scheduled: 3, cancelled: 1, started: 2 });
  });

  it('a job between two attempts waits, and can be cancelled or run at once', async () => {
    const { producer, inspector } = await start();
    const failed = async (id: string) => {
      await producer.schedule('fail', null, { id, backoff: { type: 'fixed', delayMs: HOUR }, maxAttempts: 2 });
      return until('it has failed once', async () => {
        const job = await inspector.job(id);
        return job?.failures.length === 1 ? job : undefined;
      });
    };
    expect(await failed('a')).toMatchObject({ state: 'scheduled', attempts: 1 });
    expect(await producer.cancel('a')).toBe(true);
    expect(await inspector.job('a')).toBeNull();
    await failed('b');
    expect(await producer.runNow('b')).toBe(true);
    expect(
      await until('it is dead', async () => ((await inspector.counts()).dead === 1 ? inspector.job('b') : undefined)),
    ).toMatchObject({
      attempts: 2,
    });
  });

  it('a rescheduled job is due then, counted from now, earlier or later than before', async () => {
    const { producer, inspector, inState } = await start();
    const ref = await producer.schedule('double', 21, { delay: HOUR });
    const before = Date.now();
    await producer.reschedule(ref, { delay: '2h' });
    const { dueAt } = await inState(ref, 'scheduled');
    expect(dueAt.getTime()).toBeGreaterThanOrEqual(before + 2 * HOUR);
    expect(dueAt.getTime()).toBeLessThanOrEqual(Date.now() + 2 * HOUR);
    await producer.reschedule(ref, { at: '2099-01-01T00:00:00Z' });
    expect(await inspector.nextDueAt()).toEqual(new Date('2099-01-01T00:00:00Z'));
    await producer.reschedule(ref, { delay: 10 });
    expect(await inState(ref, 'completed')).toMatchObject({ result: 42, attempts: 1 });
  });

  it('runNow runs a job of next year at once', async () => {
    const { producer, inState } = await start();
    const ref = await producer.schedule('double', 21, { at: Date.now() + 365 * 24 * HOUR });
    expect(await producer.runNow(ref)).toBe(true);
    expect(await inState(ref, 'completed')).toMatchObject({ result: 42 });
  });

  it('cancel and its like find a job of another queue by its ref', async () => {
    const { producer } = await start();
    const ref = await producer.schedule('double', 1, { queue: 'other', id: 'x', delay: HOUR });
    expect(await producer.cancel('x')).toBe(false);
    expect(await producer.reschedule('x', { delay: 5 })).toBe(false);
    expect(await producer.reschedule('x', { delay: HOUR }, { queue: 'other' })).toBe(true);
    expect(await producer.cancel(ref)).toBe(true);
    expect(await producer.cancel(ref)).toBe(false);
  });
});

describe('an id of the caller', () => {
  it('that waits already changes nothing, and answers with the due time that holds', async () => {
    const { producer, inspector } = await start();
    const first = await producer.schedule('double', 1, { id: 'x', delay: HOUR });
    expect(first.created).toBe(true);
    const again = await producer.schedule('double', 2, { id: 'x', delay: 2 * HOUR });
    expect(again).toEqual({ ...first, created: false, status: 'waiting' });
    expect(await inspector.job('x')).toMatchObject({ payload: 1, dueAt: first.dueAt });
    expect(await inspector.stats()).toMatchObject({ scheduled: 1 });
    expect(await inspector.counts()).toMatchObject({ scheduled: 1 });
  });

  it('twice in one call to scheduleMany is one job', async () => {
    const { producer, inspector } = await start();
    const item = { job: 'double', payload: 1, options: { id: 'x', delay: HOUR } };
    const answers = await producer.scheduleMany([item, { ...item, payload: 2 }]);
    expect(answers.map(({ status }) => status)).toEqual(['created', 'waiting']);
    expect(await inspector.job('x')).toMatchObject({ payload: 1 });
    expect(await inspector.counts()).toMatchObject({ scheduled: 1 });
  });

  it(`with onDuplicate: 'replace' puts payload, due time and headers in the place of the old ones`, async () => {
    const { producer, inspector } = await start();
    await producer.schedule('double', 1, { id: 'x', delay: HOUR, headers: { a: 'b' } });
    const replaced = await producer.schedule('double', 2, {
      id: 'x',
      delay: 2 * HOUR,
      onDuplicate: 'replace',
      priority: 1,
    });
    expect(replaced).toMatchObject({ created: false, status: 'replaced' });
    expect(await inspector.job('x')).toMatchObject({
      name: 'double',
      payload: 2,
      dueAt: replaced.dueAt,
      headers: {},
      priority: 1,
    });
    expect(await inspector.counts()).toMatchObject({ scheduled: 1 });
    expect(await inspector.nextDueAt()).toEqual(replaced.dueAt);
    expect(await inspector.stats()).toMatchObject({ scheduled: 1 });
    const fresh = await producer.schedule('double', 1, { id: 'y', delay: HOUR, onDuplicate: 'replace' });
    expect(fresh).toMatchObject({ created: true, status: 'created' });
  });

  it('that is debounced runs once, with the last payload', async () => {
    const { producer, inspector, inState } = await start();
    for (let i = 1; i <= 5; i++) await producer.schedule('double', i, { id: 'x', delay: 200, onDuplicate: 'replace' });
    expect(await inState('x', 'completed')).toMatchObject({ result: 10 });
    expect(await inspector.stats()).toMatchObject({ scheduled: 1, completed: 1 });
  });

  it('of a job that runs, has ended or is dead is not scheduled anew, and the answer says which it is', async () => {
    const { producer, inspector, inState, running, handlers } = await start();
    const again = (id: string) => producer.schedule('double', 1, { id });
    const ref = await running('x');
    const taken = { created: false, status: 'taken', name: ref.name, dueAt: ref.dueAt };
    expect(await again('x')).toMatchObject(ref.name === 'double' ? { ...taken, status: 'active' } : taken);
    handlers.open('x');
    await inState('x', 'completed');
    expect(await again('x')).toMatchObject({ created: false, status: 'ended', dueAt: null });
    await inState(await producer.schedule('fail', 1, { id: 'dead', maxAttempts: 1 }), 'dead');
    expect(await producer.schedule('fail', 1, { id: 'dead' })).toMatchObject({ created: false, status: 'dead' });
    await producer.schedule('double', 1, { id: 'gone', delay: HOUR });
    await producer.cancel('gone');
    expect(await inspector.stats()).toMatchObject({ scheduled: 3, completed: 1, dead: 1 });
    expect(await again('gone')).toMatchObject({ created: true, status: 'created' });
  });

  it('of an ended job may be used again after keepIdsMs', async () => {
    const { producer, inspector, inState } = await start({ keepIdsMs: 300 });
    const schedule = (payload: number) => producer.schedule('double', payload, { id: 'x' });
    await schedule(1);
    const { endedAt } = await inState('x', 'completed');
    expect(await schedule(2)).toMatchObject({ created: false, status: 'ended' });
    await until('the id is free', async () => (await schedule(3)).created);
    expect(Date.now() - endedAt!.getTime()).toBeGreaterThanOrEqual(299);
    await until('it has run again', async () => (await inspector.job('x'))?.result === 6);
    expect(await inspector.stats()).toMatchObject({ scheduled: 2, completed: 2 });
  });

  it('of an ended job may be used again at once with keepIdsMs: 0', async () => {
    const { producer, inspector } = await start({ keepIdsMs: 0, keepCompleted: 0 });
    for (let i = 1; i <= 3; i++) {
      expect(await producer.schedule('double', i, { id: 'x' })).toMatchObject({ created: true });
      await until('it has completed', async () => (await inspector.stats()).completed === i);
    }
  });
});

it('dispatch runs a job now, with the options of schedule', async () => {
  const { producer, inState } = await start();
  const before = Date.now();
  const ref = await producer.dispatch('double', 21, { id: 'x', priority: 1 });
  expect(ref).toMatchObject({ id: 'x', queue: 'default', name: 'double', created: true });
  expect(ref.dueAt!.getTime()).toBeGreaterThanOrEqual(before);
  expect(ref.dueAt!.getTime()).toBeLessThanOrEqual(Date.now());
  expect(await inState(ref, 'completed')).toMatchObject({ result: 42, priority: 1 });
});

it('a job of a past instant runs at once, and keeps that instant', async () => {
  const { producer, inState } = await start();
  const ref = await producer.schedule('double', 21, { at: new Date('2001-01-01T00:00:00Z') });
  expect(ref.dueAt).toEqual(new Date('2001-01-01T00:00:00Z'));
  expect(await inState(ref, 'completed')).toMatchObject({ result: 42, dueAt: ref.dueAt });
});
