import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { Registry } from 'prom-client';
import {
  JobOutcome,
  OnScheduledJob,
  ScheduledJob,
  ScheduledQueueProducer,
  UnrecoverableJobError,
} from '../../../lib/index.js';
import { ScheduledQueueMetricsModule, type ScheduledQueueMetricsOptions } from '../../../lib/prometheus/index.js';
import { type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { Scrape } from '../../support/scrape.js';
import { until } from '../../support/wait.js';

let registry: Registry;
beforeEach(() => {
  registry = new Registry();
});
afterEach(stopApps);

@Injectable()
class Handlers {
  readonly waiting: (() => void)[] = [];

  @OnScheduledJob('fine')
  fine(): void {}

  @OnScheduledJob('snoozes')
  snoozes(): JobOutcome {
    return JobOutcome.snooze('1h');
  }

  @OnScheduledJob('discards')
  discards(): JobOutcome {
    return JobOutcome.discard('no use');
  }

  @OnScheduledJob('retries', { backoff: { type: 'fixed', delayMs: 1 }, maxAttempts: 2 })
  retries(_: unknown, job: ScheduledJob): void {
    if (job.attempt === 1) throw new Error('once');
  }

  @OnScheduledJob('dies')
  dies(): void {
    throw new UnrecoverableJobError('no use');
  }

  @OnScheduledJob('waits')
  waits(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  @OnScheduledJob('hangs', { timeoutMs: 30, maxAttempts: 1 })
  hangs(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  @OnScheduledJob('other')
  other(): void {}
}

async function start(options: Omit<ScheduledQueueMetricsOptions, 'registry'> = {}): Promise<QueueApp> {
  const imports = [ScheduledQueueMetricsModule.forRoot({ registry, ...options })];
  return startApp([Handlers], {}, { imports });
}

const scrape = () => Scrape.of(registry);

async function settled({ inspector }: QueueApp): Promise<void> {
  await until('all is done', async () => {
    const { due, active } = await inspector.counts();
    return due + active === 0;
  });
}

it('the events of a process are counted by type, and agree with what the queue has counted', async () => {
  const app = await start();
  const names = ['fine', 'fine', 'snoozes', 'discards', 'retries', 'dies'];
  await Promise.all(names.map((name) => app.producer.schedule(name, {})));
  const { id } = await app.producer.schedule('fine', {}, { delay: '1h' });
  await app.producer.cancel(id);
  const finished = { completed: 3, snoozed: 1, discarded: 1, dead: 1, cancelled: 1 };
  await until('all has happened', async () => {
    const stats = await app.inspector.stats();
    return Object.entries(finished).every(([type, count]) => stats[type as 'completed'] === count);
  });
  const stats = await app.inspector.stats();
  await until('all is told', async () => (await scrape()).sum('scheduled_queue_events_total', { type: 'dead' }) === 1);
  const read = await scrape();
  const sum = (type: string) => read.sum('scheduled_queue_events_total', { queue: 'default', type });
  for (const type of ['scheduled', 'started', 'completed', 'dead', 'snoozed', 'discarded', 'cancelled'] as const)
    expect({ type, sum: sum(type) }).toEqual({ type, sum: stats[type] });
  expect(sum('failed')).toBe(stats.failed);
  expect(read.value('scheduled_queue_events_total', { job: 'fine', type: 'completed' })).toBe(2);
  // A cancellation does not tell whose name it was.
  expect(read.value('scheduled_queue_events_total', { job: '', type: 'cancelled' })).toBe(1);
  // From the first event on, so that the first death is seen as one more.
  expect(read.value('scheduled_queue_events_total', { job: 'fine', type: 'dead' })).toBe(0);
});

it('jobs that others schedule in their onModuleInit are counted', async () => {
  @Injectable()
  class Early implements OnModuleInit {
    constructor(private readonly producer: ScheduledQueueProducer) {}

    async onModuleInit(): Promise<void> {
      await this.producer.schedule('fine', {}, { delay: '1h' });
    }
  }
  @Module({ providers: [Early] })
  class Feature {}
  await startApp([], {}, { imports: [Feature, ScheduledQueueMetricsModule.forRoot({ registry })] });
  expect((await scrape()).value('scheduled_queue_events_total', { job: 'fine', type: 'scheduled' })).toBe(1);
});

it('each start tells how late it was, and each run how long it took, in seconds', async () => {
  const app = await start();
  await app.producer.schedule('fine', {}, { at: Date.now() - 7_000 });
  await app.producer.schedule('fine', {});
  await settled(app);
  const read = await scrape();
  const labels = { queue: 'default', job: 'fine' };
  expect(read.value('scheduled_queue_lateness_seconds_count', labels)).toBe(2);
  expect(read.value('scheduled_queue_lateness_seconds_sum', labels)).toBeGreaterThanOrEqual(7);
  expect(read.value('scheduled_queue_lateness_seconds_sum', labels)).toBeLessThan(12);
  expect(read.value('scheduled_queue_lateness_seconds_bucket', { ...labels, le: '5' })).toBe(1);
  expect(read.value('scheduled_queue_lateness_seconds_bucket', { ...labels, le: '15' })).toBe(2);
  expect(read.value('scheduled_queue_run_seconds_count', labels)).toBe(2);
  expect(read.value('scheduled_queue_run_seconds_sum', labels)).toBeLessThan(2);
});

it('a run counts once and when it ends, be it by a failure, a timeout or a cancellation', async () => {
  const app = await start();
  const handlers = app.get(Handlers);
  for (const name of ['dies', 'hangs', 'waits', 'waits']) await app.producer.schedule(name, {}, { id: `${name}-1` });
  await app.producer.schedule('waits', {}, { id: 'cancelled' });
  await until('three wait', () => handlers.waiting.length === 3);
  await app.inspector.cancelRunning('cancelled');
  const runs = async (job: string) => (await scrape()).value('scheduled_queue_run_seconds_count', { job }) ?? 0;
  await until('it is cancelled', async () => (await runs('waits')) === 1);
  await until('its time is over', async () => (await runs('hangs')) === 1);
  expect(await runs('dies')).toBe(1);
  for (const release of handlers.waiting) release();
  await settled(app);
  // Those whose handlers have returned after their runs are not counted again.
  expect([await runs('waits'), await runs('hangs')]).toEqual([2, 1]);
});

it('what goes back at shutdown has run as well', async () => {
  const app = await startApp(
    [Handlers],
    { shutdownTimeoutMs: 10 },
    {
      imports: [ScheduledQueueMetricsModule.forRoot({ registry })],
    },
  );
  await app.producer.schedule('waits', {});
  await until('it waits', () => app.get(Handlers).waiting.length === 1);
  await app.app.close();
  expect((await scrape()).value('scheduled_queue_run_seconds_count', { job: 'waits' })).toBe(1);
});

it('a claim tells how many jobs it brought, to handlers and to those who pop', async () => {
  const app = await start();
  await app.consumer.stop();
  await app.producer.scheduleMany(Array.from({ length: 7 }, () => ({ job: 'fine', payload: {} })));
  await app.consumer.start();
  await settled(app);
  const sum = async () => (await scrape()).value('scheduled_queue_claim_size_sum', { queue: 'default' });
  expect(await sum()).toBe(7);
  await app.producer.scheduleMany(Array.from({ length: 3 }, () => ({ job: 'popped', payload: {} })));
  const popped = await app.consumer.pop({ names: ['popped'], count: 5 });
  expect(popped).toHaveLength(3);
  expect(await app.consumer.pop({ names: ['popped'], count: 5 })).toEqual([]);
  expect(await sum()).toBe(10);
  const read = await scrape();
  expect(read.value('scheduled_queue_claim_size_bucket', { le: '2' })).toBeLessThan(
    read.value('scheduled_queue_claim_size_bucket', { le: '5' })!,
  );
  expect(read.values('scheduled_queue_run_seconds_count', { job: 'popped' })).toEqual([0]);
  expect(read.value('scheduled_queue_lateness_seconds_count', { job: 'popped' })).toBe(3);
});

it('each call to Redis tells how long it took', async () => {
  const app = await start({ queues: [] });
  await app.consumer.stop();
  const calls = async () => (await scrape()).value('scheduled_queue_redis_call_seconds_count')!;
  await app.producer.schedule('fine', {}, { delay: '1h' });
  // A scrape itself asks once whether Redis answers.
  const before = await calls();
  for (let i = 0; i < 5; i++) await app.inspector.stats();
  expect((await calls()) - before).toBe(5 + 1);
  expect((await scrape()).value('scheduled_queue_redis_call_seconds_sum')).toBeGreaterThan(0);
});

it('an answer of Redis that is an error is an answer', async () => {
  const app = await start({ queues: [] });
  await app.consumer.stop();
  const refused = app.inspector.find({ queue: 'default', limit: 1 });
  await refused;
  const calls = async () => (await scrape()).value('scheduled_queue_redis_call_seconds_count')!;
  const before = await calls();
  const { Redis } = await import('ioredis');
  const redis = new Redis(process.env.TEST_REDIS_URL!);
  await redis.set(`${app.prefix}:{default}:stats`, 'no hash');
  redis.disconnect();
  await expect(app.inspector.stats()).rejects.toThrow('WRONGTYPE');
  expect((await calls()) - before).toBe(1 + 1);
});

it('no more names are told apart than were asked for, whatever comes', async () => {
  const app = await start({ jobNames: 2 });
  for (const job of ['fine', 'other', 'snoozes', 'discards', 'dies', 'fine'])
    await app.producer.schedule(job, {}, { delay: '1h' });
  const read = await scrape();
  expect(read.labels('scheduled_queue_events_total', 'job')).toEqual(['fine', 'other', 'snoozes']);
  expect(read.value('scheduled_queue_events_total', { job: 'other', type: 'scheduled' })).toBe(3);
  expect(read.value('scheduled_queue_events_total', { job: 'fine', type: 'scheduled' })).toBe(2);
});

it('a list says which names are told apart, and false that none is', async () => {
  const app = await start({ jobNames: ['fine'] });
  for (const job of ['dies', 'fine']) await app.producer.schedule(job, {}, { delay: '1h' });
  expect((await scrape()).labels('scheduled_queue_events_total', 'job')).toEqual(['fine', 'other']);
  registry = new Registry();
  const second = await start({ jobNames: false });
  for (const job of ['dies', 'fine']) await second.producer.schedule(job, {}, { delay: '1h' });
  expect((await scrape()).labels('scheduled_queue_events_total', 'job')).toEqual(['']);
  expect((await scrape()).sum('scheduled_queue_events_total', { type: 'scheduled' })).toBe(2);
});
