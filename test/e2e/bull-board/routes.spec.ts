import { appRoutes } from '@bull-board/api/dist/routes.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { OnScheduledJob, type ScheduledJob, type ScheduledJobRef } from '../../../lib/index.js';
import { TestBoard } from '../../support/board.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';

// Each route of bull-board's API, over HTTP, with its own check of each answer switched on.

const HOUR = 3_600_000;
let release = () => {};
const held = new Promise<void>((resolve) => {
  release = resolve;
});

@Injectable()
class Handlers {
  @OnScheduledJob('good', { queue: 'worked' })
  async good(_: unknown, job: ScheduledJob): Promise<{ sent: number }> {
    await job.progress(50);
    return { sent: 1 };
  }

  @OnScheduledJob('flaky', { queue: 'worked', maxAttempts: 2, backoff: { type: 'fixed', delayMs: 1 } })
  flaky(_: unknown, { attempt }: ScheduledJob): void {
    if (attempt === 1) throw new Error('once');
  }

  @OnScheduledJob('bad', { queue: 'worked', maxAttempts: 1 })
  bad(): void {
    throw new TypeError('no such user', { cause: new Error('404') });
  }

  @OnScheduledJob('held', { queue: 'worked' })
  held(): Promise<void> {
    return held;
  }
}

const called = new Set<string>();
let app: QueueApp;
let board: TestBoard;

beforeAll(async () => {
  app = await startApp([Handlers], { queues: { worked: { keepCompleted: 10 } } });
  board = await TestBoard.start(app, {
    handlerHooks: {
      before({ method, route }) {
        called.add(`${method} ${route}`);
      },
    },
  });
  const { producer } = app;
  for (const queue of ['worked', 'waiting', 'moved', 'cleaned', 'recurring', 'refusing'])
    board.addQueue({ queue, producer });
  board.addQueue({ queue: 'waiting', prefix: 'looked-at/' });
});

afterAll(async () => {
  release();
  await board?.stop();
  await stopApps();
});

/** A queue of a test has no worker: what is scheduled there stays. */
const schedule = (queue: string, options = {}, payload: unknown = { user: 7 }) =>
  app.producer.schedule('mail.send', payload, { queue, ...options });
const pathOf = ({ queue, id }: { queue: string; id: string }) => `/queues/${queue}/${encodeURIComponent(id)}`;
const state = async (ref: ScheduledJobRef) => (await app.inspector.job(ref))?.state;

