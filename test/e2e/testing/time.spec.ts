import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { defineScheduledJob, JobOutcome, OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

// What runs when, and how time moves.

const HOUR = 3_600_000;
const mail = defineScheduledJob<{ to: string }>('mail', { backoff: { type: 'fixed', delayMs: 60_000 } });
const at = (ms: number) => new Date(START + ms);

afterEach(stopTestedApps);

/** Handles jobs `mail` as a test says. */
function handling(handle: (to: string, job: ScheduledJob, tester: ScheduledQueueTester) => unknown = () => {}) {
  @Injectable()
  class Mails {
    constructor(readonly tester: ScheduledQueueTester) {}

    @OnScheduledJob(mail)
    send({ to }: { to: string }, job: ScheduledJob) {
      return handle(to, job, this.tester);
    }
  }
  return Mails;
}

describe('nothing runs and no time passes but inside a call of the tester', () => {
  it('a job that is due now waits for drain', async () => {
    const seen: string[] = [];
    const { tester, producer } = await testedApp([handling((to) => seen.push(to))]);
    await producer.schedule(mail, { to: 'ada' });
    for (let round = 0; round < 20; round++) await new Promise(setImmediate);
    expect(seen).toEqual([]);
    expect(tester.now()).toEqual(at(0));
    await tester.drain();
    expect(seen).toEqual(['ada']);
    expect(tester.now()).toEqual(at(0));
  });

  it('time begins with that of the machine where nothing is said', async () => {
    const before = Date.now();
    const { tester } = await testedApp([], { now: undefined });
    expect(tester.now().getTime()).toBeGreaterThanOrEqual(before);
    expect(tester.now().getTime()).toBeLessThanOrEqual(Date.now());
  });
});

describe('advance', () => {
  it('drains first, goes from instant to instant, and ends at its start and the duration', async () => {
    const seen: unknown[] = [];
    const { tester, producer } = await testedApp([handling((to) => seen.push([to, tester.now()]))]);
    await producer.schedule(mail, { to: 'third' }, { delay: '2 days' });
    await producer.schedule(mail, { to: 'second' }, { delay: '1h' });
    await producer.schedule(mail, { to: 'first' });
    await producer.schedule(mail, { to: 'later' }, { delay: '4 days' });
    await tester.advance('3 days');
    expect(seen).toEqual([
      ['first', at(0)],
      ['second', at(HOUR)],
      ['third', at(48 * HOUR)],
    ]);
    expect(tester.now()).toEqual(at(72 * HOUR));
  });

  it('runs what is due at the very instant where it ends', async () => {
    const { tester, producer } = await testedApp([handling()]);
    await producer.schedule(mail, { to: 'ada' }, { delay: '1h' });
    await tester.advance('1h');
    expect(tester.runs()).toHaveLength(1);
  });

  it('goes to retries', async () => {
    const { tester, producer } = await testedApp([
      handling(() => {
        throw new Error('no');
      }),
    ]);
    await producer.schedule(mail, { to: 'ada' }, { maxAttempts: 3 });
    await tester.advance('10m');
    expect(tester.runs(mail).map(({ startedAt, outcome, attempt }) => [startedAt, outcome, attempt])).toEqual([
      [at(0), 'failed', 1],
      [at(60_000), 'failed', 2],
      [at(120_000), 'dead', 3],
    ]);
  });

  it('goes to the end of a pause', async () => {
    const { tester, producer, inspector } = await testedApp([handling()]);
    await inspector.pause({ forMs: 90_000 });
    await producer.schedule(mail, { to: 'ada' });
    await tester.advance('1h');
    expect(tester.runs().map(({ startedAt }) => startedAt)).toEqual([at(90_000)]);
  });

  it('goes to the end of a blackout', async () => {
    const { tester, producer, inspector } = await testedApp([handling()]);
    await inspector.setBlackouts([{ from: at(-HOUR), to: at(HOUR) }]);
    await producer.schedule(mail, { to: 'ada' });
    await tester.advance('2h');
    expect(tester.runs().map(({ startedAt }) => startedAt)).toEqual([at(HOUR)]);
  });

  it('goes to the instants at which a rate lets jobs start', async () => {
    const { tester, producer } = await testedApp([handling()], {
      queues: { default: { rateLimit: { max: 1, perMs: 1_000 } } },
    });
    for (const to of ['a', 'b', 'c']) await producer.schedule(mail, { to });
    await tester.advance('1m');
    const starts = tester.runs().map(({ startedAt }) => startedAt.getTime() - START);
    expect(starts[0]).toBe(0);
    expect(starts[1]).toBeGreaterThanOrEqual(1_000);
    expect(starts[2]! - starts[1]!).toBeGreaterThanOrEqual(1_000);
  });

  it('runs the occurrences of a recurrence, 90 days of them in seconds', async () => {
    const { tester, producer } = await testedApp([handling()]);
    await producer.upsertRecurrence('daily', mail, { to: 'all' }, { cron: '30 6 * * *' });
    const from = performance.now();
    await tester.advance('90 days');
    expect(performance.now() - from).toBeLessThan(10_000);
    expect(tester.runs()).toHaveLength(90);
    expect(new Set(tester.runs().map(({ startedAt }) => startedAt.toISOString().slice(11)))).toEqual(
      new Set(['06:30:00.000Z']),
    );
  });

  it('runs what a decorator declares, 90 days of it in seconds', async () => {
    let runs = 0;
    @Injectable()
    class Reports {
      @OnScheduledJob('report', { cron: '0 7 * * *' })
      report() {
        runs++;
      }
    }
    const { tester } = await testedApp([Reports]);
    const from = performance.now();
    await tester.advance('90 days');
    expect(performance.now() - from).toBeLessThan(10_000);
    expect(runs).toBe(90);
  });

  it('waits for the call before it', async () => {
    const { tester } = await testedApp([handling()]);
    const first = tester.advance('1h');
    const second = tester.advance('1h');
    await Promise.all([first, second]);
    expect(tester.now()).toEqual(at(2 * HOUR));
  });

  it.each(['soon', -1, Number.NaN])('refuses %p', async (duration) => {
    const { tester } = await testedApp();
    await expect(tester.advance(duration as number)).rejects.toMatchObject({ code: 'INVALID_SCHEDULE' });
  });
});

describe('drain', () => {
  it('moves time with until alone', async () => {
    const { tester, producer } = await testedApp([handling()]);
    await producer.schedule(mail, { to: 'ada' }, { delay: '1h' });
    await tester.drain();
    expect(tester.runs()).toEqual([]);
    await tester.drain({ until: at(2 * HOUR) });
    expect(tester.runs()).toHaveLength(1);
    expect(tester.now()).toEqual(at(2 * HOUR));
  });

  it('refuses an instant that is past', async () => {
    const { tester } = await testedApp();
    await expect(tester.drain({ until: at(-1) })).rejects.toThrow(/until: got .* which is past: it is/);
  });

  it('runs in the same call what a run schedules for now', async () => {
    const seen: string[] = [];
    const { tester, producer } = await testedApp([
      handling(async (to) => {
        seen.push(to);
        if (to.length < 5) await producer.schedule(mail, { to: `${to}+` });
      }),
    ]);
    await producer.schedule(mail, { to: 'a' });
    await tester.drain();
    expect(seen).toEqual(['a', 'a+', 'a++', 'a+++', 'a++++']);
  });
});

describe('one run at a time', () => {
  it('in claim order, each awaited', async () => {
    const seen: string[] = [];
    const { tester, producer } = await testedApp([
      handling(async (to) => {
        seen.push(`${to} begins`);
        await new Promise(setImmediate);
        seen.push(`${to} ends`);
      }),
    ]);
    await producer.schedule(mail, { to: 'low' }, { priority: 9 });
    await producer.schedule(mail, { to: 'high' }, { priority: 1 });
    await tester.drain();
    expect(seen).toEqual(['high begins', 'high ends', 'low begins', 'low ends']);
  });

  it('a job that a run cancels is not run, though it was due', async () => {
    const { tester, producer } = await testedApp([
      handling(async (to) => {
        if (to === 'first') await producer.cancel('second');
      }),
    ]);
    await producer.schedule(mail, { to: 'first' }, { at: at(-2) });
    await producer.schedule(mail, { to: 'second' }, { id: 'second', at: at(-1) });
    await tester.drain();
    expect(tester.runs().map(({ payload }) => payload)).toEqual([{ to: 'first' }]);
  });

  it('lasts no virtual time', async () => {
    const { tester, producer } = await testedApp([handling(() => new Promise((done) => setTimeout(done, 20)))]);
    await producer.schedule(mail, { to: 'ada' });
    await tester.drain();
    expect(tester.runs()).toMatchObject([{ startedAt: at(0), endedAt: at(0), outcome: 'completed' }]);
  });

  it('runs in the queues of the handlers, each by its own order', async () => {
    const seen: string[] = [];
    @Injectable()
    class Both {
      @OnScheduledJob('one', { queue: 'b' })
      one() {
        seen.push('b');
      }

      @OnScheduledJob('one', { queue: 'a' })
      two() {
        seen.push('a');
      }
    }
    const { tester, producer } = await testedApp([Both]);
    for (const queue of ['a', 'b', 'a', 'b']) await producer.schedule('one', null, { queue });
    await tester.drain();
    expect(seen).toEqual(['b', 'b', 'a', 'a']);
  });
});

describe('sleep', () => {
  it('lets virtual time go on inside a handler, and other jobs run meanwhile', async () => {
    const seen: unknown[] = [];
    const { tester, producer } = await testedApp([
      handling(async (to, _job, tester) => {
        seen.push([to, tester.now()]);
        if (to === 'slow') await tester.sleep('10m');
        seen.push([to, tester.now()]);
      }),
    ]);
    await producer.schedule(mail, { to: 'slow' });
    await producer.schedule(mail, { to: 'quick' }, { delay: '5m' });
    await tester.advance('1h');
    expect(seen).toEqual([
      ['slow', at(0)],
      ['quick', at(300_000)],
      ['quick', at(300_000)],
      ['slow', at(600_000)],
    ]);
    expect(tester.runs().map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
  });

  it('leaves a run that outlasts the call for the next one', async () => {
    const { tester, producer } = await testedApp([handling((_to, _job, tester) => tester.sleep('2h'))]);
    await producer.schedule(mail, { to: 'ada' }, { timeoutMs: 0 });
    await tester.advance('1h');
    const before = tester.runs();
    expect(before).toMatchObject([{ outcome: 'running' }]);
    await tester.advance('1h');
    expect(before[0]).not.toHaveProperty('endedAt');
    expect(tester.runs()).toMatchObject([{ outcome: 'completed', endedAt: at(2 * HOUR) }]);
  });

  it('keeps the lease, however long', async () => {
    const { tester, producer, inspector } = await testedApp([handling((_to, _job, tester) => tester.sleep('2 days'))]);
    await producer.schedule(mail, { to: 'ada' }, { timeoutMs: 0 });
    await producer.schedule(mail, { to: 'ada' }, { timeoutMs: 0, delay: '30m' });
    await tester.advance('3 days');
    expect(await inspector.stats()).toMatchObject({ completed: 2, recovered: 0 });
  });

  it('brings timeouts about', async () => {
    let reason: unknown;
    const { tester, producer, inspector } = await testedApp([
      handling(async (_to, job, tester) => {
        await tester.sleep('1h');
        reason = job.signal.reason;
      }),
    ]);
    await producer.schedule(mail, { to: 'ada' }, { timeoutMs: '10m', maxAttempts: 1 });
    await tester.advance('30m');
    expect(await inspector.counts()).toMatchObject({ dead: 1, active: 0 });
    await tester.advance('30m');
    expect(reason).toMatchObject({ code: 'JOB_TIMEOUT' });
    expect(tester.runs()).toMatchObject([{ outcome: 'dead', error: { code: 'JOB_TIMEOUT' } }]);
  });

  it('shows what overlap does', async () => {
    const { tester, producer } = await testedApp([handling((_to, _job, tester) => tester.sleep('90m'))]);
    await producer.upsertRecurrence(
      'hourly',
      mail,
      { to: 'all' },
      { cron: '0 * * * *', overlap: 'skip' },
      { timeoutMs: 0 },
    );
    await tester.advance('5h');
    const hours = tester.runs().map(({ startedAt }) => startedAt.getUTCHours());
    expect(hours).toEqual([10, 12, 14]);
  });

  it('takes a place of the queue, so concurrency can be tested', async () => {
    const { tester, producer } = await testedApp([handling((_to, _job, tester) => tester.sleep('10m'))], {
      queues: { default: { concurrency: 2 } },
    });
    for (const to of ['a', 'b', 'c']) await producer.schedule(mail, { to });
    await tester.advance('1h');
    expect(tester.runs().map(({ startedAt }) => startedAt)).toEqual([at(0), at(0), at(600_000)]);
  });

  it('takes a place of the handler, and as much as its weight', async () => {
    const seen: string[] = [];
    @Injectable()
    class Both {
      constructor(readonly tester: ScheduledQueueTester) {}

      @OnScheduledJob('heavy', { weight: 3 })
      async heavy() {
        seen.push(`heavy ${this.tester.now().getUTCMinutes()}`);
        await this.tester.sleep('10m');
      }

      @OnScheduledJob('light', { concurrency: 1 })
      async light() {
        seen.push(`light ${this.tester.now().getUTCMinutes()}`);
        await this.tester.sleep('1m');
      }
    }
    const { tester, producer } = await testedApp([Both], { queues: { default: { concurrency: 4 } } });
    for (const name of ['light', 'light', 'heavy', 'heavy']) await producer.schedule(name, null);
    await tester.advance('1h');
    expect(seen).toEqual(['light 0', 'heavy 0', 'light 1', 'heavy 10']);
  });

  it('two at a time in one handler', async () => {
    const { tester, producer } = await testedApp([
      handling((_to, _job, tester) => Promise.all([tester.sleep('1m'), tester.sleep('3m')])),
    ]);
    await producer.schedule(mail, { to: 'ada' });
    await tester.advance('1h');
    expect(tester.runs()).toMatchObject([{ outcome: 'completed', endedAt: at(180_000) }]);
  });

  it('is refused outside a handler', async () => {
    const { tester } = await testedApp();
    await expect(tester.sleep('1m')).rejects.toThrow(/tester\.sleep: called outside a handler/);
  });
});

it('a snoozed job runs again at its time', async () => {
  const { tester, producer } = await testedApp([
    handling((_to, job) => (job.latenessMs === 0 && tester.now() < at(1) ? JobOutcome.snooze('5m') : 'done')),
  ]);
  await producer.schedule(mail, { to: 'ada' });
  await tester.advance('1h');
  expect(tester.runs()).toMatchObject([
    { outcome: 'snoozed', retryAt: at(300_000), attempt: 1 },
    { outcome: 'completed', result: 'done', attempt: 1, startedAt: at(300_000) },
  ]);
});

it('pops get jobs at once, and wait by virtual time', async () => {
  const { tester, producer, consumer } = await testedApp();
  await producer.schedule(mail, { to: 'ada' });
  const [first] = await consumer.pop({ count: 1 });
  await first!.complete();
  await producer.schedule(mail, { to: 'bob' }, { delay: '20s' });
  let popped: readonly { payload: unknown }[] | undefined;
  const waiting = consumer.pop({ count: 1, waitMs: '1m' }).then((jobs) => {
    popped = jobs;
  });
  await tester.advance('19s');
  expect(popped).toBeUndefined();
  await tester.advance('2s');
  await waiting;
  expect(popped).toMatchObject([{ payload: { to: 'bob' } }]);
});

it('workers that are not started run nothing', async () => {
  const { tester, producer, consumer } = await testedApp([handling()], { autoStart: false });
  await producer.schedule(mail, { to: 'ada' });
  await tester.advance('1h');
  expect(tester.runs()).toEqual([]);
  await consumer.start();
  await tester.drain();
  expect(tester.runs()).toHaveLength(1);
  await consumer.stop();
  await producer.schedule(mail, { to: 'bob' });
  await tester.drain();
  expect(tester.runs()).toHaveLength(1);
});

it('the progress of a job is seen while its run sleeps, and what it reported last while it waits to be tried again', async () => {
  const handle = async (_: string, job: ScheduledJob, tester: ScheduledQueueTester) => {
    job.progress('begun');
    await tester.sleep('100ms');
    job.progress({ half: true });
    await tester.sleep('10m');
    job.progress('nearly done');
    throw new Error('no');
  };
  const { tester, producer, inspector } = await testedApp([handling(handle)]);
  const job = await producer.schedule(mail, { to: 'ada' });
  const seen = async () => (await inspector.job(job))?.progress;
  await tester.advance(50);
  expect(await seen()).toBe('begun');
  // At most once a second of virtual time.
  await tester.advance(500);
  expect(await seen()).toBe('begun');
  await tester.advance(500);
  expect(await seen()).toEqual({ half: true });
  await tester.advance('10m');
  expect(await inspector.job(job)).toMatchObject({ state: 'scheduled', progress: 'nearly done' });
});
