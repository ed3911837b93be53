import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  InvalidOptionsError,
  InvalidScheduleError,
  JobOutcome,
  OnScheduledJob,
  type PoppedJob,
  ScheduledJob,
  type ScheduledQueueEvent,
  UnrecoverableJobError,
} from '../../../lib/index.js';
import { audit } from '../../support/audit.js';
import { LogLines } from '../../support/log-lines.js';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

afterEach(stopApps);

const ids = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id);
const HOUR_MS = 3_600_000;

describe('pop', () => {
  it('hands out what is due, one after the other, as a plain priority queue would', async () => {
    const { consumer, producer, inspector } = await startApp();
    await producer.schedule('mail', 'low', { id: 'low', priority: 10 });
    await producer.schedule('mail', 'high', { id: 'high', priority: 1 });
    await producer.schedule('letter', 'mid', { id: 'mid', priority: 5 });
    await producer.schedule('mail', 'later', { id: 'later', priority: 1, delay: '1h' });
    expect(ids(await inspector.peek(3))).toEqual(['high', 'mid', 'low']);
    const order: string[] = [];
    for (let jobs = await consumer.pop(); jobs.length > 0; jobs = await consumer.pop()) {
      expect(jobs).toHaveLength(1);
      order.push(...ids(jobs));
      expect(await jobs[0]!.complete()).toBe(true);
    }
    expect(order).toEqual(['high', 'mid', 'low']);
    expect(await inspector.counts()).toMatchObject({ scheduled: 1, due: 0, active: 0 });
    expect(await inspector.stats()).toMatchObject({ started: 3, completed: 3 });
    expect(await inspector.clear()).toBe(1);
    expect(await consumer.pop()).toEqual([]);
  });

  it('says of a job what a handler would see, and shows nothing else when it is logged', async () => {
    const { consumer, producer } = await startApp();
    const at = new Date(Date.now() - 1_000);
    const payload = { user: 7 };
    const ref = await producer.schedule('mail', payload, {
      queue: 'post',
      at,
      priority: 2,
      maxAttempts: 4,
      headers: { trace: 'abc' },
    });
    const [job] = await consumer.pop<typeof payload>({ queue: 'post' });
    const expected = {
      id: ref.id,
      queue: 'post',
      name: 'mail',
      version: 1,
      payload: { user: 7 },
      headers: { trace: 'abc' },
      dueAt: ref.dueAt,
      createdAt: expect.any(Date),
      attempt: 1,
      maxAttempts: 4,
      priority: 2,
      latenessMs: expect.any(Number),
      fence: expect.any(Number),
    };
    expect({ ...job }).toEqual(expected);
    expect(job!.payload.user).toBe(7);
    expect(job!.fence).toBeGreaterThan(0);
    expect(job!.latenessMs).toBeGreaterThanOrEqual(0);
    await job!.complete();
  });

  it('takes up to count at once, and each of many pops at once gets jobs of its own', async () => {
    const { consumer, producer } = await startApp();
    await producer.scheduleMany(Array.from({ length: 25 }, (_, i) => ({ job: 'mail', payload: i })));
    expect(await consumer.pop({ count: 10 })).toHaveLength(10);
    const batches = await Promise.all(Array.from({ length: 8 }, () => consumer.pop({ count: 2 })));
    expect(batches.map(({ length }) => length)).toEqual([2, 2, 2, 2, 2, 2, 2, 1]);
    expect(new Set(ids(batches.flat())).size).toBe(15);
  });

  it('takes a thousand at once', async () => {
    const { consumer, producer, inspector } = await startApp();
    await producer.scheduleMany(Array.from({ length: 1_000 }, (_, i) => ({ job: 'mail', payload: i })));
    const jobs = await consumer.pop({ count: 1_000 });
    expect(jobs.map(({ payload }) => payload)).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
    expect(new Set(await Promise.all(jobs.map((job) => job.complete())))).toEqual(new Set([true]));
    expect(await inspector.stats()).toMatchObject({ completed: 1_000 });
  });

  it('takes only the names that are asked for, and without any every name, also those that come up later', async () => {
    const { consumer, producer } = await startApp();
    await producer.schedule('a', null);
    await producer.schedule('b', null);
    await producer.schedule('c', null);
    const some = await consumer.pop({ names: ['c', 'b'], count: 10 });
    expect(some.map(({ name }) => name).sort()).toEqual(['b', 'c']);
    expect(await consumer.pop({ names: ['b', 'c'], count: 10 })).toEqual([]);
    expect((await consumer.pop({ count: 10 })).map(({ name }) => name)).toEqual(['a']);
    await producer.schedule('new', null);
    expect((await consumer.pop({ count: 10 })).map(({ name }) => name)).toEqual(['new']);
    // A name, and not a word for all.
    await producer.schedule('other', null);
    expect(await consumer.pop({ names: ['*'] })).toEqual([]);
  });

  it('counts as a worker that is there, by the name of its process', async () => {
    const { consumer, producer, inspector } = await startApp([], { workerId: 'puller-1' });
    const ref = await producer.schedule('mail', null);
    expect((await inspector.explain(ref)).code).toBe('no-handler');
    expect(await consumer.pop({ names: ['letter'] })).toEqual([]);
    expect((await inspector.explain(ref)).code).toBe('no-handler');
    const [job] = await consumer.pop();
    expect(await inspector.job(ref)).toMatchObject({ state: 'active', worker: 'puller-1' });
    expect(await inspector.workers()).toMatchObject([{ id: 'puller-1', running: 1, handles: ['*', 'letter'] }]);
    const next = await producer.schedule('mail', null);
    expect(await inspector.explain(next)).toMatchObject({
      code: 'behind',
      message: expect.stringContaining(`room in worker 'puller-1'`),
    });
    await job!.complete();
  });

  it('gets nothing from a queue that is paused, and wakes when it is resumed', async () => {
    const { consumer, producer, inspector } = await startApp();
    await inspector.pause();
    const { id } = await producer.schedule('mail', null);
    expect(await consumer.pop()).toEqual([]);
    const waiting = consumer.pop({ waitMs: '20s' });
    await until('it stands by', async () => (await consumer.pop({ waitMs: 50 })).length === 0);
    const from = performance.now();
    await inspector.resume();
    expect(ids(await waiting)).toEqual([id]);
    expect(performance.now() - from).toBeLessThan(2_000);
  });

  it.each([
    [{ queue: 'a b' }, 'pop: queue: got "a b"'],
    [{ names: [] }, 'pop: names: got none, expected an array of job names'],
    [{ names: 'mail' }, 'pop: names: got "mail", expected an array'],
    [{ names: [''] }, 'pop: names: name 0: got ""'],
    [{ count: 0 }, 'pop: count: got 0, expected a whole number from 1 to 1000'],
    [{ count: 1_001 }, 'pop: count: got 1001'],
    [{ waitMs: -1 }, 'pop: waitMs: got -1'],
    [{ waitMs: '30 days' }, 'pop: waitMs: got "30 days", expected at most 2147483647 ms'],
    [{ wait: 5 }, `pop: unknown option "wait", did you mean 'waitMs'?`],
    ['mail', 'pop: got "mail", expected an object of options'],
  ])('refuses %j', async (options, message) => {
    const { consumer } = await startApp();
    const popped = consumer.pop(options as never);
    await expect(popped).rejects.toThrow(InvalidOptionsError);
    await expect(popped).rejects.toThrow(message);
  });

  it('is refused in a process that never claims', async () => {
    const { consumer } = await startApp([], { role: 'producer' });
    await expect(consumer.pop()).rejects.toThrow(InvalidOptionsError);
    await expect(consumer.pop()).rejects.toThrow(`pop: this process has role 'producer'`);
  });

  it('hands out nothing that cannot be read, nor what has no attempt left', async () => {
    const { consumer, producer, inspector, prefix } = await startApp([], { queues: { default: { leaseMs: 1_000 } } });
    const redis = new Redis(redisUrl());
    await producer.schedule('mail', null, { id: 'payload', priority: 1 });
    await producer.schedule('mail', null, { id: 'envelope', priority: 1 });
    await redis.hset(`${prefix}:{default}:jobs`, 'payload', '1::mail\n1 c\n\n{');
    await redis.hset(`${prefix}:{default}:jobs`, 'envelope', '1::mail');
    redis.disconnect();
    await producer.schedule('mail', null, { id: 'crash', maxAttempts: 1 });
    // What cannot be had is no answer: it looks on.
    expect(ids(await consumer.pop())).toEqual(['crash']);
    // Its lease runs out, and it has had its one attempt.
    await producer.schedule('mail', null, { id: 'good', delay: 2_500 });
    expect(ids(await consumer.pop({ count: 5, waitMs: '20s' }))).toEqual(['good']);
    await until('all are settled', async () => (await inspector.counts()).dead === 3);
    const dead = await inspector.list('dead');
    expect(Object.fromEntries(dead.map(({ id, reason }) => [id, reason]))).toEqual({
      payload: 'invalid-payload',
      envelope: 'unreadable',
      crash: 'crashed',
    });
  });
});

