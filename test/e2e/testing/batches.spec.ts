import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  JobOutcome,
  OnScheduledJob,
  RedisScheduledQueueModule,
  type RunOptions,
  type ScheduledJob,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { overrideScheduledQueue, ScheduledQueueTester } from '../../../lib/testing/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

// Handlers that get several jobs a call.

type Batch = NonNullable<RunOptions['batch']>;
type Work = (jobs: ScheduledJob[], tester: ScheduledQueueTester, payloads: unknown[]) => unknown;

const at = (ms: number) => new Date(START + ms);
const backoff = { type: 'fixed', delayMs: 60_000 } as const;

afterEach(stopTestedApps);

/** An application that handles 'row', in batches, and 'single'. `calls` has the ids of the jobs of each call, in their order. */
async function rowsApp(batch: Batch, work: Work = () => {}, options: RunOptions = {}) {
  const calls: string[][] = [];
  @Injectable()
  class Rows {
    constructor(readonly tester: ScheduledQueueTester) {}

    @OnScheduledJob('row', { backoff, ...options, batch })
    insert(payloads: unknown[], jobs: ScheduledJob[]) {
      calls.push(jobs.map(({ id }) => id));
      return work(jobs, this.tester, payloads);
    }

    @OnScheduledJob('single')
    single(_payload: unknown, job: ScheduledJob) {
      calls.push([job.id]);
    }
  }
  const app = await testedApp([Rows]);
  const row = (id: string, delay = 0) => app.producer.schedule('row', { id }, { id, delay });
  const rows = async (...ids: string[]) => {
    for (const id of ids) await row(id);
  };
  const outcomes = () => app.tester.runs().map(({ id, outcome }) => [id, outcome]);
  return { ...app, calls, row, rows, outcomes };
}

