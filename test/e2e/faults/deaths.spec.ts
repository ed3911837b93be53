import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { OnScheduledJob, ScheduledJob, type ScheduledQueueEvent } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

@Injectable()
class Handlers {
  readonly running: string[] = [];

  @OnScheduledJob('fail', { backoff: { type: 'fixed', delayMs: 500 } })
  fail(): void {
    throw new TypeError('no');
  }

  @OnScheduledJob('hang')
  hang(_: unknown, { id, signal }: ScheduledJob): Promise<void> {
    this.running.push(id);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  }
}

const redis = new Redis(redisUrl(), { lazyConnect: true });

afterEach(stopApps);
afterAll(() => redis.disconnect());

async function start(options: Parameters<typeof startApp>[1] = {}) {
  const log = new LogLines();
  const app = await startApp([Handlers], options, { log });
  const events: ScheduledQueueEvent[] = [];
  app.events.events$.subscribe((event) => events.push(event));
  const told = (type: string) => events.filter((event) => event.type === type);
  return { ...app, log, told, handlers: app.get(Handlers) };
}

describe('a death is told once, with its reason and the attempts that began', () => {
  it('of a job whose attempts were lowered by a deploy between two of them: it has not crashed', async () => {
    const first = await start({ jobs: { fail: { maxAttempts: 5 } } });
    await first.producer.dispatch('fail', null, { id: 'r7' });
    await until('it has failed once', () => first.told('failed').length === 1);
    await stopApps();
    const { inspector, told, log } = await start({ prefix: first.prefix, jobs: { fail: { maxAttempts: 1 } } });
    await until('it is dead', () => told('dead').length === 1);
    expect(told('dead')).toMatchObject([{ id: 'r7', name: 'fail', attempt: 1, reason: 'attempts-exhausted' }]);
    expect(told('failed')).toEqual([]);
    expect(log.lines).toEqual([
      "error Job 'fail' (r7) of queue 'default' is dead after attempt 1 (attempts-exhausted): attempt 1 has failed, and maxAttempts is 1 by now",
    ]);
    const dead = await inspector.job('r7');
    expect(dead).toMatchObject({ state: 'dead', attempts: 1, reason: 'attempts-exhausted' });
    expect(dead!.failures).toMatchObject([{ name: 'TypeError' }, { name: 'Error' }]);
    expect(dead!.failures[1]).not.toHaveProperty('stack');
    expect(await inspector.stats()).toMatchObject({ failed: 1, retried: 1, dead: 1, recovered: 0 });
  });

  it('of a waiting job whose envelope somebody has deleted', async () => {
    const { producer, inspector, prefix, told, log } = await start();
    await producer.schedule('fail', null, { id: 'r7', delay: 300 });
    await redis.hdel(`${prefix}:{default}:jobs`, 'r7');
    await until('it is dead', () => told('dead').length === 1);
    expect(told('dead')).toEqual([
      { type: 'dead', queue: 'default', id: 'r7', name: 'fail', attempt: 0, reason: 'envelope-missing' },
    ]);
    expect(log.lines).toEqual([
      expect.stringMatching(
        /^error Job 'fail' \(r7\) .* is dead after attempt 0 \(envelope-missing\): its envelope is gone/,
      ),
    ]);
    expect(await inspector.job('r7')).toMatchObject({ state: 'dead', reason: 'envelope-missing' });
  });

  it('of a running job of which nothing is left but its lease', async () => {
    const { producer, prefix, told, handlers, log } = await start({ queues: { default: { leaseMs: 1_000 } } });
    await producer.dispatch('hang', null, { id: 'r7' });
    await until('it runs', () => handlers.running.length === 1);
    await redis.hdel(`${prefix}:{default}:jobs`, 'r7');
    await redis.hdel(`${prefix}:{default}:claims`, 'r7');
    await until('it is dead', () => told('dead').length === 1);
    expect(told('recovered')).toHaveLength(1);
    expect(told('dead')).toMatchObject([{ id: 'r7', reason: 'envelope-missing' }]);
    expect(log.lines.filter((line) => line.startsWith('error'))).toEqual([
      expect.stringContaining('(envelope-missing): its envelope is gone'),
    ]);
  });
});

it('a job that was asked to be cancelled as its worker gave it back is told to be cancelled', async () => {
  const first = await start({ shutdownTimeoutMs: 1, queues: { default: { leaseMs: 60_000 } } });
  const other = await startApp([], { prefix: first.prefix, role: 'producer' });
  await first.producer.dispatch('hang', null, { id: 'r7' });
  await until('it runs', () => first.handlers.running.length === 1);
  // As if the message had been lost: its worker hears of the request only by giving the job back.
  const record = await redis.hget(`${first.prefix}:{default}:claims`, 'r7');
  await redis.hset(`${first.prefix}:{default}:claims`, 'r7', record!.replace(' ', 'c '));
  await first.consumer.stop();
  expect(first.told('cancelled')).toEqual([{ type: 'cancelled', queue: 'default', id: 'r7' }]);
  expect(await other.inspector.stats()).toMatchObject({ cancelled: 1, started: 1 });
});