describe('what the board shows', () => {
  it('the list of queues has counts, whether they are paused, and whether somebody works there', async () => {
    const { inspector } = app;
    await until('the worker is there', async () => (await inspector.workers({ queue: 'worked' })).length === 1);
    await inspector.pause({ queue: 'waiting' });
    const late = await schedule('waiting', { at: Date.now() - HOUR });
    await schedule('waiting', { delay: HOUR });
    const { body } = await board.get('/queues');
    const [worked, waiting] = body.queues;
    expect(worked).toMatchObject({ name: 'worked', type: 'bull', isPaused: false, hasWorkers: true, jobs: [] });
    expect(worked.statuses).toEqual(['latest', 'active', 'waiting', 'delayed', 'failed', 'completed']);
    expect(waiting).toMatchObject({ name: 'waiting', isPaused: true, hasWorkers: false, readOnlyMode: false });
    expect(waiting.counts).toEqual({ waiting: 1, delayed: 1, active: 0, failed: 0, completed: 0 });
    expect(await board.put('/queues/waiting/resume')).toEqual({ status: 200, body: {} });
    expect(await inspector.isPaused({ queue: 'waiting' })).toBe(false);
    // Longest due, and so the first in the order of claims.
    expect((await board.queue('waiting', 'status=waiting')).jobs.map(({ id }: { id: string }) => id)).toEqual([
      late.id,
    ]);
  });

  it('a delayed job has its payload and options, and is due at timestamp + delay', async () => {
    const options = {
      id: 'order:7/mail',
      priority: 3,
      maxAttempts: 3,
      group: 'a',
      tags: ['eu'],
      headers: { trace: 'a1' },
    };
    const job = await schedule('waiting', { ...options, delay: HOUR });
    const { body } = await board.get(pathOf(job));
    expect(body.status).toBe('delayed');
    const { delay, timestamp, opts, ...shown } = body.job;
    expect(timestamp + delay).toBe(job.dueAt!.getTime());
    const { id, ...others } = options;
    expect(opts).toEqual({ ...others, delay });
    expect(shown).toMatchObject({ id, name: 'mail.send', data: { user: 7 }, progress: 0, attempts: 0, priority: 3 });
    expect(shown).toMatchObject({ isFailed: false, stacktrace: [] });
  });

  it('a job that was scheduled for the past is waiting, and due at timestamp + delay as well', async () => {
    const job = await schedule('waiting', { at: Date.now() - 2 * HOUR });
    const { body } = await board.get(pathOf(job));
    expect(body.status).toBe('waiting');
    expect(body.job.timestamp + body.job.delay).toBe(job.dueAt!.getTime());
    // "Duplicate" sends the options back, and a negative delay would be refused.
    expect(body.job.opts).toEqual({});
  });

  it('a completed job has its result, its progress and its end', async () => {
    const good = await app.producer.dispatch('good', null, { queue: 'worked' });
    const flaky = await app.producer.dispatch('flaky', null, { queue: 'worked' });
    await until('both completed', async () => (await app.inspector.counts({ queue: 'worked' })).completed === 2);
    const { body } = await board.get(pathOf(good));
    expect(body).toMatchObject({
      status: 'completed',
      job: { returnValue: { sent: 1 }, progress: 50, isFailed: false },
    });
    const { endedAt } = (await app.inspector.job(good))!;
    expect(body.job.finishedOn).toBe(endedAt!.getTime());
    expect(body.job.processedOn).toBe(good.dueAt!.getTime());
    expect((await board.get(pathOf(flaky))).body.job).toMatchObject({ attempts: 2, isFailed: false, failedReason: '' });
    expect((await board.get(`${pathOf(flaky)}/logs`)).body).toEqual([]);
  });

  it('a failed job has its error and stack, and can be retried', async () => {
    const job = await app.producer.dispatch('bad', null, { queue: 'worked' });
    await until('it is dead', async () => (await state(job)) === 'dead');
    const { body } = await board.get(pathOf(job));
    expect(body).toMatchObject({ status: 'failed', job: { attempts: 1, isFailed: true } });
    expect(body.job.failedReason).toBe('TypeError: no such user (cause: Error: 404)');
    expect(body.job.stacktrace).toEqual([
      expect.stringMatching(/^Attempt 1 at \S+Z: TypeError: no such user\n {4}at Handlers\.bad/),
    ]);
    const isDeadAgain = async () => (await app.inspector.stats({ queue: 'worked' })).dead === 2;
    expect(await board.put(`${pathOf(job)}/retry`)).toMatchObject({ status: 204 });
    await until('it ran again', isDeadAgain);
  });

  it('a running job has its worker, and is neither deleted nor retried', async () => {
    const job = await app.producer.dispatch('held', null, { queue: 'worked' });
    await until('it runs', async () => (await state(job)) === 'active');
    const { body } = await board.get(pathOf(job));
    const [worker] = await app.inspector.workers({ queue: 'worked' });
    expect(body).toMatchObject({ status: 'active', job: { processedBy: worker!.id } });
    expect(await board.put(`${pathOf(job)}/clean`)).toMatchObject({
      status: 409,
      body: { error: { key: 'ERRORS.JOB_IS_ACTIVE' } },
    });
    expect(await board.put(`${pathOf(job)}/retry`)).toMatchObject({ status: 400 });
    expect(await state(job)).toBe('active');
  });

  it('the workers of a queue are there with where they are', async () => {
    const { body } = await board.get('/queues/worked/workers');
    const [worker] = await app.inspector.workers({ queue: 'worked' });
    const addr = expect.stringMatching(new RegExp(`^${worker!.host}, pid ${process.pid}, runs [01]$`));
    expect(body).toEqual({ workers: [{ id: worker!.id, name: worker!.id, addr, age: 0 }] });
    expect((await board.get('/queues/cleaned/workers')).body).toEqual({ workers: [] });
  });

  it('what this library does not have is empty: metrics, default options, a schema, a rate limit, flows', async () => {
    const job = await schedule('waiting');
    const answers = ['metrics', 'default-job-options', 'job-data-schema', 'rate-limit', `${job.id}/flow`].map(
      async (path) => (await board.get(`/queues/waiting/${path}`)).body,
    );
    expect(await Promise.all(answers)).toEqual([
      { completed: null, failed: null },
      {},
      {},
      { supported: false, rateLimit: null },
      { nodeId: job.id, flowRoot: null, isFlowNode: false },
    ]);
  });

  it('a job that is not there is not found', async () => {
    expect(await board.get('/queues/waiting/never-scheduled')).toMatchObject({ status: 404 });
    expect(await board.get('/queues/waiting/never-scheduled/logs')).toEqual({ status: 200, body: [] });
    expect(await board.get(`/queues/waiting/${'x'.repeat(300)}`)).toMatchObject({ status: 400 });
  });
});

