import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  OnScheduledJobEvent,
  type ScheduledJob,
  UnrecoverableJobError,
} from '../../../lib/index.js';
import { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

// tester.run: one handler, one crafted job. Faults, timeouts and sleeps are those of any other run.

const at = (ms: number) => new Date(START + ms);
const work = defineScheduledJob<{ minutes?: number }>('work', { maxAttempts: 3, queue: 'other' });

afterEach(stopTestedApps);

/** What the handler has seen of each of its runs. */
function working() {
  const seen: { attempt: number; fence: number; at: Date; aborted: boolean }[] = [];
  @Injectable()
  class Works {
    constructor(readonly tester: ScheduledQueueTester) {}

    @OnScheduledJob(work)
    async work({ minutes = 0 }: { minutes?: number }, job: ScheduledJob) {
      if (minutes > 0) await this.tester.sleep(minutes * 60_000);
      await Promise.resolve();
      seen.push({ attempt: job.attempt, fence: job.fence, at: this.tester.now(), aborted: job.signal.aborted });
      return `run ${seen.length}`;
    }
  }
  return { seen, Works };
}

describe('faults', () => {
  it('failNext fails it, and the handler is not called', async () => {
    const { seen, Works } = working();
    const { tester } = await testedApp([Works]);
    const error = new Error('no');
    tester.failNext(work, error);
    expect(await tester.run(work, {})).toEqual({ outcome: 'failed', error, retryAt: at(60_000) });
    expect(seen).toEqual([]);
    expect(await tester.run(work, {})).toMatchObject({ outcome: 'completed' });
  });

  it('crashNext throws its outcome away', async () => {
    const { seen, Works } = working();
    const { tester, inspector } = await testedApp([Works]);
    tester.crashNext(work);
    expect(await tester.run(work, {})).toEqual({ outcome: 'crashed' });
    expect(seen).toHaveLength(1);
    await tester.advance('1h');
    expect(seen).toHaveLength(1);
    expect(await inspector.stats({ queue: 'other' })).toMatchObject({ recovered: 0 });
  });

  it('loseLeaseNext aborts its signal', async () => {
    const { seen, Works } = working();
    const { tester } = await testedApp([Works]);
    tester.loseLeaseNext(work);
    expect(await tester.run(work, {})).toEqual({ outcome: 'leaseLost' });
    expect(seen).toMatchObject([{ aborted: true }]);
  });

  it.each([0, 10])(
    'deliverTwice hands it out once more, after a sleep of %i min too; the second outcome counts',
    async (minutes) => {
      const { seen, Works } = working();
      const { tester } = await testedApp([Works]);
      tester.deliverTwice();
      expect(await tester.run(work, { minutes }, { attempt: 2 })).toEqual({ outcome: 'completed', result: 'run 2' });
      expect(seen.map(({ attempt, at }) => [attempt, at])).toEqual([
        [2, at(minutes * 60_000)],
        [2, at(2 * minutes * 60_000)],
      ]);
      expect(seen[1]!.fence).toBeGreaterThan(seen[0]!.fence);
    },
  );
});

it('a timeout comes while the handler sleeps, and time goes on until it has returned', async () => {
  const { seen, Works } = working();
  const { tester } = await testedApp([Works], { jobs: { work: { timeoutMs: '5m' } } });
  expect(await tester.run(work, { minutes: 30 })).toMatchObject({ outcome: 'failed', error: { code: 'JOB_TIMEOUT' } });
  expect(seen).toMatchObject([{ aborted: true, at: at(30 * 60_000) }]);
});

it('runs no other job, however long its handler sleeps', async () => {
  const { seen, Works } = working();
  const { tester, producer } = await testedApp([Works]);
  await producer.schedule(work, {});
  await producer.schedule(work, {}, { delay: '1m' });
  await tester.run(work, { minutes: 5 });
  expect(seen).toHaveLength(1);
  await tester.drain();
  expect(seen).toHaveLength(3);
});

it('tells no event, however it ends', async () => {
  const told: unknown[] = [];
  @Injectable()
  class Listens {
    @OnScheduledJob('reports')
    reports(_payload: unknown, job: ScheduledJob) {
      job.progress(0.5);
    }

    @OnScheduledJobEvent(['scheduled', 'started', 'progress', 'completed', 'failed', 'dead', 'leaseLost'])
    hear(event: unknown) {
      told.push(event);
    }
  }
  const { tester, producer } = await testedApp([Listens]);
  await tester.run('reports', null);
  tester.failNext('reports', new UnrecoverableJobError('no'));
  await tester.run('reports', null);
  tester.loseLeaseNext('reports');
  await tester.run('reports', null);
  expect(told).toEqual([]);
  await producer.schedule('reports', null);
  await tester.drain();
  expect(told).toMatchObject(['scheduled', 'started', 'progress', 'completed'].map((type) => ({ type })));
});

it('tells the run in runs()', async () => {
  const { Works } = working();
  const { tester } = await testedApp([Works]);
  await tester.run(work, { minutes: 1 }, { dueAt: at(-5) });
  expect(tester.runs(work)).toMatchObject([
    { queue: 'other', dueAt: at(-5), startedAt: at(0), endedAt: at(60_000), payload: { minutes: 1 }, attempt: 1 },
  ]);
});

it('is as late as its dueAt says, and never early', async () => {
  const seen: [dueAt: Date, latenessMs: number][] = [];
  @Injectable()
  class Works {
    @OnScheduledJob(work)
    work(_payload: unknown, { dueAt, latenessMs }: ScheduledJob) {
      seen.push([dueAt, latenessMs]);
    }
  }
  const { tester } = await testedApp([Works]);
  for (const dueMs of [-5_000, 0, 5_000]) await tester.run(work, {}, { dueAt: at(dueMs) });
  expect(seen).toEqual([
    [at(-5_000), 5_000],
    [at(0), 0],
    [at(5_000), 0],
  ]);
});

it.each([
  [{ attempt: 0 }, 'run: attempt: got 0, expected a whole number from 1 to 1000.'],
  [{ attempts: 2 }, 'run: unknown option "attempts", did you mean \'attempt\'?'],
  [{ dueAt: 'noon' }, 'run: dueAt: got "noon", expected a Date'],
])('refuses %j, before the handler is called', async (options, message) => {
  const { seen, Works } = working();
  const { tester } = await testedApp([Works]);
  await expect(tester.run(work, {}, options as never)).rejects.toThrow(message);
  expect(seen).toEqual([]);
});