it('what Redis refuses is told to who pops, and once in the log, by the name of pull', async () => {
  const log = new LogLines();
  const { consumer, producer, prefix } = await startApp([], {}, { log });
  const redis = new Redis(redisUrl());
  try {
    await redis.set(`${prefix}:{default}:levels`, 'no sorted set');
    await expect(consumer.pop()).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE', redisCode: 'WRONGTYPE' });
    await redis.del(`${prefix}:{default}:levels`);
    await producer.schedule('work', 1);
    await until('it can be popped', async () => (await consumer.pop({ waitMs: 100 })).length === 1);
    expect(log.lines).toEqual([
      expect.stringMatching(
        /^error The pull of queue 'default' cannot go on and tries again every second: .*WRONGTYPE/,
      ),
      "log The pull of queue 'default' goes on.",
    ]);
  } finally {
    redis.disconnect();
  }
});

describe('a popped job', () => {
  async function popOne(options: Parameters<typeof startApp>[1] = {}, schedule = {}, log?: LogLines) {
    const app = await startApp([], options, { log });
    const events: ScheduledQueueEvent[] = [];
    app.events.events$.subscribe((event) => events.push(event));
    const ref = await app.producer.schedule('mail', { n: 1 }, schedule);
    const [job] = await app.consumer.pop();
    return { ...app, events, ref, job: job!, types: () => events.map(({ type }) => type) };
  }

  it('that is completed keeps its result where completed jobs are kept', async () => {
    const { job, inspector, ref, types } = await popOne({ queues: { default: { keepCompleted: 5 } } });
    expect(await job.complete({ sent: true })).toBe(true);
    expect(await inspector.job(ref)).toMatchObject({ state: 'completed', result: { sent: true } });
    expect(types()).toEqual(['scheduled', 'started', 'completed']);
  });

  it('may be completed with an outcome, as a handler may return one', async () => {
    const { job, inspector, types } = await popOne();
    expect(await job.complete(JobOutcome.discard('nobody wants it'))).toBe(true);
    expect(await inspector.stats()).toMatchObject({ discarded: 1, completed: 0 });
    expect(types().at(-1)).toBe('discarded');
  });

  it('that fails is tried again after the backoff of its call, and is dead at its last attempt', async () => {
    const { job, consumer, inspector, ref, types } = await popOne(
      { jobs: { mail: { maxAttempts: 9 } } },
      { maxAttempts: 2, backoff: { type: 'fixed', delayMs: 0 } },
    );
    expect(await job.fail(new TypeError('no such address'))).toBe(true);
    expect(await inspector.job(ref)).toMatchObject({
      state: 'due',
      attempts: 1,
      failures: [{ attempt: 1, name: 'TypeError', message: 'no such address' }],
    });
    const [again] = await consumer.pop();
    expect(again).toMatchObject({ id: job.id, attempt: 2, maxAttempts: 2 });
    expect(again!.fence).toBeGreaterThan(job.fence);
    expect(await again!.fail('still none')).toBe(true);
    expect(await inspector.job(ref)).toMatchObject({ state: 'dead', reason: 'attempts-exhausted' });
    expect(types()).toEqual(['scheduled', 'started', 'failed', 'started', 'failed', 'dead']);
    expect(await inspector.stats()).toMatchObject({ started: 2, failed: 2, retried: 1, dead: 1 });
  });

  it("that fails follows the module's jobs where its call says nothing, and the defaults where they do not either", async () => {
    const asked: unknown[] = [];
    const { producer, consumer, inspector } = await startApp([], {
      jobs: {
        asks: {
          backoff: (attempt, error, job) => {
            asked.push([attempt, (error as Error).message, job.payload]);
            return '2h';
          },
        },
        once: { maxAttempts: 1 },
      },
    });
    const delays: Record<string, number> = {};
    for (const name of ['asks', 'once', 'other']) {
      const ref = await producer.schedule(name, name);
      const [job] = await consumer.pop();
      await job!.fail(new Error('no'));
      const { state, dueAt } = (await inspector.job(ref))!;
      if (state === 'scheduled') delays[name] = Math.round((dueAt.getTime() - Date.now()) / 1_000);
    }
    expect(asked).toEqual([[1, 'no', 'asks']]);
    expect(delays).toEqual({ asks: 7_200, other: 60 });
    expect(await inspector.stats()).toMatchObject({ dead: 1, retried: 2 });
  });

  it('that fails for good is dead at once', async () => {
    const { job, inspector, ref } = await popOne();
    expect(await job.fail(new UnrecoverableJobError('no such user'))).toBe(true);
    expect(await inspector.job(ref)).toMatchObject({ state: 'dead', reason: 'unrecoverable' });
  });

  it('snoozes for a while or until an instant, and uses no attempt', async () => {
    const { job, consumer, producer, inspector, ref, types } = await popOne();
    expect(await job.snooze('1h')).toBe(true);
    const snoozed = (await inspector.job(ref))!;
    expect(snoozed).toMatchObject({ state: 'scheduled', attempts: 0 });
    expect(Math.abs(snoozed.dueAt.getTime() - Date.now() - HOUR_MS)).toBeLessThan(5_000);
    await producer.runNow(ref);
    const [again] = await consumer.pop();
    expect(again!.attempt).toBe(1);
    const at = new Date(Date.now() + 2 * HOUR_MS);
    expect(await again!.snooze({ at })).toBe(true);
    expect((await inspector.job(ref))!.dueAt).toEqual(at);
    expect(types().filter((type) => type === 'snoozed')).toHaveLength(2);
  });

  it.each([
    ['snooze', 'soon', 'snooze: delay: got "soon"'],
    ['snooze', undefined, 'snooze: got undefined'],
    ['snooze', { at: 'tomorrow' }, 'snooze: at: got "tomorrow"'],
    ['extend', 0, 'extend: got 0, expected at least 1 ms'],
    ['extend', '5', 'extend: got "5"'],
    ['extend', 8e15, 'extend: got 8000000000000000, expected at most'],
  ] as const)('refuses %s(%j) and stays as it was', async (call, until, message) => {
    const { job } = await popOne();
    const refused = job[call](until as never);
    await expect(refused).rejects.toThrow(InvalidScheduleError);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toMatchObject({ queue: job.queue, jobName: job.name, jobId: job.id });
    expect(await job.complete()).toBe(true);
  });

  it('is settled once: whatever is said of it later answers false', async () => {
    const { job, inspector } = await popOne();
    expect(await Promise.all([job.complete(), job.complete(), job.fail(new Error('no'))])).toEqual([
      true,
      false,
      false,
    ]);
    expect(await job.complete()).toBe(false);
    expect(await job.snooze('1h')).toBe(false);
    expect(await job.extend('1h')).toBe(false);
    expect(await inspector.stats()).toMatchObject({ completed: 1, failed: 0, snoozed: 0 });
  });

  it('keeps its lease for as long as it is extended, and no longer', async () => {
    const { job, consumer, inspector, ref, prefix } = await popOne({ queues: { default: { leaseMs: 1_000 } } });
    expect(await job.extend(4_000)).toBe(true);
    const { leaseUntil } = (await inspector.job(ref))!;
    const leftMs = leaseUntil!.getTime() - Date.now();
    expect(leftMs).toBeGreaterThan(3_000);
    expect(leftMs).toBeLessThanOrEqual(4_000);
    const [again] = await consumer.pop({ waitMs: '20s' });
    expect(again).toMatchObject({ id: job.id, attempt: 2 });
    expect(Date.now()).toBeGreaterThanOrEqual(leaseUntil!.getTime());
    // It may be cut short as well.
    expect(await again!.extend('1h')).toBe(true);
    expect(await again!.extend(300)).toBe(true);
    expect((await consumer.pop({ waitMs: '20s' }))[0]).toMatchObject({ attempt: 3 });
    const redis = new Redis(redisUrl());
    expect(await audit(redis, prefix)).toEqual([]);
    redis.disconnect();
  });

  it('whose lease ran out is lost to whoever popped it next: all four calls answer false and change nothing', async () => {
    const log = new LogLines();
    const { producer, consumer, inspector, events } = await startApp(
      [],
      { queues: { default: { leaseMs: 1_000 } } },
      { log },
    );
    const lost: unknown[] = [];
    events.events$.subscribe((event) => event.type === 'leaseLost' && lost.push(event.id));
    const calls: ((job: PoppedJob) => Promise<boolean>)[] = [
      (job) => job.complete(),
      (job) => job.fail(new Error('no')),
      (job) => job.snooze('1h'),
      (job) => job.extend('1h'),
    ];
    await producer.scheduleMany(calls.map((_, i) => ({ job: 'mail', payload: i })));
    const first = await consumer.pop({ count: 10 });
    const second: PoppedJob[] = [];
    while (second.length < 4) {
      const jobs = await consumer.pop({ count: 10, waitMs: '20s' });
      await Promise.all(jobs.map((job) => job.extend('1m')));
      second.push(...jobs);
    }
    second.sort((a, b) => Number(a.payload) - Number(b.payload));
    expect(await Promise.all(calls.map((call, i) => call(first[i]!)))).toEqual([false, false, false, false]);
    expect(lost.sort()).toEqual(ids(first).sort());
    expect(log.starting('warn').filter((line) => line.includes('after its lease was lost'))).toHaveLength(4);
    expect(await first[3]!.complete()).toBe(false);
    expect(await inspector.counts()).toMatchObject({ active: 4, due: 0, scheduled: 0 });
    expect(await Promise.all(second.map((job) => job.complete()))).toEqual([true, true, true, true]);
    expect(await inspector.stats()).toMatchObject({ started: 8, recovered: 4, completed: 4, failed: 0, snoozed: 0 });
  });

  it('that somebody cancels ends as cancelled with the next thing that is said of it', async () => {
    const { job, inspector, ref, types } = await popOne();
    expect(await inspector.cancelRunning(ref)).toBe(true);
    expect(await job.extend('1h')).toBe(false);
    expect(await job.complete()).toBe(false);
    expect(await inspector.job(ref)).toBeNull();
    expect(await inspector.stats()).toMatchObject({ cancelled: 1, completed: 0 });
    expect(types().at(-1)).toBe('cancelled');
  });
});

