import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { defineScheduledJob, OnScheduledJob, type ScheduledJob, ScheduledQueueProducer } from '../../../lib/index.js';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from '../../../lib/testing/index.js';
import { Conductor } from '../../../lib/testing/run/conductor.js';
import { Notices } from '../../../lib/testing/run/notices.js';
import { CONDUCTOR } from '../../../lib/testing/test-providers.js';
import { START, servicesOf, stopTestedApps, testedApp } from '../../support/tested-app.js';

// Tests that would hang or never end fail instead, and name the job; nothing is left behind.

const work = defineScheduledJob<{ how: string }>('work', { timeoutMs: 0 });

afterEach(stopTestedApps);
afterEach(() => void jest.useRealTimers());

@Injectable()
class Works {
  constructor(
    readonly tester: ScheduledQueueTester,
    readonly producer: ScheduledQueueProducer,
  ) {}

  @OnScheduledJob(work)
  async work({ how }: { how: string }, job: ScheduledJob) {
    if (how === 'hang') await new Promise(() => {});
    if (how === 'advance') await this.tester.advance('1h');
    if (how === 'swallow') await this.tester.advance('1h').catch(() => {});
    if (how === 'drain') await this.tester.drain();
    if (how === 'run') await this.tester.run(work, { how: 'well' });
    if (how === 'again') await this.producer.schedule(work, { how });
    if (how === 'sleep') {
      await this.tester.sleep('1h');
      aborted.push(job.signal.aborted);
    }
  }
}
const aborted: boolean[] = [];

it('a handler that has not ended after 5 s of real time is an error that names the job; others can run after that', async () => {
  const { tester, producer } = await testedApp([Works]);
  await producer.schedule(work, { how: 'hang' }, { id: 'h' });
  await expect(tester.advance('1h')).rejects.toMatchObject({
    code: 'TEST_FAILED',
    jobName: 'work',
    jobId: 'h',
    message: expect.stringContaining(
      "The handler of job 'work' (h) of queue 'default' has not ended after 5 s of real time.",
    ),
  });
  await producer.schedule(work, { how: 'well' }, { id: 'w' });
  await tester.drain();
  await tester.waitFor('w', 'completed');
});

it('too many runs at one instant are an error that names the job; others can run after that', async () => {
  // So many would take a busy machine minutes.
  const conductor = new Conductor(new Notices({ log() {}, warn() {}, error() {} }), undefined, 2_000);
  const module = await Test.createTestingModule({
    imports: [ScheduledQueueTestingModule.forRoot({ now: START })],
    providers: [Works],
  })
    .overrideProvider(CONDUCTOR)
    .useValue(conductor)
    .compile();
  await module.init();
  const { tester, producer, inspector } = servicesOf(module);
  await producer.schedule(work, { how: 'again' }, { id: 'first' });
  await expect(tester.drain()).rejects.toThrow(
    /^More than 2000 runs at one instant, 2027-01-01T09:00:00\.000Z; the last one is the handler of job 'work'/,
  );
  const outcomes = tester.runs().map(({ outcome }) => outcome);
  expect([outcomes.length, new Set(outcomes)]).toEqual([2_001, new Set(['completed'])]);
  await inspector.clear();
  await producer.schedule(work, { how: 'well' }, { id: 'w' });
  await tester.drain();
  await tester.waitFor('w', 'completed');
  await module.close();
});

it.each(['advance', 'drain', 'run'])(
  '%s inside a handler is an error that names the job, of the run and of the call outside',
  async (how) => {
    const { tester, producer } = await testedApp([Works]);
    const error = {
      code: 'TEST_FAILED',
      jobId: 'a',
      message: `tester.${how} was called inside the handler of job 'work' (a) of queue 'default', and would wait for that handler forever. Call tester.sleep there to let time go on.`,
    };
    const job = await producer.schedule(work, { how }, { id: 'a', maxAttempts: 1 });
    await expect(tester.advance('1h')).rejects.toMatchObject(error);
    expect(tester.runs()).toMatchObject([{ outcome: 'dead', error }]);
    await tester.waitFor(job, 'dead');
    await producer.schedule(work, { how: 'well' }, { id: 'w' });
    await tester.drain();
    await tester.waitFor('w', 'completed');
  },
);

it('also where the handler swallows the error, or is run by tester.run', async () => {
  const { tester, producer } = await testedApp([Works]);
  await producer.schedule(work, { how: 'swallow' });
  await expect(tester.drain()).rejects.toThrow('tester.advance was called inside the handler');
  expect(tester.runs()).toMatchObject([{ outcome: 'completed' }]);
  await expect(tester.run(work, { how: 'drain' })).rejects.toThrow('tester.drain was called inside the handler');
});

describe('fake timers of the test runner do not matter', () => {
  interface Found {
    outcomes: string[];
    hung: string;
  }
  const found = new Map<boolean, Found>();

  /** Under the timers that are set now. The handler hangs on when this resolves. */
  async function begin(legacyFakeTimers: boolean): Promise<() => Promise<void>> {
    jest.useFakeTimers(legacyFakeTimers ? { legacyFakeTimers } : {});
    const { tester, producer, app } = await testedApp([Works]);
    await producer.schedule(work, { how: 'well' }, { delay: '1h' });
    await producer.schedule(work, { how: 'sleep' });
    await tester.advance('2h');
    const outcomes = tester.runs().map(({ outcome }) => outcome);
    await producer.schedule(work, { how: 'hang' });
    const drained = tester.drain().then(
      () => 'nothing hangs',
      ({ message }: Error) => message,
    );
    return async () => {
      found.set(legacyFakeTimers, { outcomes, hung: await drained });
      await app.close();
    };
  }

  beforeAll(async () => {
    const ends = [await begin(true), await begin(false)];
    await Promise.all(ends.map((end) => end()));
  });

  it.each([true, false])('legacy %p: jobs run, time moves, and a handler that hangs is found', (legacyFakeTimers) => {
    expect(found.get(legacyFakeTimers)).toEqual({
      outcomes: ['completed', 'completed'],
      hung: expect.stringContaining('has not ended after 5 s'),
    });
  });
});

it('an application closes while handlers sleep and jobs are popped: those wake by an error, and all go back', async () => {
  aborted.length = 0;
  const { tester, producer, consumer, app } = await testedApp([Works]);
  await producer.schedule(work, { how: 'sleep' });
  await producer.schedule(work, { how: 'x' }, { queue: 'popped' });
  await consumer.pop({ queue: 'popped', count: 1 });
  const waiting = consumer.pop({ queue: 'none', count: 1, waitMs: '1h' });
  await tester.drain();
  await app.close();
  expect(await waiting).toEqual([]);
  expect(tester.runs()).toMatchObject([{ outcome: 'released' }]);
  expect(aborted).toEqual([]);
});

it('drains 30 000 jobs in seconds, as no claim looks at all of them', async () => {
  const { tester, producer, inspector } = await testedApp([Works]);
  const items = Array.from({ length: 30_000 }, () => ({ job: work, payload: { how: 'well' } }));
  await producer.scheduleMany(items);
  const before = process.cpuUsage();
  await tester.drain();
  const { user, system } = process.cpuUsage(before);
  // `npm run bench -- kit` has the speed. Other suites share this machine; where each claim looked at all jobs, it would take minutes.
  expect((user + system) / 1e6).toBeLessThan(40);
  expect(await inspector.stats()).toMatchObject({ completed: 30_000 });
}, 180_000);
