import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { JobOutcome, OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

interface Row {
  n: number;
  isBad?: boolean;
}

const rows = (count: number, badAt = -1) =>
  Array.from({ length: count }, (_, n) => ({ job: 'row', payload: { n, ...(n === badAt && { isBad: true }) } }));

/** What its calls were, and how many went on at once. */
abstract class Calls {
  readonly calls: { rows: Row[]; jobs: ScheduledJob[]; at: number }[] = [];
  now = 0;
  most = 0;
  work: (rows: Row[], jobs: ScheduledJob[]) => unknown = () => {};

  protected async handle(rows: Row[], jobs: ScheduledJob[]): Promise<unknown> {
    this.calls.push({ rows, jobs, at: performance.now() });
    this.most = Math.max(this.most, ++this.now);
    try {
      return await this.work(rows, jobs);
    } finally {
      this.now--;
    }
  }
}

class Rows extends Calls {
  @OnScheduledJob('row', { batch: { size: 100 }, maxAttempts: 4, backoff: { type: 'fixed', delayMs: 20 } })
  insert(payloads: Row[], jobs: ScheduledJob[]): Promise<unknown> {
    return this.handle(payloads, jobs);
  }
}

class PatientRows extends Calls {
  @OnScheduledJob('row', { batch: { size: 10, waitMs: 400 } })
  insert(payloads: Row[], jobs: ScheduledJob[]): Promise<unknown> {
    return this.handle(payloads, jobs);
  }
}

let workers: WorkerProcesses | undefined;

afterEach(async () => {
  await workers?.stop();
  workers = undefined;
  await stopApps();
});

const idle = (app: QueueApp) =>
  until('nothing is left', async () => {
    const { scheduled, due, active } = await app.inspector.counts();
    return scheduled + due + active === 0;
  });

it('10 000 due jobs come in about a hundred calls, never more of them at once than places', async () => {
  const app = await startApp([Rows], { autoStart: false });
  const handler = app.get(Rows);
  let mostActive = 0;
  handler.work = async () => {
    mostActive = Math.max(mostActive, (await app.inspector.counts()).active);
  };
  await app.producer.scheduleMany(rows(10_000));
  await app.consumer.start();
  await idle(app);
  expect(await app.inspector.stats()).toMatchObject({ started: 10_000, completed: 10_000, failed: 0 });
  expect(handler.calls.length).toBeLessThanOrEqual(130);
  expect(handler.calls.every(({ rows, jobs }) => rows.length === jobs.length && rows.length <= 100)).toBe(true);
  // The default concurrency is 10.
  expect(handler.most).toBeLessThanOrEqual(10);
  expect(mostActive).toBeLessThanOrEqual(2_000);
});

it('one bad row of a hundred fails three calls of all, and then dies alone', async () => {
  const app = await startApp([Rows], { autoStart: false });
  const handler = app.get(Rows);
  handler.work = (all) => {
    if (all.some(({ isBad }) => isBad)) throw new Error('bad row');
  };
  await app.producer.scheduleMany(rows(100, 37));
  await app.consumer.start();
  await idle(app);
  expect(await app.inspector.stats()).toMatchObject({ completed: 99, dead: 1 });
  expect(handler.calls.length).toBeLessThanOrEqual(110);
  const [dead] = await app.inspector.list('dead');
  expect(dead).toMatchObject({ payload: { n: 37 }, attempts: 4 });
});

it('with a result for each, a bad row takes no others with it', async () => {
  const app = await startApp([Rows], { autoStart: false });
  const handler = app.get(Rows);
  handler.work = async (all) => {
    const insert = async ({ isBad }: Row) => {
      if (isBad) throw new Error('bad row');
    };
    return JobOutcome.each(await Promise.allSettled(all.map(insert)));
  };
  await app.producer.scheduleMany(rows(100, 37));
  await app.consumer.start();
  await idle(app);
  expect(await app.inspector.stats()).toMatchObject({ completed: 99, dead: 1, retried: 3 });
  expect(handler.calls.map(({ rows }) => rows.length)).toEqual([100, 1, 1, 1]);
});

it('results that were not given to JobOutcome.each complete all jobs, and a rejected one among them is warned of', async () => {
  const log = new LogLines();
  const app = await startApp([Rows], { autoStart: false }, { log });
  app.get(Rows).work = (all) =>
    Promise.allSettled(all.map(({ isBad }) => (isBad ? Promise.reject(new Error('bad row')) : undefined)));
  await app.producer.scheduleMany(rows(100, 37));
  await app.consumer.start();
  await idle(app);
  expect(await app.inspector.stats()).toMatchObject({ completed: 100, failed: 0 });
  const warned = () => log.lines.filter((line) => line.startsWith('warn'));
  await until('it is told', () => warned().length > 0);
  expect(warned()).toEqual([
    expect.stringMatching(
      /completed, but its handler returned an error: Error: bad row.* If the attempt has failed, return JobOutcome\.each\(results\), or throw\. /,
    ),
  ]);
});

it('one that kills its process dies alone', async () => {
  workers = new WorkerProcesses();
  const app = await startApp([], { prefix: workers.prefix });
  const jobs = Array.from({ length: 100 }, (_, i) => ({ job: 'work', payload: i === 37 ? { killAfterMs: 0 } : null }));
  await app.producer.scheduleMany(jobs);
  await workers.keepAlive('w1', { batchSize: 100, leaseMs: 1_000 });
  await idle(app);
  expect(await app.inspector.stats()).toMatchObject({ completed: 99, dead: 1 });
  const [dead] = await app.inspector.list('dead');
  expect(dead).toMatchObject({ payload: { killAfterMs: 0 }, crashes: 3 });
});

it('jobs wait for others so long after the first was claimed, and ten are called at once', async () => {
  const app = await startApp([PatientRows]);
  const { calls } = app.get(PatientRows);
  const [first, ...others] = rows(3);
  await app.producer.schedule(first!.job, first!.payload);
  await until('the first is claimed', async () => (await app.inspector.counts()).active === 1);
  const claimedAt = performance.now();
  for (const { job, payload } of others) await app.producer.schedule(job, payload);
  await until('it is called', () => calls.length === 1);
  expect(calls[0]!.rows.map(({ n }) => n)).toEqual([0, 1, 2]);
  // The bound above is the benchmark's to show.
  expect(calls[0]!.at - claimedAt).toBeGreaterThan(300);
  const scheduledAt = performance.now();
  await app.producer.scheduleMany(rows(10));
  await until('ten are called', () => calls.length === 2);
  expect(calls[1]!.rows).toHaveLength(10);
  expect(calls[1]!.at - scheduledAt).toBeLessThan(400);
});

it('leases are kept while jobs wait for their call, and while it goes on', async () => {
  const leaseMs = 1_000;
  const app = await startApp([PatientRows], {
    autoStart: false,
    queues: { default: { leaseMs } },
    jobs: { row: { batch: { size: 500, waitMs: 2.5 * leaseMs } } },
  });
  const handler = app.get(PatientRows);
  handler.work = () => sleep(3 * leaseMs);
  // One less than a call takes.
  await app.producer.scheduleMany(rows(499));
  await app.consumer.start();
  await idle(app);
  expect(handler.calls.map(({ rows }) => rows.length)).toEqual([499]);
  expect(await app.inspector.stats()).toMatchObject({ completed: 499, recovered: 0, started: 499 });
});

it('one that is cancelled is settled alone, before its call and in it', async () => {
  const app = await startApp([PatientRows]);
  const handler = app.get(PatientRows);
  let goOn = () => {};
  handler.work = () =>
    new Promise<void>((resolve) => {
      goOn = resolve;
    });
  const refs = await app.producer.scheduleMany(rows(4));
  await until('all are claimed', async () => (await app.inspector.counts()).active === 4);
  await app.inspector.cancelRunning(refs[0]!);
  await until('it is cancelled', async () => (await app.inspector.stats()).cancelled === 1);
  await until('the others are called', () => handler.calls.length === 1);
  expect(handler.calls[0]!.rows.map(({ n }) => n)).toEqual([1, 2, 3]);
  await app.inspector.cancelRunning(refs[1]!);
  await until('its signal aborts', () => handler.calls[0]!.jobs[0]!.signal.aborted);
  await until('it is cancelled', async () => (await app.inspector.stats()).cancelled === 2);
  expect((await app.inspector.counts()).active).toBe(2);
  goOn();
  await idle(app);
  expect(await app.inspector.stats()).toMatchObject({ completed: 2, cancelled: 2, failed: 0 });
});

it('what waits for its call goes back when the application stops, with no attempt used', async () => {
  const app = await startApp([PatientRows], { jobs: { row: { batch: { waitMs: '1m' } } } });
  const [ref] = await app.producer.scheduleMany(rows(3));
  await until('all are claimed', async () => (await app.inspector.counts()).active === 3);
  await app.consumer.stop();
  expect(await app.inspector.counts()).toMatchObject({ due: 3, active: 0 });
  expect(await app.inspector.job(ref!)).toMatchObject({ attempts: 0 });
  expect(app.get(PatientRows).calls).toEqual([]);
});

it('limits over all processes count jobs, not calls', async () => {
  const app = await startApp([Rows], {
    autoStart: false,
    queues: { default: { globalConcurrency: 7 } },
  });
  const handler = app.get(Rows);
  let mostActive = 0;
  handler.work = async () => {
    mostActive = Math.max(mostActive, (await app.inspector.counts()).active);
  };
  await app.producer.scheduleMany(rows(60));
  await app.consumer.start();
  await idle(app);
  expect(mostActive).toBe(7);
  expect(Math.max(...handler.calls.map(({ rows }) => rows.length))).toBe(7);
});
