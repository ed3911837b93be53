import { afterEach, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { JobOutcome, OnScheduledJob, type QueueOptions, ScheduledQueueProducer } from '../../../lib/index.js';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from '../../../lib/testing/index.js';
import { Conductor } from '../../../lib/testing/run/conductor.js';
import { Notices } from '../../../lib/testing/run/notices.js';
import { CONDUCTOR } from '../../../lib/testing/test-providers.js';
import { EmptyInstants } from '../../../lib/testing/time/empty-instants.js';
import { START, servicesOf, stopTestedApps, testedApp } from '../../support/tested-app.js';

// No instant is visited at which nothing can change, whatever the options of the queue; and a call that works for long lets the process live.

const closing: TestingModule[] = [];

afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(closing.splice(0).map((app) => app.close()));
  await stopTestedApps();
});

const DAY = 86_400_000;

@Injectable()
class Handlers {
  snoozed = 0;

  constructor(
    readonly tester: ScheduledQueueTester,
    readonly producer: ScheduledQueueProducer,
  ) {}

  @OnScheduledJob('work')
  work() {}

  @OnScheduledJob('row', { batch: { size: 2, waitMs: '5s' } })
  row() {}

  @OnScheduledJob('crashes')
  crashes() {}

  @OnScheduledJob('sleeps')
  async sleeps(payload: { days: number }) {
    await this.tester.sleep(payload.days * DAY);
  }

  @OnScheduledJob('polls')
  async polls({ times }: { times: number }) {
    for (let poll = 0; poll < times; poll++) await this.tester.sleep(1);
  }

  @OnScheduledJob('snoozes')
  snoozes() {
    return ++this.snoozed < 5 ? JobOutcome.snooze('7 days') : undefined;
  }

  @OnScheduledJob('fails', { maxAttempts: 3, backoff: { type: 'fixed', delayMs: '1 day' } })
  fails() {
    throw new Error('no');
  }
}

/** Every option of a queue that has to do with time, or with how many jobs run. */
const EVERY_OPTION: Required<QueueOptions> = {
  concurrency: 4,
  keepEnded: { count: 10, ageMs: '1h' },
  globalConcurrency: 2,
  rateLimit: { max: 3, perMs: 100 },
  groups: { concurrency: 1, rateLimit: { max: 2, perMs: 100 }, order: 'fifo' },
  ordering: { mode: 'aging', msPerLevel: 50 },
  leaseMs: 1_000,
  maxSleepMs: 100,
  stealAfterMs: 20,
  maxCrashes: 2,
  keepCompleted: { count: 1_000, ageMs: 500 },
  keepDead: { count: 1_000, ageMs: 500 },
  keepIdsMs: 100,
  streamEvents: { maxLength: 100 },
};

/** The instants at which a call of the tester stops. */
function stopsOf(tester: ScheduledQueueTester): number[] {
  const stops: number[] = [];
  tester.onTime((now) => stops.push(now.getTime() - START));
  stops.length = 0;
  return stops;
}

it('90 days of an empty queue with every option are one step', async () => {
  const { tester, inspector } = await testedApp([Handlers], { queues: { default: EVERY_OPTION } });
  await inspector.setBlackouts([{ cron: '* * * * *', durationMs: '30s', timeZone: 'UTC' }]);
  await inspector.pause({ forMs: '1h' });
  const stops = stopsOf(tester);
  await tester.advance('90 days');
  expect(stops).toEqual([90 * DAY]);
});

it('90 days of a queue with every option stop only where something changes', async () => {
  const { tester, producer, consumer, inspector } = await testedApp([Handlers], {
    queues: { default: EVERY_OPTION },
  });
  await inspector.setBlackouts([{ cron: '0 12 * * *', durationMs: '2h', timeZone: 'UTC' }]);
  const stops = stopsOf(tester);
  await producer.upsertRecurrence('daily', 'work', null, { cron: '30 12 * * *', overlap: 'queue' });
  await producer.schedule('sleeps', { days: 60 }, { timeoutMs: 0 });
  for (const name of ['work', 'snoozes', 'fails']) await producer.schedule(name, null, { priority: 3 });
  await producer.schedule('work', null, { worker: 'elsewhere', delay: '2 days' });
  // One crash of two: it is a suspect now, and waits until the handler that sleeps has ended.
  tester.crashNext('crashes');
  await producer.schedule('crashes', null);
  await tester.drain();
  await producer.schedule('elsewhere', null);
  const popping = consumer.pop({ names: ['elsewhere'], waitMs: '1h' });
  await tester.advance('1h');
  const [popped] = await popping;
  expect(popped).toBeDefined();
  await popped!.extend('10 days');

  await tester.advance('90 days');

  expect(tester.runs('sleeps').map(({ outcome }) => outcome)).toEqual(['completed']);
  expect(tester.runs('fails')).toHaveLength(3);
  expect(tester.runs('snoozes')).toHaveLength(5);
  const [, second, ...more] = tester.runs('crashes');
  expect(second!.startedAt.getTime()).toBeGreaterThanOrEqual(START + 60 * DAY);
  expect(more).toEqual([]);
  expect(stops.length).toBeLessThan(600);
});

