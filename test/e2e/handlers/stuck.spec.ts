import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { currentScheduledJob, OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

let finish: (() => void)[] = [];

@Injectable()
class Handlers {
  /** Ignores its signal. */
  @OnScheduledJob('deaf', { timeoutMs: 200, maxAttempts: 1 })
  deaf(): Promise<void> {
    return new Promise((resolve) => finish.push(resolve));
  }

  @OnScheduledJob('quick')
  quick(): void {}

  @OnScheduledJob('obeys', { timeoutMs: 20, maxAttempts: 1 })
  obeys(_: unknown, { signal }: ScheduledJob): Promise<void> {
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  }
}

afterEach(async () => {
  for (const end of finish) end();
  finish = [];
  await stopApps();
});

const ONE_PLACE = { queues: { default: { concurrency: 1, leaseMs: 1_000, maxSleepMs: 500 } } };

class LinesWithJob extends LogLines {
  readonly jobs = new Map<string, string | undefined>();

  override warn(message: unknown, ...more: unknown[]): void {
    super.warn(message, ...more);
    this.jobs.set(`warn ${message}`, currentScheduledJob()?.id);
  }
}

it('a handler that goes on after its time is seen, until it returns', async () => {
  const log = new LinesWithJob();
  const { producer, inspector } = await startApp([Handlers], ONE_PLACE, { log });
  await producer.dispatch('deaf', null, { id: 'd1' });
  await until('its time is over', async () => (await inspector.job('d1'))?.state === 'dead');
  await producer.dispatch('quick', null, { id: 'q1' });
  await until('it is seen', async () => (await inspector.workers())[0]?.stuck === 1);
  expect(await inspector.workers()).toMatchObject([{ running: 1, concurrency: 1, stuck: 1 }]);
  expect(await inspector.load()).toMatchObject({ due: 1, running: 1, capacity: 1 });
  const explanation = { code: 'behind', message: expect.stringContaining("that of job 'deaf' (d1) in worker") };
  expect(await inspector.explain('q1')).toEqual(explanation);

  const told = () => log.starting('warn 1 handler is stuck');
  await until('the log says so', () => told().length === 1);
  expect(told()[0]).toMatch(/that of job 'deaf' \(d1\) of queue 'default', since 20\d\d-.*Z\. A place/);
  expect(log.jobs.get(told()[0]!)).toBe('d1');

  // A worker with no place left goes on to say that it is there, for longer than a lease.
  const firstSeenAt = (await inspector.workers())[0]!.lastSeenAt.getTime();
  await until('a lease is over', async () => {
    const [worker] = await inspector.workers();
    expect(worker).toMatchObject({ stuck: 1 });
    return worker!.lastSeenAt.getTime() > firstSeenAt + 1_500;
  });
  expect(await inspector.explain('q1')).toEqual(explanation);

  finish[0]!();
  await until('the waiting job runs', async () => (await inspector.job('q1')) === null);
  await until('none is stuck', async () => (await inspector.workers())[0]?.stuck === 0);
  expect(await inspector.workers()).toMatchObject([{ running: 0, stuck: 0 }]);
  expect(told()).toHaveLength(1);
  const [returned] = log.starting('log The handler of');
  expect(returned).toMatch(
    /^log The handler of job 'deaf' \(d1\) of queue 'default' has returned, \d.* after its run had ended\.$/,
  );
});

it('a handler that goes on after its cancellation is seen, one that ends by its signal is not', async () => {
  const { producer, inspector } = await startApp([Handlers], { queues: { default: { concurrency: 5 } } });
  await producer.dispatch('deaf', null, { id: 'd1', timeoutMs: 0 });
  await producer.dispatch('obeys', null, { id: 'o1' });
  await until('it is dead', async () => (await inspector.job('o1'))?.state === 'dead');
  await until('both have begun', () => finish.length === 1);
  expect(await inspector.workers()).toMatchObject([{ running: 1, stuck: 0 }]);
  await inspector.cancelRunning('d1');
  await until('it is seen', async () => (await inspector.workers())[0]?.stuck === 1);
  expect(await inspector.workers()).toMatchObject([{ running: 1, stuck: 1 }]);
});

it('a handler that goes on after its lease was lost is seen', async () => {
  const prefix = newPrefix();
  const redis = new Redis(redisUrl());
  try {
    const queues = { default: { leaseMs: 1_000 } };
    const { producer, inspector } = await startApp([Handlers], { prefix, queues });
    await producer.dispatch('deaf', null, { id: 'd1', timeoutMs: 0 });
    await until('it has begun', () => finish.length === 1);
    await redis.multi().zrem(`${prefix}:{default}:active`, 'd1').hdel(`${prefix}:{default}:claims`, 'd1').exec();
    await until('it is seen', async () => (await inspector.workers())[0]?.stuck === 1);
  } finally {
    redis.disconnect();
  }
});