describe('what the board does', () => {
  it('pauses and resumes one queue, and all queues', async () => {
    const { inspector } = app;
    const paused = async () => [
      await inspector.isPaused({ queue: 'moved' }),
      await inspector.isPaused({ queue: 'cleaned' }),
    ];
    await board.put('/queues/moved/pause');
    expect(await paused()).toEqual([true, false]);
    await board.put('/queues/pause');
    expect(await paused()).toEqual([true, true]);
    await board.put('/queues/resume');
    expect(await paused()).toEqual([false, false]);
  });

  it('promotes a delayed job, and all delayed jobs', async () => {
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => schedule('moved', { delay: HOUR })));
    expect(await board.put(`${pathOf(first!)}/promote`)).toMatchObject({ status: 204 });
    expect(await state(first!)).toBe('due');
    expect(await state(others[0]!)).toBe('scheduled');
    expect(await board.put('/queues/moved/promote')).toMatchObject({ status: 200 });
    expect(await app.inspector.counts({ queue: 'moved' })).toMatchObject({ due: 3, scheduled: 0 });
  });

  it('gives a delayed job a new time, to the millisecond that was chosen', async () => {
    const job = await schedule('moved', { delay: HOUR });
    const runAt = Date.now() + 2 * HOUR;
    expect(await board.ask('PATCH', `${pathOf(job)}/delay`, { runAt })).toMatchObject({ status: 200 });
    const { dueAt } = (await app.inspector.job(job))!;
    // bull-board tells the adapter how long from now.
    expect(Math.abs(dueAt.getTime() - runAt)).toBeLessThan(BEFORE_NEXT_LOOK_MS);
  });

  it('adds a job, and duplicates one by sending back what it shows of it', async () => {
    const added = await board.ask('POST', '/queues/moved/add', {
      name: 'mail.send',
      data: { user: 8 },
      options: { delay: HOUR, attempts: 4, group: 'a', tags: ['eu'], id: 'added' },
    });
    expect(added).toMatchObject({ status: 200, body: { status: 'delayed', job: { id: 'added', data: { user: 8 } } } });
    const job = (await app.inspector.job('added', { queue: 'moved' }))!;
    expect(job).toMatchObject({
      name: 'mail.send',
      payload: { user: 8 },
      maxAttempts: 4,
      group: 'a',
      tags: ['eu'],
      state: 'scheduled',
    });
    const { name, data, opts: options } = (await board.get('/queues/moved/added')).body.job;
    const { body } = await board.ask('POST', '/queues/moved/add', { name, data, options });
    expect(body.job.id).not.toBe('added');
    const copy = (await app.inspector.job(body.job.id, { queue: 'moved' }))!;
    expect(copy).toMatchObject({
      name: 'mail.send',
      payload: { user: 8 },
      maxAttempts: 4,
      group: 'a',
      tags: ['eu'],
      state: 'scheduled',
    });
  });

  it('says what is wrong with a job that cannot be added, and adds nothing', async () => {
    const add = (options: object, data: unknown = {}) =>
      board.ask('POST', '/queues/refusing/add', { name: 'mail.send', data, options });
    expect((await add({ jobId: 'x' })).body.message).toContain("BullMQ's 'jobId' is 'id' here");
    expect(await add({ delay: -1 })).toMatchObject({ status: 400 });
    expect(await add({ queue: 'moved', priority: 'high' })).toMatchObject({ status: 400 });
    expect(await app.inspector.counts({ queue: 'refusing' })).toMatchObject({ due: 0, scheduled: 0 });
    await schedule('refusing', { id: 'taken' });
    expect(await add({ id: 'taken' })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('taken') },
    });
    expect((await app.inspector.job('taken', { queue: 'refusing' }))!.payload).toEqual({ user: 7 });
  });

  it('deletes a job, and empties a queue of all that waits', async () => {
    const [first] = await Promise.all([schedule('cleaned'), schedule('cleaned'), schedule('cleaned', { delay: HOUR })]);
    expect(await board.put(`${pathOf(first!)}/clean`)).toMatchObject({ status: 204 });
    expect(await state(first!)).toBeUndefined();
    expect(await board.put('/queues/cleaned/empty')).toEqual({ status: 200, body: {} });
    expect(await app.inspector.counts({ queue: 'cleaned' })).toMatchObject({ due: 0, scheduled: 0 });
  });

  it('cleans failed jobs that died more than five seconds ago, and retries the others', async () => {
    const job = await app.producer.dispatch('bad', null, { queue: 'worked' });
    await until('it is dead', async () => (await state(job)) === 'dead');
    const endedAt = (await app.inspector.job(job))!.endedAt!.getTime();
    expect(await board.put('/queues/worked/clean/failed')).toEqual({ status: 200, body: {} });
    if ((await state(job)) !== 'dead') expect(Date.now() - endedAt).toBeGreaterThanOrEqual(5_000);
    const { started } = await app.inspector.stats({ queue: 'worked' });
    const { dead } = await app.inspector.counts({ queue: 'worked' });
    expect(await board.put('/queues/worked/retry/failed')).toEqual({
      status: 200,
      body: { retried: dead, skipped: 0 },
    });
    await until('they ran', async () => (await app.inspector.stats({ queue: 'worked' })).started >= started + dead);
  });

  it('lists recurrences as schedulers, runs one now, and removes one', async () => {
    const { producer } = app;
    const rule = { cron: '0 8 * * MON', timeZone: 'Europe/Paris', limit: 9, endAt: new Date('2099-01-01T00:00:00Z') };
    const cron = await producer.upsertRecurrence({ id: 'by/cron', queue: 'recurring' }, 'mail.send', { user: 7 }, rule);
    await producer.upsertRecurrence({ id: 'every', queue: 'recurring' }, 'mail.send', null, { everyMs: '1h' });
    const { body } = await board.get('/job-schedulers?queueName=recurring');
    expect(body.schedulers).toEqual([
      {
        id: 'by/cron',
        name: 'mail.send',
        queueName: 'recurring',
        pattern: '0 8 * * MON',
        tz: 'Europe/Paris',
        limit: 9,
        endDate: rule.endAt.getTime(),
        next: cron.nextAt!.getTime(),
        iterationCount: 0,
        template: { data: { user: 7 } },
      },
      expect.objectContaining({ id: 'every', every: HOUR, iterationCount: 0, template: { data: null } }),
    ]);
    expect((await board.queue('recurring')).jobSchedulerCount).toBe(2);
    const ran = await board.put('/queues/recurring/job-schedulers/by%2Fcron/run');
    expect(ran).toMatchObject({ status: 200, body: { job: { name: 'mail.send', data: { user: 7 } } } });
    expect(await app.inspector.job(ran.body.job.id, { queue: 'recurring' })).toMatchObject({ state: 'due' });
    expect(await board.put('/queues/recurring/job-schedulers/by%2Fcron/remove')).toMatchObject({ status: 204 });
    expect((await producer.recurrences({ queue: 'recurring' })).map(({ id }) => id)).toEqual(['every']);
    expect(await board.put('/queues/recurring/job-schedulers/by%2Fcron/remove')).toMatchObject({ status: 404 });
    expect(await board.put('/queues/recurring/job-schedulers/by%2Fcron/run')).toMatchObject({ status: 404 });
  });

  it('has no details of Redis', async () => {
    const { status, body } = await board.get('/redis/stats');
    expect([status, body]).toEqual([404, { error: { key: 'ERRORS.REDIS_STATS_UNAVAILABLE' } }]);
  });
});