it('jobs beyond the rate limit make an instant for each start, and no other', async () => {
  const { tester, producer } = await testedApp([Handlers], {
    queues: { default: { rateLimit: { max: 1, perMs: '1h' } } },
  });
  for (let i = 0; i < 5; i++) await producer.schedule('work', null);
  const stops = stopsOf(tester);
  await tester.advance('30 days');
  expect(tester.runs('work')).toHaveLength(5);
  // The window is 50 ms longer than said.
  expect(stops).toEqual([1, 2, 3, 4].map((hour) => hour * 3_600_050).concat(30 * DAY));
});

/** An application that gives up after so few instants without a run. */
async function impatientApp(most: number) {
  const conductor = new Conductor(new Notices({ log() {}, warn() {}, error() {} }), new EmptyInstants(most));
  const module = await Test.createTestingModule({
    imports: [ScheduledQueueTestingModule.forRoot({ now: START })],
    providers: [Handlers],
  })
    .overrideProvider(CONDUCTOR)
    .useValue(conductor)
    .compile();
  await module.init();
  closing.push(module);
  return servicesOf(module);
}

it('a pop that waits for weeks is no instant but at its end, and takes over what another one has lost', async () => {
  const { tester, producer, consumer } = await testedApp([], { queues: { default: { leaseMs: 15_000 } } });
  const stops = stopsOf(tester);
  const waiting = consumer.pop({ waitMs: '20 days' });
  await tester.advance('10 days');
  expect(stops).toEqual([10 * DAY]);
  await producer.schedule('elsewhere', null, { delay: '1 day' });
  await tester.advance('2 days');
  expect((await waiting)[0]!.attempt).toBe(1);

  // Nobody settles it: another pop gets it once its lease has run out.
  const second = consumer.pop({ names: ['elsewhere'], waitMs: '20 days' });
  await tester.advance('1m');
  expect((await second)[0]!.attempt).toBe(2);
  const third = consumer.pop({ names: ['elsewhere', 'other'], waitMs: '20 days' });
  await tester.advance('1m');
  expect((await third)[0]!.attempt).toBe(3);
  expect(stops.length).toBeLessThan(60);
});

it('too many instants without a run are an error that names what moved the clock, and time goes on in the next call', async () => {
  const { tester, producer } = await impatientApp(100);
  const rule = { everyMs: '1s', overlap: 'skip' } as const;
  await producer.upsertRecurrence('sleeper', 'sleeps', { days: 30 }, rule, { timeoutMs: 0 });
  // The first occurrence begins; the next ones are left out.
  await expect(tester.advance('30 days')).rejects.toThrow(
    /^tester\.advance: more than 100 instants without a run, the last one at 2027-01-01T09:01:41.000Z: job 'sleeps' \(sleeper@\d+\) of queue 'default' became due\. Let the test do without it, or let less time pass in one call\.$/,
  );
  await tester.advance('1m');
  expect(tester.now()).toEqual(new Date(START + 161_000));
});

it('the end of waitMs is named as such', async () => {
  const { tester, producer } = await impatientApp(0);
  await producer.schedule('row', null, { id: 'r' });
  await expect(tester.advance('1m')).rejects.toThrow(
    "the last one at 2027-01-01T09:00:05.000Z: job 'row' (r) of queue 'default' had waited for waitMs.",
  );
});

it('a handler that goes on is a run, and so is a job that is popped', async () => {
  const { tester, producer, consumer } = await impatientApp(100);
  await producer.schedule('polls', { times: 300 });
  await tester.advance('1m');
  expect(tester.runs('polls')).toMatchObject([{ outcome: 'completed' }]);
  expect((await tester.run('polls', { times: 300 })).outcome).toBe('completed');

  await producer.upsertRecurrence('elsewhere', 'unhandled', null, { everyMs: '1s' });
  let popped = 0;
  const popping = (async () => {
    for (; popped < 300; popped++) await (await consumer.pop({ names: ['unhandled'], waitMs: '1m' }))[0]!.complete();
  })();
  await tester.advance('10m');
  await popping;
  expect(popped).toBe(300);
});

it('the timers of the process ring while a call goes on, also where the test runner has faked all of them', async () => {
  const realTimeout = setTimeout;
  const { tester, producer } = await testedApp([Handlers]);
  jest.useFakeTimers();
  await producer.upsertRecurrence('often', 'work', null, { everyMs: 1_000 });
  const rang = jest.fn(() => producer.removeRecurrence('often'));
  realTimeout(rang, 150);
  await tester.advance('10 days');
  expect(rang).toHaveBeenCalled();
  expect(tester.runs('work').length).toBeLessThan(10 * 86_400);
  tester.expectNothingScheduled();
});
