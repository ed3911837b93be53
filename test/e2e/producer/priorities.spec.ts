import { afterEach, describe, expect, it } from '@jest/globals';
import { JobPriority, OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const HOUR = 3_600_000;

class Handlers {
  readonly seen: unknown[] = [];

  @OnScheduledJob('work')
  work(payload: unknown, { priority }: ScheduledJob): void {
    this.seen.push([payload, priority]);
  }
}

afterEach(stopApps);

const start = (queue: object = {}) => startApp([Handlers], { autoStart: false, queues: { default: queue } });
const payloads = (jobs: readonly { payload: unknown }[]) => jobs.map(({ payload }) => payload);

it('handlers run in order of priority, then of their due time', async () => {
  const { producer, consumer, inspector, get } = await start({ concurrency: 1 });
  await producer.schedule('work', 'c', { priority: JobPriority.LOW });
  await producer.schedule('work', 'b');
  await producer.schedule('work', 'd', { priority: JobPriority.LOW });
  await producer.schedule('work', 'a', { priority: JobPriority.CRITICAL });
  await consumer.start();
  await until('all have run', async () => (await inspector.stats()).completed === 4);
  expect(get(Handlers).seen).toEqual([
    ['a', 1],
    ['b', 5],
    ['c', 10],
    ['d', 10],
  ]);
});

describe('inspector', () => {
  it('counts what waits by priority', async () => {
    const { producer, inspector } = await start();
    expect(await inspector.countsByPriority()).toEqual([]);
    const priorities = [100, 1, 5, 5, 1, 5];
    for (const [i, priority] of priorities.entries())
      await producer.schedule(`job-${i}`, i, { priority, delay: i % 2 ? HOUR : 0 });
    expect(await inspector.countsByPriority()).toEqual([
      { priority: 1, scheduled: 1, due: 1 },
      { priority: 5, scheduled: 2, due: 1 },
      { priority: 100, scheduled: 0, due: 1 },
    ]);
    expect(await inspector.countsByPriority({ queue: 'other' })).toEqual([]);
  });

  it('counts by priority over more lanes than one call looks into', async () => {
    const { producer, inspector } = await start();
    const jobs = Array.from({ length: 5_200 }, (_, i) => ({
      job: `name-${i}`,
      payload: null,
      options: { priority: 1 + (i % 3), delay: HOUR },
    }));
    await producer.scheduleMany(jobs);
    expect(await inspector.countsByPriority()).toEqual([
      { priority: 1, scheduled: 1_734, due: 0 },
      { priority: 2, scheduled: 1_733, due: 0 },
      { priority: 3, scheduled: 1_733, due: 0 },
    ]);
  });

  it('shows what comes next, and takes nothing', async () => {
    const { producer, inspector } = await start();
    await producer.schedule('work', 'in two hours', { delay: 2 * HOUR, priority: 1 });
    await producer.schedule('work', 'in an hour', { delay: HOUR });
    await producer.schedule('work', 'later', { priority: 10 });
    await producer.schedule('work', 'first', { priority: 1 });
    expect(payloads(await inspector.peek())).toEqual(['first']);
    expect(payloads(await inspector.peek(3))).toEqual(['first', 'later', 'in an hour']);
    expect(payloads(await inspector.peek(100))).toEqual(['first', 'later', 'in an hour', 'in two hours']);
    expect(await inspector.counts()).toMatchObject({ scheduled: 2, due: 2, active: 0 });
    await expect(inspector.peek(0)).rejects.toThrow('peek: count: got 0, expected a whole number from 1 to 1000.');
  });
});

describe('where jobs age', () => {
  const ordering = { mode: 'aging', msPerLevel: '1m' } as const;

  it('one that has waited long enough goes before a more urgent one, for handlers and for who looks', async () => {
    const { producer, consumer, inspector, get } = await start({ concurrency: 1, ordering });
    const now = Date.now();
    const waiting = (payload: string, priority: number, minutes: number) =>
      producer.schedule('work', payload, { priority, at: now - minutes * 60_000 });
    await waiting('patient', 5, 20);
    await waiting('much more urgent', 1, 18);
    await waiting('most urgent, and too late', 1, 14);
    const expected = ['much more urgent', 'patient', 'most urgent, and too late'];
    expect(payloads(await inspector.list('due'))).toEqual(expected);
    expect(payloads(await inspector.peek(2))).toEqual(expected.slice(0, 2));
    await consumer.start();
    await until('all have run', async () => (await inspector.stats()).completed === 3);
    expect(get(Handlers).seen.map((seen) => (seen as unknown[])[0])).toEqual(expected);
  });
});