describe('a queue that cannot be read', () => {
  // Each is of another type than the library's, so that Redis refuses to read it.
  it.each([
    ['dead', 'counts'],
    ['gate', 'whether it is paused'],
    ['recurrences', 'schedulers'],
    ['jobs', 'jobs'],
  ])('with the key %s damaged (%s) is told as such, and takes no other off the page', async (key) => {
    const queue = `damaged-${key}`;
    board.addQueue({ queue, producer: app.producer });
    await schedule(queue, { delay: HOUR });
    await app.producer.upsertRecurrence({ id: 'every', queue }, 'mail.send', null, { everyMs: '1h' });
    const [damaged, kept] = ['', '-kept'].map((suffix) => `${app.prefix}:{${queue}}:${key}${suffix}`);
    const redis = new Redis(redisUrl());
    try {
      if ((await redis.exists(damaged!)) === 1) await redis.rename(damaged!, kept!);
      await redis.set(damaged!, 'x');
      const { status, body } = await board.get(`/queues?activeQueue=${queue}`);
      expect(status).toBe(200);
      const shown = (name: string) => body.queues.find((each: { name: string }) => each.name === name);
      expect(shown(queue)).toMatchObject({
        displayName: `${queue} (cannot be read)`,
        description: expect.stringContaining('WRONGTYPE'),
      });
      expect(shown('worked')).toMatchObject({ isPaused: false });
      expect(shown('worked').displayName).toBeUndefined();
      const { status: ofSchedulers, body: others } = await board.get('/job-schedulers');
      expect(ofSchedulers).toBe(200);
      expect(others.schedulers).toEqual(expect.any(Array));
      // What is done to the queue itself says so.
      if (key === 'dead') expect(await board.put(`/queues/${queue}/retry/failed`)).toMatchObject({ status: 500 });
      await redis.del(damaged!);
      if ((await redis.exists(kept!)) === 1) await redis.rename(kept!, damaged!);
      await board.get('/job-schedulers');
      expect((await board.queue(queue)).displayName).toBeUndefined();
    } finally {
      redis.disconnect();
    }
  });
});

