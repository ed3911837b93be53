import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { defineScheduledJob, OnScheduledJob, type ScheduledJob, UnrecoverableJobError } from '../../../lib/index.js';
import { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

// Faults on demand, each for the next run of a name.

const at = (ms: number) => new Date(START + ms);
const pay = defineScheduledJob<{ amount: number }>('pay', { backoff: { type: 'fixed', delayMs: 60_000 } });

afterEach(stopTestedApps);

function paying(handle: (job: ScheduledJob, tester: ScheduledQueueTester) => unknown = () => {}) {
  @Injectable()
  class Payments {
    constructor(readonly tester: ScheduledQueueTester) {}

    @OnScheduledJob(pay)
    pay(_payload: { amount: number }, job: ScheduledJob) {
      return handle(job, this.tester);
    }
  }
  return Payments;
}

describe('failNext', () => {
  it('fails the next run with the error, and does not call the handler', async () => {
    let calls = 0;
    const { tester, producer } = await testedApp([paying(() => calls++)]);
    const error = new Error('bank is closed');
    tester.failNext(pay, error);
    await producer.schedule(pay, { amount: 1 });
    await tester.drain();
    expect(calls).toBe(0);
    expect(tester.runs(pay)).toMatchObject([{ outcome: 'failed', error, retryAt: at(60_000) }]);
    await tester.advance('1m');
    expect(calls).toBe(1);
  });

  it('twice for the next two, and of that name alone', async () => {
    @Injectable()
    class Others {
      @OnScheduledJob('other')
      other() {}
    }
    const { tester, producer } = await testedApp([paying(), Others]);
    tester.failNext('pay', new Error('one'));
    tester.failNext(pay, new UnrecoverableJobError('two'));
    tester.failNext('other', new Error('three'));
    await producer.schedule(pay, { amount: 1 });
    await tester.advance('5m');
    expect(tester.runs().map(({ outcome, error }) => [outcome, (error as Error).message])).toEqual([
      ['failed', 'one'],
      ['dead', 'two'],
    ]);
  });
});

describe('crashNext', () => {
  it('runs the handler and throws its outcome away; the lease runs out, and the job is an attempt and a crash the richer', async () => {
    const { tester, producer, inspector } = await testedApp([paying()]);
    tester.crashNext(pay);
    const job = await producer.schedule(pay, { amount: 1 });
    await tester.drain();
    expect(tester.runs()).toMatchObject([{ outcome: 'crashed' }]);
    expect(await inspector.job(job)).toMatchObject({ state: 'active' });
    await tester.advance(14_999);
    expect(await inspector.stats()).toMatchObject({ recovered: 0 });
    await tester.advance(1);
    expect(await inspector.stats()).toMatchObject({ recovered: 1, completed: 1 });
    expect(tester.runs()).toMatchObject([
      { outcome: 'crashed', attempt: 1, startedAt: at(0) },
      { outcome: 'completed', attempt: 2, startedAt: at(15_000) },
    ]);
  });

  it('after maxCrashes the job is dead', async () => {
    const { tester, producer, inspector } = await testedApp([paying()], { queues: { default: { leaseMs: 30_000 } } });
    for (let crash = 0; crash < 3; crash++) tester.crashNext(pay);
    const job = await producer.schedule(pay, { amount: 1 });
    await tester.advance('10m');
    expect(tester.runs().map(({ startedAt }) => startedAt)).toEqual([at(0), at(30_000), at(60_000)]);
    expect(await inspector.job(job)).toMatchObject({ state: 'dead', reason: 'crashed' });
    await tester.waitFor(job, 'dead');
  });

  it('in the middle of a run that sleeps: the lease is kept up to there', async () => {
    const { tester, producer } = await testedApp([paying((_job, tester) => tester.sleep('1m'))]);
    tester.crashNext(pay);
    await producer.schedule(pay, { amount: 1 });
    await tester.advance('5m');
    expect(tester.runs().map(({ startedAt }) => startedAt)).toEqual([at(0), at(75_000)]);
  });

  it('a suspect runs with nothing else in the process, whatever becomes due meanwhile, other queues included', async () => {
    const seen: string[] = [];
    @Injectable()
    class Others extends paying(async (job, tester) => {
      seen.push(`${job.id} begins`);
      await tester.sleep('1m');
      seen.push(`${job.id} ends`);
    }) {
      @OnScheduledJob('other', { queue: 'other' })
      other(_payload: unknown, job: ScheduledJob) {
        seen.push(`${job.id} begins`);
      }
    }
    const { tester, producer } = await testedApp([Others]);
    tester.crashNext(pay);
    tester.crashNext(pay);
    await producer.schedule(pay, { amount: 1 }, { id: 'bad' });
    await tester.advance('2m');
    for (let n = 0; n < 12; n++) {
      await producer.schedule(pay, { amount: 1 }, { id: `good ${n}`, delay: n * 20_000 });
      await producer.schedule('other', null, { id: `other ${n}`, delay: n * 20_000, queue: 'other' });
    }
    await tester.advance('30m');
    const third = seen.lastIndexOf('bad begins');
    expect(seen[third + 1]).toBe('bad ends');
    expect(seen.slice(third).filter((line) => line.startsWith('good')).length).toBeGreaterThan(0);
    expect(seen.slice(third).filter((line) => line.startsWith('other')).length).toBeGreaterThan(0);
    expect(tester.runs(pay).filter(({ id }) => id === 'bad')).toMatchObject([
      { outcome: 'crashed' },
      { outcome: 'crashed' },
      { outcome: 'completed' },
    ]);
  });
});

describe('loseLeaseNext', () => {
  it('aborts the signal at once and drops the result', async () => {
    let reason: unknown;
    const { tester, producer, inspector } = await testedApp([
      paying(async (job) => {
        await Promise.resolve();
        reason ??= job.signal.reason;
        return 'paid';
      }),
    ]);
    tester.loseLeaseNext(pay);
    await producer.schedule(pay, { amount: 1 });
    await tester.drain();
    expect(reason).toMatchObject({ code: 'LEASE_LOST' });
    expect(tester.runs()).toMatchObject([{ outcome: 'leaseLost' }]);
    expect(await inspector.stats()).toMatchObject({ completed: 0 });
    await tester.advance('15s');
    expect(await inspector.stats()).toMatchObject({ completed: 1, recovered: 1 });
  });

  it('is seen by a handler that looks at its signal without awaiting anything', async () => {
    const seen: unknown[] = [];
    const { tester, producer } = await testedApp([
      paying((job) => {
        const { signal } = job;
        seen.push(signal.aborted, (signal.reason as Error | undefined)?.name);
        signal.throwIfAborted();
        seen.push('paid');
      }),
    ]);
    tester.loseLeaseNext(pay);
    await producer.schedule(pay, { amount: 1 });
    await tester.drain();
    expect(seen).toEqual([true, 'LeaseLostError']);
    expect(tester.runs()).toMatchObject([{ outcome: 'leaseLost' }]);
    await tester.advance('15s');
    expect(seen).toEqual([true, 'LeaseLostError', false, undefined, 'paid']);
  });

  it('stays aborted after the handler has begun, as any signal', async () => {
    const seen: unknown[] = [];
    const { tester, producer } = await testedApp([
      paying(async ({ signal }) => {
        const both = AbortSignal.any([signal]);
        await Promise.resolve();
        seen.push(signal.aborted, both.aborted, signal.reason === both.reason, Object.keys(signal));
        expect(() => signal.throwIfAborted()).toThrow(signal.reason as Error);
      }),
    ]);
    tester.loseLeaseNext(pay);
    await producer.schedule(pay, { amount: 1 });
    await tester.drain();
    expect(seen).toEqual([true, true, true, []]);
  });

  it('wakes those who listen to the signal', async () => {
    const { tester, producer } = await testedApp([
      paying(
        (job) =>
          new Promise((_, reject) => {
            job.signal.addEventListener('abort', () => reject(job.signal.reason));
          }),
      ),
    ]);
    tester.loseLeaseNext(pay);
    await producer.schedule(pay, { amount: 1 });
    await tester.drain();
    expect(tester.runs()).toMatchObject([{ outcome: 'leaseLost' }]);
  });
});

describe('deliverTwice', () => {
  it('hands a job that completed out once more: same id and attempt, higher fence', async () => {
    const seen: unknown[][] = [];
    const { tester, producer } = await testedApp([
      paying((job) => {
        seen.push([job.id, job.attempt, job.fence]);
      }),
    ]);
    tester.deliverTwice();
    await producer.schedule(pay, { amount: 1 }, { id: 'p' });
    await tester.drain();
    expect(seen.map(([id, attempt]) => [id, attempt])).toEqual([
      ['p', 1],
      ['p', 1],
    ]);
    expect(seen[1]![2]).toBeGreaterThan(seen[0]![2] as number);
    tester.deliverTwice(false);
    await producer.schedule(pay, { amount: 1 }, { id: 'q' });
    await tester.drain();
    expect(seen).toHaveLength(3);
  });

  it('the outcome of the second run counts', async () => {
    let runs = 0;
    const { tester, producer, inspector } = await testedApp([
      paying(() => {
        if (++runs === 2) throw new Error('already paid');
      }),
    ]);
    tester.deliverTwice();
    await producer.schedule(pay, { amount: 1 });
    await tester.drain();
    expect(tester.runs()).toMatchObject([{ outcome: 'completed' }, { outcome: 'failed', attempt: 1 }]);
    expect(await inspector.stats()).toMatchObject({ completed: 0, failed: 1 });
  });

  it('a fault is for the next job, not for the second delivery of this one', async () => {
    const { tester, producer } = await testedApp([
      paying((job, tester) => {
        if (job.id === 'p' && tester.runs().length === 1) tester.failNext(pay, new Error('no'));
      }),
    ]);
    tester.deliverTwice();
    for (const id of ['p', 'q']) await producer.schedule(pay, { amount: 1 }, { id });
    await tester.drain();
    expect(tester.runs().map(({ id, outcome }) => [id, outcome])).toEqual([
      ['p', 'completed'],
      ['p', 'completed'],
      ['q', 'failed'],
    ]);
  });

  it('also after a sleep, and not after a failure', async () => {
    const { tester, producer } = await testedApp([
      paying(async (job, tester) => {
        await tester.sleep('1m');
        if (job.attempt === 1) throw new Error('no');
      }),
    ]);
    tester.deliverTwice();
    await producer.schedule(pay, { amount: 1 });
    await tester.advance('1h');
    expect(tester.runs().map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
      ['failed', 1],
      ['completed', 2],
      ['completed', 2],
    ]);
  });
});