@Injectable()
class Handlers {
  readonly ran: string[] = [];

  @OnScheduledJob('mail')
  send(_payload: unknown, { id }: ScheduledJob): void {
    this.ran.push(id);
  }
}

it('handlers and pops side by side on one queue never get the same job', async () => {
  const JOBS = 2_000;
  const { producer, consumer, inspector, get } = await startApp([Handlers], { autoStart: false });
  const items = Array.from({ length: JOBS }, (_, i) => ({ job: 'mail', payload: i }));
  await producer.scheduleMany(items);
  const popped: string[] = [];
  const pull = async () => {
    for (;;) {
      const jobs = await consumer.pop({ names: ['mail'], count: 7, waitMs: 300 });
      if (jobs.length === 0) return;
      popped.push(...ids(jobs));
      await Promise.all(jobs.map((job) => job.complete()));
    }
  };
  const pulls = Promise.all([pull(), pull(), pull()]);
  await until('some are popped', () => popped.length > 0);
  await consumer.start();
  await pulls;
  const { ran } = get(Handlers);
  await until('all are done', async () => (await inspector.stats()).completed === JOBS);
  expect(new Set([...popped, ...ran]).size).toBe(JOBS);
  expect(popped.length + ran.length).toBe(JOBS);
  expect(ran.length).toBeGreaterThan(0);
  expect(await inspector.stats()).toMatchObject({ started: JOBS, recovered: 0 });
});