it.each(['.', '..', '%2E', '%252E%2E', 'a.b'])('a job of the id %s is shown and changed, and no other', async (id) => {
  const queue = 'dots';
  const others = ['one', 'two', 'three'];
  await app.inspector.clear({ queue });
  board.addQueue({ queue, producer: app.producer });
  for (const each of [id, ...others]) await schedule(queue, { id: each, delay: HOUR });
  const listed = (await board.queue(queue, 'status=delayed')).jobs.map((job: { id: string }) => job.id);
  const [shown] = listed.filter((each: string) => !others.includes(each));
  const path = pathOf({ queue, id: shown });
  // As a browser makes an address of it.
  expect(new URL(`http://board${path}/promote`).pathname).toBe(`${path}/promote`);
  expect((await board.get(path)).body.job).toMatchObject({ id: shown, name: 'mail.send' });
  expect(await board.put(`${path}/promote`)).toMatchObject({ status: 204 });
  expect(await state({ queue, id } as ScheduledJobRef)).toBe('due');
  for (const other of others) expect(await state({ queue, id: other } as ScheduledJobRef)).toBe('scheduled');
});

it('a scheduler of the id . is shown, runs now and is removed', async () => {
  const { producer } = app;
  const queue = 'dotted';
  board.addQueue({ queue, producer });
  await producer.upsertRecurrence({ id: '.', queue }, 'mail.send', null, { everyMs: '1h' });
  const [{ id }] = (await board.get(`/job-schedulers?queueName=${queue}`)).body.schedulers;
  const path = `/queues/${queue}/job-schedulers/${encodeURIComponent(id)}`;
  expect(await board.put(`${path}/run`)).toMatchObject({ status: 200 });
  expect((await app.inspector.counts({ queue })).due).toBe(1);
  expect(await board.put(`${path}/remove`)).toMatchObject({ status: 204 });
  expect(await producer.recurrence({ id: '.', queue })).toBeNull();
});

