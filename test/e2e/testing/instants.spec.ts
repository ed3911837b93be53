import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, OnScheduledJobEvent, type ScheduledJob, ScheduledQueueProducer } from '../../../lib/index.js';
import { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

// The instants at which time alone changes something: advance stops at each, and nothing runs before it or after it.

const HOUR = 3_600_000;
const at = (ms: number) => new Date(START + ms);

afterEach(stopTestedApps);

@Injectable()
class Works {
  constructor(
    readonly tester: ScheduledQueueTester,
    readonly producer: ScheduledQueueProducer,
  ) {}

  @OnScheduledJob('work')
  async work(payload: { minutes?: number } | null, _job: ScheduledJob) {
    if (payload?.minutes) await this.tester.sleep(payload.minutes * 60_000);
  }

  @OnScheduledJob('first')
  first() {}

  @OnScheduledJobEvent('completed')
  async next({ name }: { name: string }) {
    if (name !== 'first') return;
    await Promise.resolve();
    await this.producer.dispatch('work', null);
  }
}

const startsOf = (tester: ScheduledQueueTester) => tester.runs().map(({ startedAt }) => startedAt.getTime() - START);

it('a job that prefers a worker that is not there runs when it is due', async () => {
  const { tester, producer } = await testedApp([Works], { queues: { default: { stealAfterMs: 90_000 } } });
  await producer.schedule('work', null, { delay: '1h', worker: 'elsewhere' });
  await tester.advance('2h');
  expect(startsOf(tester)).toEqual([HOUR]);
});

it('the ends of blackouts that come again and again', async () => {
  const { tester, producer, inspector } = await testedApp([Works]);
  await inspector.setBlackouts([{ cron: '0 12 * * *', durationMs: '2h', timeZone: 'UTC' }]);
  for (const day of [0, 1, 2]) await producer.schedule('work', null, { at: at((3.5 + day * 24) * HOUR) });
  await tester.advance('3 days');
  expect(startsOf(tester)).toEqual([5, 29, 53].map((hour) => hour * HOUR));
});

it('the end of a lease that somebody else holds, such as a pop', async () => {
  const { tester, producer, consumer } = await testedApp([Works], {
    queues: { default: { leaseMs: 60_000, globalConcurrency: 1 } },
  });
  await producer.schedule('work', null, { id: 'popped' });
  await producer.schedule('work', null, { id: 'waits' });
  const [popped] = await consumer.pop({ count: 1 });
  await tester.drain();
  expect(tester.runs()).toEqual([]);
  await tester.advance('5m');
  expect(new Set(startsOf(tester))).toEqual(new Set([60_000]));
  expect(
    tester
      .runs()
      .map(({ id, attempt }) => [id, attempt])
      .sort(),
  ).toEqual([
    ['popped', 2],
    ['waits', 1],
  ]);
  expect(await popped!.complete()).toBe(false);
});

it('the instants of fixed rates and of made-up occurrences', async () => {
  const { tester, producer } = await testedApp([Works]);
  await producer.upsertRecurrence('often', 'work', null, { everyMs: '20m', limit: 4 });
  await tester.advance('3h');
  expect(startsOf(tester)).toEqual([20, 40, 60, 80].map((minute) => minute * 60_000));
});

it('overlap queue: the occurrence that waits begins when the one before has ended', async () => {
  const { tester, producer } = await testedApp([Works]);
  const rule = { everyMs: '1h', overlap: 'queue', endAt: at(3 * HOUR) } as const;
  const before = process.cpuUsage();
  await producer.upsertRecurrence('hourly', 'work', { minutes: 90 }, rule, { timeoutMs: 0 });
  await tester.advance('12h');
  expect(startsOf(tester)).toEqual([60, 150, 240].map((minute) => minute * 60_000));
  const { user, system } = process.cpuUsage(before);
  // The kit goes from instant to instant, and does not ask at each millisecond for the occurrence that waits. Other suites share this machine.
  expect((user + system) / 1e6).toBeLessThan(1);
});

it('overlap allow: occurrences run beside each other', async () => {
  const { tester, producer } = await testedApp([Works]);
  const rule = { everyMs: '1h', endAt: at(3 * HOUR) } as const;
  await producer.upsertRecurrence('hourly', 'work', { minutes: 90 }, rule, { timeoutMs: 0 });
  await tester.advance('12h');
  expect(startsOf(tester)).toEqual([60, 120, 180].map((minute) => minute * 60_000));
});

it('the very end of a lease, where it is no multiple of a third of it', async () => {
  const { tester, producer } = await testedApp([Works], { queues: { default: { leaseMs: 10_000 } } });
  tester.crashNext('work');
  await producer.schedule('work', null);
  await tester.advance('1m');
  expect(startsOf(tester)).toEqual([0, 10_000]);
});

it('a lease after the end of an outage: a queue that nobody has served recovers nothing before that', async () => {
  const { tester, producer, consumer } = await testedApp([Works], { queues: { default: { leaseMs: 10_000 } } });
  await producer.schedule('work', null);
  await consumer.pop({ count: 1 });
  await consumer.stop();
  await tester.advance('1h');
  expect(startsOf(tester)).toEqual([]);
  await consumer.start();
  await tester.advance('1m');
  expect(startsOf(tester)).toEqual([HOUR + 10_000]);
});

it('a handler that sleeps keeps its lease, though the queue is served at many instants meanwhile', async () => {
  const { tester, producer, inspector } = await testedApp([Works], { queues: { default: { leaseMs: 15_000 } } });
  await producer.schedule('work', { minutes: 10 }, { id: 'slow' });
  await producer.upsertRecurrence('often', 'first', null, { everyMs: '3s', limit: 50 });
  await tester.advance('1h');
  expect(tester.runs().filter(({ id }) => id === 'slow')).toMatchObject([
    { outcome: 'completed', attempt: 1, endedAt: at(600_000) },
  ]);
  expect(await inspector.stats()).toMatchObject({ recovered: 0 });
});

it('a job of two due times runs at the later one', async () => {
  const { tester, producer } = await testedApp([Works]);
  const job = await producer.schedule('work', null, { delay: '1h' });
  await producer.reschedule(job, { delay: '2h' });
  await tester.advance('1h');
  expect(startsOf(tester)).toEqual([]);
  await tester.advance('1h');
  expect(startsOf(tester)).toEqual([2 * HOUR]);
});

it('two queues go through time together', async () => {
  const seen: string[] = [];
  @Injectable()
  class Both {
    @OnScheduledJob('a', { queue: 'a' })
    a() {
      seen.push('a');
    }

    @OnScheduledJob('b', { queue: 'b' })
    b() {
      seen.push('b');
    }
  }
  const { tester, producer } = await testedApp([Both]);
  for (const [name, hours] of [
    ['a', 3],
    ['b', 2],
    ['a', 1],
    ['b', 4],
  ] as const)
    await producer.schedule(name, null, { queue: name, delay: hours * HOUR });
  await tester.advance('5h');
  expect(seen).toEqual(['a', 'b', 'a', 'b']);
});

describe('what an event brings about', () => {
  it('runs in the same call', async () => {
    const { tester, producer } = await testedApp([Works]);
    await producer.schedule('first', null);
    await tester.drain();
    expect(tester.runs().map(({ name }) => name)).toEqual(['first', 'work']);
  });

  it('runs at its instant, not at the end of the call', async () => {
    const { tester, producer } = await testedApp([Works]);
    await producer.schedule('first', null, { delay: '1h' });
    await tester.advance('3h');
    expect(startsOf(tester)).toEqual([HOUR, HOUR]);
  });
});

it('a process that only schedules lets time pass and runs nothing', async () => {
  const { tester, producer } = await testedApp([Works], { role: 'producer' });
  await producer.schedule('work', null);
  await tester.advance('1h');
  expect(tester.runs()).toEqual([]);
  expect(tester.now()).toEqual(at(HOUR));
  tester.expectScheduled('work');
});
