import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { IsInt } from 'class-validator';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  LeaseLostError,
  OnScheduledJob,
  ScheduledJob,
  type ScheduledQueueEvent,
} from '../../../lib/index.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

class Count {
  @IsInt() n!: number;
}
const strict = defineScheduledJob('strict', { payload: Count });

@Injectable()
class Handlers {
  @OnScheduledJob('flaky', { backoff: { type: 'fixed', delayMs: 20 } })
  flaky(_: unknown, job: ScheduledJob): string {
    job.progress(job.attempt * 10);
    if (job.attempt === 1) throw new TypeError('at first');
    return 'done';
  }

  @OnScheduledJob('fail', { maxAttempts: 1 })
  fail(): void {
    throw new Error('no');
  }

  @OnScheduledJob(strict)
  strict(): void {}
}

afterEach(stopApps);

async function watched(
  options: Parameters<typeof startApp>[1] = {},
): Promise<QueueApp & { seen: ScheduledQueueEvent[]; saw(type: ScheduledQueueEvent['type']): Promise<true> }> {
  const app = await startApp([Handlers], options);
  const seen: ScheduledQueueEvent[] = [];
  app.events.events$.subscribe((event) => seen.push(event));
  return {
    ...app,
    seen,
    saw: (type) => until(`a ${type} event`, () => seen.some((event) => event.type === type) || undefined),
  };
}

it('tells of a job that fails once and then completes, in order and with what is known each time', async () => {
  const { producer, seen, saw } = await watched();
  const ref = await producer.schedule('flaky', null, { id: 'x', delay: 20 });
  await saw('completed');
  const run = { queue: 'default', id: 'x', name: 'flaky' };
  expect(seen).toEqual([
    { type: 'scheduled', ...run, dueAt: ref.dueAt },
    { type: 'started', ...run, attempt: 1, latenessMs: expect.any(Number) },
    { type: 'progress', ...run, attempt: 1, value: 10 },
    { type: 'failed', ...run, attempt: 1, error: new TypeError('at first'), retryAt: expect.any(Date) },
    { type: 'started', ...run, attempt: 2, latenessMs: expect.any(Number) },
    { type: 'progress', ...run, attempt: 2, value: 20 },
    { type: 'completed', ...run, attempt: 2, durationMs: expect.any(Number) },
  ]);
  for (const event of seen) {
    if (event.type === 'started') expect(event.latenessMs).toBeGreaterThanOrEqual(0);
    if (event.type === 'completed') expect(event.durationMs).toBeGreaterThanOrEqual(0);
    if (event.type === 'failed') expect(event.retryAt!.getTime()).toBeGreaterThanOrEqual(ref.dueAt!.getTime() + 20);
  }
});

it('tells of a job that is dead, that its last attempt failed and why it is not tried again', async () => {
  const { producer, seen, saw } = await watched();
  await producer.schedule('fail', null, { id: 'x', delay: 20 });
  await saw('dead');
  const run = { queue: 'default', id: 'x', name: 'fail', attempt: 1 };
  expect(seen.slice(2)).toEqual([
    { type: 'failed', ...run, error: new Error('no'), retryAt: null },
    { type: 'dead', ...run, reason: 'attempts-exhausted', error: new Error('no') },
  ]);
});

it('tells of a payload that does not fit its class that it is dead, without a start', async () => {
  const { producer, inspector, seen, saw } = await watched();
  await producer.schedule('strict', { n: 'one' }, { id: 'x', delay: 20 });
  await saw('dead');
  expect(seen.map(({ type }) => type)).toEqual(['scheduled', 'failed', 'dead']);
  expect(seen.at(-1)).toMatchObject({ id: 'x', name: 'strict', reason: 'invalid-payload' });
  expect(await inspector.job('x')).toMatchObject({
    state: 'dead',
    reason: 'invalid-payload',
    failures: [{ name: 'InvalidPayloadError' }],
  });
});

it('tells of a dead job that made room for one that died later', async () => {
  const { producer, inspector, seen, saw } = await watched({ queues: { default: { keepDead: 1 } } });
  await producer.schedule('fail', null, { id: 'x' });
  await saw('dead');
  expect(seen.map(({ type }) => type)).not.toContain('deadDropped');
  await producer.schedule('fail', null, { id: 'y' });
  await saw('deadDropped');
  const dropped = seen.filter(({ type }) => type === 'deadDropped');
  expect(dropped).toEqual([{ type: 'deadDropped', queue: 'default', id: 'x', name: 'fail' }]);
  expect(await inspector.stats()).toMatchObject({ dead: 2, deadDropped: 1 });
  expect(await inspector.job('x')).toBeNull();
});

it('tells of a cancelled job, and not of one that could not be cancelled or was not created', async () => {
  const { producer, seen } = await watched();
  await producer.schedule('flaky', null, { id: 'x', delay: '1h' });
  await producer.schedule('flaky', null, { id: 'x', delay: '1h' });
  await producer.cancel('x');
  await producer.cancel('x');
  await producer.cancel('never');
  expect(seen.map(({ type, id }) => [type, id])).toEqual([
    ['scheduled', 'x'],
    ['cancelled', 'x'],
  ]);
});

it('completes when the app closes, so that whoever waits for an event does not wait for ever', async () => {
  const app = await startApp([Handlers]);
  let completed = false;
  app.events.events$.subscribe({ complete: () => (completed = true) });
  await app.app.close();
  expect(completed).toBe(true);
});

it('a lost lease is told, and aborts the signal of the run', async () => {
  const reasons: unknown[] = [];
  class Waiting {
    @OnScheduledJob('wait')
    wait(_payload: unknown, { signal }: ScheduledJob): Promise<void> {
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason);
          resolve();
        });
      });
    }
  }
  const { producer, events, prefix, inspector } = await startApp([Waiting], {
    queues: { default: { leaseMs: 1_000 } },
  });
  const told: ScheduledQueueEvent[] = [];
  events.events$.subscribe((event) => told.push(event));
  const ref = await producer.schedule('wait', null);
  await until('it runs', () => told.some(({ type }) => type === 'started'));
  const redis = new Redis(redisUrl());
  // As if another worker held the job by now.
  await redis.hset(`${prefix}:{default}:claims`, ref.id, `99 2 1 ${ref.dueAt!.getTime()} other 5::wait`);
  await until('the loss is told', () => told.some(({ type }) => type === 'leaseLost'));
  redis.disconnect();
  expect(told.at(-1)).toMatchObject({ type: 'leaseLost', id: ref.id, name: 'wait', attempt: 1 });
  expect(reasons).toEqual([expect.any(LeaseLostError)]);
  expect(await inspector.job(ref)).toMatchObject({ state: 'active', worker: 'other' });
});