describe('what is refused changes nothing, and says why with 405', () => {
  const refusals: [string, string, unknown?][] = [
    ['PATCH', ':id/update-data', { jobData: { user: 9 } }],
    ['PATCH', ':id/priority', { priority: 1 }],
    ['PATCH', 'job-schedulers/every', { every: 1_000 }],
    ['PUT', 'obliterate', { force: true }],
    ['PUT', 'concurrency', { concurrency: 3 }],
    ['PUT', 'rate-limit/release'],
    ...['completed', 'wait', 'active', 'delayed'].map((status): [string, string] => ['PUT', `clean/${status}`]),
  ];
  // Without a producer.
  const withoutProducer: [string, string, unknown?][] = [
    ['PUT', ':id/promote'],
    ['PATCH', ':id/delay', { runAt: Date.now() + 2 * HOUR }],
    ['POST', 'add', { name: 'mail.send', data: {} }],
    ['PUT', 'promote'],
    ['PUT', 'job-schedulers/every/run'],
    ['PUT', 'job-schedulers/every/remove'],
  ];

  /** All that a call could have changed. */
  const whole = async (queue: string) => ({
    jobs: (await app.inspector.find({ queue, limit: 1_000 })).jobs.sort((a, b) => (a.id < b.id ? -1 : 1)),
    recurrences: await app.producer.recurrences({ queue }),
    stats: await app.inspector.stats({ queue }),
  });

  it.each([
    ...refusals.map((call) => ['with a producer', 'refusing', ...call] as const),
    ...withoutProducer.map((call) => ['without a producer', 'looked-at/waiting', ...call] as const),
  ])('%s, in %s: %s %s', async (_, name, method, path, body = undefined) => {
    const queue = name.replace(/.*\//, '');
    const job = await schedule(queue, { id: 'refused', delay: HOUR });
    await app.producer.upsertRecurrence({ id: 'every', queue }, 'mail.send', null, { everyMs: '1h' });
    // Obliterating is only asked of a paused queue.
    await app.inspector.pause({ queue });
    const before = await whole(queue);
    const answer = await board.ask(method, `/queues/${encodeURIComponent(name)}/${path.replace(':id', job.id)}`, body);
    expect(answer).toEqual({
      status: 405,
      body: { error: { key: 'ERRORS.INTERNAL_SERVER_ERROR' }, message: expect.stringMatching(/^[A-Z].*\.$/) },
    });
    expect(await whole(queue)).toEqual(before);
  });

  it('a rate limit cannot be set, and jobs have no children', async () => {
    const job = await schedule('refusing');
    const limit = await board.put('/queues/refusing/rate-limit', { max: 1, duration: 1_000 });
    expect(limit).toMatchObject({ status: 400, body: { error: { key: 'ERRORS.RATE_LIMIT_NOT_SUPPORTED' } } });
    const children = await board.put(`${pathOf(job)}/remove-unprocessed-children`);
    expect(children).toMatchObject({
      status: 400,
      body: { error: { key: 'ERRORS.JOB_UNPROCESSED_CHILDREN_NOT_SUPPORTED' } },
    });
  });

  it('without a producer no scheduler is listed, and the rest works', async () => {
    const name = encodeURIComponent('looked-at/waiting');
    expect((await board.get(`/job-schedulers?queueName=${encodeURIComponent(name)}`)).body).toEqual({ schedulers: [] });
    expect(await board.queue('looked-at/waiting')).toMatchObject({ jobSchedulerCount: 0 });
    const job = await schedule('waiting');
    expect(await board.put(`/queues/${name}/${job.id}/clean`)).toMatchObject({ status: 204 });
    expect(await state(job)).toBeUndefined();
  });
});

it('each route of the API was called', () => {
  const routes = appRoutes.api.map(({ method, route }) => `${method} ${route}`);
  expect(routes.filter((route) => !called.has(route))).toEqual([]);
});