describe('a call', () => {
  it('has what is due of its name at that instant, at most so many, and comes when its first job would', async () => {
    const { tester, producer, rows, row, calls, outcomes } = await rowsApp({ size: 3 });
    // Of jobs that are due at one instant the order is that of their ids.
    await producer.schedule('single', null, { id: 'c' });
    await rows('a', 'b', 'd', 'e', 'f');
    await row('later', 1);
    await tester.drain();
    expect(calls).toEqual([['a', 'b', 'd'], ['c'], ['e', 'f']]);
    expect(outcomes()).toEqual(['a', 'b', 'd', 'c', 'e', 'f'].map((id) => [id, 'completed']));
    await tester.advance(1);
    expect(calls.at(-1)).toEqual(['later']);
  });

  it('goes on alone: the next one begins once it has returned', async () => {
    let under = 0;
    const { tester, rows, calls } = await rowsApp({ size: 2 }, async () => {
      expect(++under).toBe(1);
      for (let i = 0; i < 100; i++) await undefined;
      under--;
    });
    await rows('a', 'b', 'c', 'd', 'e');
    await tester.drain();
    expect(calls).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(under).toBe(0);
  });

  it('settles each of its jobs by itself, and each is a run of its own', async () => {
    const error = new Error('a bad row');
    const later = at(60_000);
    const { tester, rows, inspector } = await rowsApp({ size: 10 }, async () =>
      JobOutcome.each([
        'one',
        { status: 'fulfilled', value: 'two' },
        error,
        JobOutcome.snooze('1m'),
        JobOutcome.discard('old'),
      ]),
    );
    await rows('a', 'b', 'c', 'd', 'e');
    await tester.drain();
    const times = { dueAt: at(0), startedAt: at(0), endedAt: at(0) };
    const told = { name: 'row', version: 1, queue: 'default', attempt: 1, ...times };
    expect(tester.runs('row')).toEqual([
      { ...told, id: 'a', payload: { id: 'a' }, outcome: 'completed', result: 'one' },
      { ...told, id: 'b', payload: { id: 'b' }, outcome: 'completed', result: 'two' },
      { ...told, id: 'c', payload: { id: 'c' }, outcome: 'failed', error, retryAt: later },
      { ...told, id: 'd', payload: { id: 'd' }, outcome: 'snoozed', retryAt: later },
      { ...told, id: 'e', payload: { id: 'e' }, outcome: 'discarded', error: 'old' },
    ]);
    await tester.waitFor({ id: 'b', queue: 'default' }, 'completed');
    await tester.waitFor({ id: 'e', queue: 'default' }, 'discarded');
    expect(await inspector.stats()).toMatchObject({ started: 5, completed: 2, failed: 1, snoozed: 1, discarded: 1 });
  });

  it('completes its jobs without a result where it says nothing of each', async () => {
    const { tester, rows } = await rowsApp({ size: 10 }, () => 'all of them');
    await rows('a', 'b');
    await tester.drain();
    expect(tester.runs().map(({ outcome, result }) => [outcome, result])).toEqual([
      ['completed', undefined],
      ['completed', undefined],
    ]);
  });

  it('has a job on its last attempt alone', async () => {
    const { tester, rows, row, calls, outcomes } = await rowsApp(
      { size: 10 },
      (jobs) => {
        if (jobs.some(({ id }) => id === 'b')) throw new Error('a bad row');
      },
      { maxAttempts: 2 },
    );
    await rows('a', 'b', 'c');
    await row('d', 60_000);
    await tester.advance('1m');
    expect(calls).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c'], ['d']]);
    expect(outcomes().slice(3)).toEqual([
      ['a', 'completed'],
      ['b', 'dead'],
      ['c', 'completed'],
      ['d', 'completed'],
    ]);
  });

  it('has payloads that are larger than a claim', async () => {
    const { tester, producer, calls } = await rowsApp({ size: 3 });
    const payload = 'x'.repeat(300 * 1024);
    for (const id of ['a', 'b', 'c', 'd']) await producer.schedule('row', payload, { id });
    await tester.drain();
    expect(calls).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('that has not returned after 5 s of real time is an error that names its jobs', async () => {
    const { tester, rows, outcomes } = await rowsApp({ size: 2 }, (jobs) =>
      jobs[0]!.id === 'a' && jobs[0]!.attempt === 1 ? new Promise(() => {}) : undefined,
    );
    await rows('a', 'b', 'c');
    await expect(tester.drain()).rejects.toThrow(
      "The handler of job 'row' (a and 1 more in its call) of queue 'default' has not ended after 5 s of real time.",
    );
    await tester.drain();
    expect(outcomes()).toEqual([
      ['a', 'running'],
      ['b', 'running'],
      ['c', 'completed'],
    ]);
    // Nobody keeps their leases any more.
    await tester.advance('20s');
    expect(outcomes().slice(3)).toEqual([
      ['a', 'completed'],
      ['b', 'completed'],
    ]);
  });
});

describe('waitMs', () => {
  it('passes in virtual time, from the first claim on, and an instant ends it', async () => {
    const { tester, producer, rows, row, calls, inspector } = await rowsApp({ size: 10, waitMs: 400 });
    const stops: number[] = [];
    tester.onTime((now) => stops.push(now.getTime() - START));
    await rows('a');
    await row('b', 100);
    await row('c', 399);
    await producer.schedule('single', null, { id: 's' });
    await tester.drain();
    expect(calls).toEqual([['s']]);
    expect(tester.runs('row')).toEqual([]);
    expect(await inspector.counts()).toMatchObject({ scheduled: 2, due: 0, active: 1 });
    await tester.advance(399);
    expect(await inspector.counts()).toMatchObject({ scheduled: 0, active: 3 });
    expect(calls).toEqual([['s']]);
    await tester.advance('1h');
    expect(calls).toEqual([['s'], ['a', 'b', 'c']]);
    expect(tester.runs('row').map(({ dueAt, startedAt }) => [dueAt, startedAt])).toEqual(
      [0, 100, 399].map((dueMs) => [at(dueMs), at(400)]),
    );
    expect(stops).toEqual([0, 100, 399, 400, 3_600_399]);
  });

  it('a full call waits for nothing, and what is left over waits from its own claim', async () => {
    const { tester, rows, calls } = await rowsApp({ size: 2, waitMs: '10s' });
    await rows('a', 'b', 'c');
    await tester.drain();
    expect(calls).toEqual([['a', 'b']]);
    await tester.advance('9s');
    await rows('d');
    await tester.drain();
    expect(calls).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('the last attempt waits for nothing', async () => {
    const { tester, rows, calls } = await rowsApp(
      { size: 10, waitMs: '30s' },
      (jobs) => {
        if (jobs[0]!.attempt === 1) throw new Error('no');
      },
      { maxAttempts: 2 },
    );
    await rows('a', 'b');
    await tester.advance('90s');
    expect(calls).toEqual([['a', 'b'], ['a'], ['b']]);
  });

  it('longer than a lease: those that wait keep theirs', async () => {
    const { tester, producer, rows, calls, inspector } = await rowsApp({ size: 10, waitMs: '1m' });
    await rows('a', 'b');
    // The queue is served all the time, so a lease that runs out is seen.
    for (let n = 0; n < 15; n++) await producer.schedule('single', null, { id: `s${n}`, delay: n * 4_000 });
    await tester.advance('1m');
    expect(calls).toHaveLength(16);
    expect(calls.at(-1)).toEqual(['a', 'b']);
    expect(await inspector.stats()).toMatchObject({ recovered: 0, started: 17, completed: 17 });
  });

  it('a job that is cancelled meanwhile is not in the call; the others do not wait longer', async () => {
    const { tester, rows, calls, inspector, outcomes } = await rowsApp({ size: 10, waitMs: '10s' });
    await rows('a', 'b');
    await tester.advance('4s');
    const job = { id: 'a', queue: 'default' };
    await inspector.cancelRunning(job);
    await tester.drain();
    await tester.waitFor(job, 'cancelled');
    await tester.advance('6s');
    expect(calls).toEqual([['b']]);
    expect(outcomes()).toEqual([['b', 'completed']]);
  });

  it('jobs that wait go back when the workers stop, with no attempt used', async () => {
    const { tester, consumer, rows, calls, inspector } = await rowsApp({ size: 10, waitMs: '10s' });
    await rows('a');
    await tester.advance('4s');
    await consumer.stop();
    expect(await inspector.counts()).toMatchObject({ due: 1, active: 0 });
    expect(tester.runs()).toEqual([]);
    await consumer.start();
    await tester.advance('10s');
    expect(calls).toEqual([['a']]);
    expect(tester.runs()).toMatchObject([{ attempt: 1, startedAt: at(14_000) }]);
  });

  it('nothing is called while Redis is away, also where that takes longer than a lease', async () => {
    const { tester, rows, calls, inspector } = await rowsApp({ size: 10, waitMs: '1s' });
    await rows('a', 'b');
    await tester.drain();
    tester.redisAway();
    for (const time of ['2s', '1m'] as const) {
      await tester.advance(time);
      expect(calls).toEqual([]);
    }
    tester.redisAway(false);
    await tester.advance('1m');
    expect(calls).toEqual([['a', 'b']]);
    expect(await inspector.stats()).toMatchObject({ started: 2, completed: 2, recovered: 0 });
  });
});

describe('tester.sleep in a batch method', () => {
  it('lets time go on for all of its jobs: one is out of time, one is cancelled, the others complete', async () => {
    const seen: unknown[] = [];
    const { tester, producer, rows, calls, inspector, outcomes } = await rowsApp({ size: 10 }, async (jobs, tester) => {
      if (jobs.length === 1) return;
      await tester.sleep('20s');
      seen.push(jobs.map(({ id, signal }) => [id, (signal.reason as Error | undefined)?.name]));
      await inspector.cancelRunning(jobs[2]!);
      await tester.sleep('20s');
      seen.push(jobs.map(({ id, signal }) => [id, (signal.reason as Error | undefined)?.name]));
    });
    await rows('a');
    await producer.schedule('row', {}, { id: 'b', timeoutMs: 10_000 });
    await rows('c');
    await producer.schedule('single', null, { id: 's', delay: '15s' });
    await tester.advance('40s');
    expect(calls).toEqual([['a', 'b', 'c'], ['s']]);
    expect(seen).toEqual([
      [
        ['a', undefined],
        ['b', 'JobTimeoutError'],
        ['c', undefined],
      ],
      [
        ['a', undefined],
        ['b', 'JobTimeoutError'],
        ['c', 'JobCancelledError'],
      ],
    ]);
    expect(outcomes()).toEqual([
      ['a', 'completed'],
      ['b', 'failed'],
      ['c', 'cancelled'],
      ['s', 'completed'],
    ]);
    expect(tester.runs('row')[1]).toMatchObject({ retryAt: at(70_000), endedAt: at(40_000) });
  });

  it('others of its name fill the next call meanwhile, which begins beside it', async () => {
    const { tester, rows, calls } = await rowsApp({ size: 2 }, (_jobs, tester) => tester.sleep('1m'));
    await rows('a', 'b', 'c');
    await tester.advance('30s');
    expect(calls).toEqual([['a', 'b'], ['c']]);
    await rows('d', 'e');
    await tester.advance('2m');
    expect(calls.slice(2)).toEqual([['d', 'e']]);
  });

  it('where the handler has one call at a time, the next one begins at its end', async () => {
    const { tester, rows, calls, inspector } = await rowsApp({ size: 2 }, (_jobs, tester) => tester.sleep('1m'), {
      concurrency: 1,
    });
    await rows('a', 'b', 'c');
    await tester.advance('59s');
    expect(calls).toEqual([['a', 'b']]);
    expect(await inspector.counts()).toMatchObject({ completed: 0 });
    await tester.advance('1s');
    expect(calls).toEqual([['a', 'b'], ['c']]);
    await tester.advance('1m');
    expect(tester.runs().map(({ startedAt }) => startedAt)).toEqual([at(0), at(0), at(60_000)]);
  });

  it('jobs go back when the application is closed meanwhile, and the method is told', async () => {
    const seen: unknown[] = [];
    const { app, tester, rows, outcomes } = await rowsApp({ size: 2 }, (_jobs, tester) =>
      tester.sleep('1m').catch(({ code }: { code: string }) => seen.push(code)),
    );
    await rows('a', 'b');
    await tester.drain();
    await app.close();
    expect(seen).toEqual(['QUEUE_CLOSED']);
    expect(outcomes()).toEqual([
      ['a', 'released'],
      ['b', 'released'],
    ]);
  });
});

describe('a fault is for one job of its call', () => {
  it('failNext: it is left out, and fails; the method is not called where none is left', async () => {
    const error = new Error('no');
    const { tester, rows, calls } = await rowsApp({ size: 10 }, (jobs) => JobOutcome.each(jobs.map(({ id }) => id)));
    tester.failNext('row', error);
    await rows('a', 'b', 'c');
    await tester.drain();
    expect(calls).toEqual([['b', 'c']]);
    expect(tester.runs()).toMatchObject([
      { id: 'a', payload: { id: 'a' }, outcome: 'failed', error, retryAt: at(60_000) },
      { id: 'b', outcome: 'completed', result: 'b' },
      { id: 'c', outcome: 'completed', result: 'c' },
    ]);
    tester.failNext('row', error);
    await tester.advance('1m');
    expect(calls).toHaveLength(1);
    await tester.advance('1m');
    expect(calls.slice(1)).toEqual([['a']]);
  });

  it('crashNext: its outcome is thrown away, and it is recovered; the others are settled', async () => {
    const { tester, rows, calls, inspector } = await rowsApp({ size: 10 });
    tester.crashNext('row');
    await rows('a', 'b');
    await tester.drain();
    expect(calls).toEqual([['a', 'b']]);
    expect(await inspector.counts()).toMatchObject({ active: 1 });
    await tester.advance(14_999);
    expect(calls).toHaveLength(1);
    await tester.advance(1);
    expect(tester.runs()).toMatchObject([
      { id: 'a', outcome: 'crashed', attempt: 1, startedAt: at(0) },
      { id: 'b', outcome: 'completed' },
      { id: 'a', outcome: 'completed', attempt: 2, startedAt: at(15_000) },
    ]);
    expect(await inspector.stats()).toMatchObject({ recovered: 1, completed: 2 });
  });

  it('one that has crashed too often has a call of its own from then on', async () => {
    const { tester, rows, row, calls, inspector } = await rowsApp({ size: 10 });
    for (let crash = 0; crash < 2; crash++) tester.crashNext('row');
    await rows('bad');
    for (const id of ['a', 'b', 'c']) await row(id, 30_000);
    await tester.advance('1m');
    expect(calls).toEqual([['bad'], ['bad'], ['a', 'b', 'c'], ['bad']]);
    expect(await inspector.stats()).toMatchObject({ recovered: 2, completed: 4 });
  });

  it('loseLeaseNext: its signal says so from the first line on, and its result is dropped', async () => {
    const { tester, rows, outcomes } = await rowsApp({ size: 10 }, (jobs) => {
      const aborted = jobs.map(({ signal }) => signal.aborted);
      return JobOutcome.each(aborted);
    });
    tester.loseLeaseNext('row');
    await rows('a', 'b');
    await tester.drain();
    expect(tester.runs().map(({ id, outcome, result }) => [id, outcome, result])).toEqual([
      ['a', 'leaseLost', undefined],
      ['b', 'completed', false],
    ]);
    await tester.advance('15s');
    expect(outcomes().slice(2)).toEqual([['a', 'completed']]);
  });

  it('deliverTwice: each that completed comes once more, alone and with a higher fence, and that outcome counts', async () => {
    const fences: [string, number][] = [];
    const { tester, rows, calls, inspector, outcomes } = await rowsApp({ size: 2, waitMs: '1s' }, (jobs) => {
      for (const { id, fence } of jobs) fences.push([id, fence]);
      return JobOutcome.each(
        jobs.map(({ id }) => (id === 'b' || (id === 'a' && jobs.length === 1) ? new Error('no') : id)),
      );
    });
    tester.deliverTwice();
    await rows('a', 'b', 'c', 'd');
    await tester.drain();
    expect(calls).toEqual([['a', 'b'], ['a'], ['c', 'd'], ['c'], ['d']]);
    expect(outcomes()).toEqual([
      ['a', 'completed'],
      ['b', 'failed'],
      ['a', 'failed'],
      ['c', 'completed'],
      ['d', 'completed'],
      ['c', 'completed'],
      ['d', 'completed'],
    ]);
    expect(fences[2]![1]).toBeGreaterThan(fences[0]![1]);
    expect(await inspector.stats()).toMatchObject({ completed: 2, failed: 2 });
  });
});

describe('run', () => {
  it('calls with one, which waits for no others, and answers what became of it', async () => {
    const given: unknown[] = [];
    const { tester } = await rowsApp({ size: 10, waitMs: '1m' }, async (jobs, tester, payloads) => {
      given.push(payloads, jobs.length);
      await tester.sleep('1s');
      return JobOutcome.each(payloads.map((payload) => ({ kept: payload })));
    });
    expect(await tester.run('row', { n: 1 })).toEqual({ outcome: 'completed', result: { kept: { n: 1 } } });
    expect(given).toEqual([[{ n: 1 }], 1]);
    expect(tester.now()).toEqual(at(1_000));
    tester.failNext('row', new Error('no'));
    expect(await tester.run('row', { n: 1 })).toMatchObject({ outcome: 'failed', retryAt: at(61_000) });
  });

  it('answers no result where the method says nothing of each, and the second outcome where jobs are delivered twice', async () => {
    let calls = 0;
    const { tester } = await rowsApp({ size: 10 }, () => {
      if (++calls === 3) throw new Error('no');
      return 'all';
    });
    expect(await tester.run('row', null)).toEqual({ outcome: 'completed' });
    tester.deliverTwice();
    expect(await tester.run('row', null)).toMatchObject({ outcome: 'failed', error: new Error('no') });
    expect(calls).toBe(3);
  });
});

it('overrideScheduledQueue changes the size of a batch', async () => {
  const calls: number[] = [];
  @Injectable()
  class Rows {
    @OnScheduledJob('row', { batch: { size: 10 } })
    insert(payloads: unknown[]) {
      calls.push(payloads.length);
    }
  }
  const builder = Test.createTestingModule({ imports: [RedisScheduledQueueModule.forRoot({})], providers: [Rows] });
  overrideScheduledQueue(builder, { jobs: { row: { batch: { size: 2, waitMs: '1s' } } } });
  const app = await (await builder.compile()).init();
  for (let n = 0; n < 3; n++) await app.get(ScheduledQueueProducer).schedule('row', { n });
  await app.get(ScheduledQueueTester).drain();
  expect(calls).toEqual([2]);
  await app.get(ScheduledQueueTester).advance('1s');
  expect(calls).toEqual([2, 1]);
  await app.close();
});
