import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  JobOutcome,
  OnScheduledJob,
  type RedisScheduledQueueModuleOptions,
  type ScheduledJob,
} from '../../../lib/index.js';
import { queueKeys } from '../../../lib/store/redis/keys.js';
import { LogLines } from '../../support/log-lines.js';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

let workers: WorkerProcesses | undefined;

afterEach(async () => {
  await workers?.stop();
  workers = undefined;
  await stopApps();
});

type Work = (job: ScheduledJob) => unknown;

/** An app whose jobs do what a test says. */
async function start(work: Work, options: RedisScheduledQueueModuleOptions = {}) {
  @Injectable()
  class Handlers {
    @OnScheduledJob('work')
    work(_: unknown, job: ScheduledJob): unknown {
      return work(job);
    }
  }
  const log = new LogLines();
  return { ...(await startApp([Handlers], options, { log })), log };
}

const inState = (app: Awaited<ReturnType<typeof start>>, id: string, state: string) =>
  until(`job ${id} is ${state}`, async () => (await app.inspector.job(id))?.state === state);

it('another process sees how far a job is while it runs, and what the last report was once its worker is gone', async () => {
  workers = new WorkerProcesses();
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  await workers.start('w1', { leaseMs: 1_000 });
  const job = await producer.schedule('work', { reports: true, workMs: 60_000 }, { id: 'x' });
  await until('its progress is seen', async () => (await inspector.job(job))?.progress !== undefined);
  expect(await inspector.job(job)).toMatchObject({ state: 'active', worker: 'w1', progress: { worker: 'w1' } });
  workers.signal('w1', 'SIGKILL');
  await workers.ended('w1');
  expect((await inspector.job(job))?.progress).toEqual({ worker: 'w1' });
  await workers.start('w2', { leaseMs: 1_000 });
  await until('the next attempt has reported', async () => {
    const { progress } = (await inspector.job(job))!;
    return (progress as { worker: string } | undefined)?.worker === 'w2';
  });
  expect((await inspector.job(job))?.attempts).toBe(2);
});

it('a worker that was frozen beyond its lease cannot write over the progress of the one that has the job', async () => {
  workers = new WorkerProcesses();
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  await workers.start('frozen', { leaseMs: 1_000 });
  const job = await producer.schedule('work', { reports: true, workMs: 60_000 }, { id: 'x' });
  await until('its progress is seen', async () => (await inspector.job(job))?.progress !== undefined);
  workers.signal('frozen', 'SIGSTOP');
  await workers.start('other', { leaseMs: 1_000 });
  const seen = async () => ((await inspector.job(job))?.progress as { worker: string } | undefined)?.worker;
  await until('the other one has reported', async () => (await seen()) === 'other');
  workers.signal('frozen', 'SIGCONT');
  const since = Date.now();
  // It has called `progress` until its signal aborted, and waits for its second to be over.
  while (Date.now() < since + 2_500) expect(await seen()).toBe('other');
  await inspector.cancelRunning(job);
});

it('reports go at most once a second a job, and none where no job reports', async () => {
  const redis = new Redis(redisUrl());
  // A second line in a claim is written by a report alone.
  const numbers = new Set<string>();
  let [beganAt, endedAt] = [0, 0];
  const app = await start(async (job) => {
    if (job.id === 'silent') return;
    beganAt = performance.now();
    while (numbers.size < 3) {
      job.progress(performance.now());
      await new Promise((resolve) => setImmediate(resolve));
    }
    endedAt = performance.now();
  });
  const claims = queueKeys(app.prefix, 'default').claims;
  await app.producer.schedule('work', null, { id: 'silent' });
  await until('it has ended', async () => (await app.inspector.stats()).completed === 1);
  await app.producer.schedule('work', null, { id: 'loud' });
  while (endedAt === 0) {
    const line = (await redis.hget(claims, 'loud'))?.split('\n')[1];
    if (line) numbers.add(line);
  }
  redis.disconnect();
  // The first at once; timers may ring a little early.
  expect(endedAt - beganAt).toBeGreaterThanOrEqual(1_990);
  await until('both have ended', async () => (await app.inspector.stats()).completed === 2);
});

it('what a run reported last is shown while its job waits to be tried again, and once it is dead', async () => {
  const app = await start((job) => {
    for (const step of [1, 2, 3]) job.progress({ attempt: job.attempt, step });
    throw new Error('no');
  });
  await app.producer.schedule('work', null, { id: 'x', maxAttempts: 2, backoff: { type: 'fixed', delayMs: 60_000 } });
  await inState(app, 'x', 'scheduled');
  expect((await app.inspector.job('x'))?.progress).toEqual({ attempt: 1, step: 3 });
  await app.producer.runNow('x');
  await inState(app, 'x', 'dead');
  expect(await app.inspector.job('x')).toMatchObject({
    progress: { attempt: 2, step: 3 },
    failures: [{ message: 'no' }, { message: 'no' }],
  });
  await app.inspector.replayDead('x', { at: new Date(Date.now() + 60_000) });
  expect(await app.inspector.job('x')).not.toHaveProperty('progress');
});

it('it is kept with a completed job, and with one that is snoozed', async () => {
  const app = await start(
    (job) => {
      job.progress(0.5);
      job.progress(1);
      return job.id === 'later' ? JobOutcome.snooze('1h') : { done: true };
    },
    { queues: { default: { keepCompleted: 5 } } },
  );
  await app.producer.schedule('work', null, { id: 'now' });
  await app.producer.schedule('work', null, { id: 'later' });
  await inState(app, 'now', 'completed');
  await inState(app, 'later', 'scheduled');
  expect(await app.inspector.job('now')).toMatchObject({ progress: 1, result: { done: true } });
  expect((await app.inspector.list('completed'))[0]?.progress).toBe(1);
  expect((await app.inspector.job('later'))?.progress).toBe(1);
});

it('what a run reported last is kept where a shutdown gives its job back', async () => {
  let running: ScheduledJob | undefined;
  const app = await start(
    async (job) => {
      running = job;
      job.progress({ step: 1 });
      await new Promise((resolve) => job.signal.addEventListener('abort', resolve));
      job.progress('too late');
    },
    { shutdownTimeoutMs: 0 },
  );
  const { inspector, producer } = await startApp([], { prefix: app.prefix, role: 'producer' });
  await producer.schedule('work', null, { id: 'x' });
  await until('its first report is kept', async () => (await inspector.job('x'))?.progress !== undefined);
  // Its next write would be a second after the first.
  running!.progress({ step: 2 });
  await app.app.close();
  expect(await inspector.job('x')).toMatchObject({ state: 'due', attempts: 0, progress: { step: 2 } });
});

it('a report that cannot be kept is warned about once for each name; the job runs on', async () => {
  const app = await start((job) => {
    job.progress('x'.repeat(5_000));
    job.progress(() => 'secret');
    throw new Error('no');
  });
  await app.producer.schedule('work', null, { id: 'x', maxAttempts: 2, backoff: { type: 'fixed', delayMs: 0 } });
  await inState(app, 'x', 'dead');
  expect((await app.inspector.job('x'))?.progress).toBeUndefined();
  expect(app.log.lines.filter((line) => line.includes('cannot be kept'))).toEqual([
    `warn Job 'work' (x) of queue 'default' runs on, but the progress that it reports cannot be kept: JSON cannot hold a function. Give job.progress what JSON can hold in a few words. This is said once for each job name.`,
  ]);
});
