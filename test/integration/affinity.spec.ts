import { afterEach, expect, it } from '@jest/globals';
import type { QueueOptions } from '../../lib/core/options/queue-options.js';
import { type ClaimedJob } from '../../lib/store/job-store.js';
import { newJob, payloadOf, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const open = (options: QueueOptions = {}) => {
  test = new TestStore(options);
};
const payloads = (claimed: readonly ClaimedJob[]) => claimed.map(payloadOf);
const here = (worker: string) => test.worker(worker).turn({ limit: 0 });

it('thousands of jobs that prefer others hide neither own nor common ones', async () => {
  open({ stealAfterMs: 600_000 });
  const others = Array.from({ length: 300 }, (_, i) => `other-${i}`);
  for (const other of others.slice(0, 3)) await here(other);
  const jobs = others.flatMap((worker) => Array.from({ length: 10 }, (_, i) => newJob({ worker, name: `name-${i}` })));
  for (let i = 0; i < jobs.length; i += 400) await test.scheduleAll(jobs.slice(i, i + 400));
  await test.schedule({ payload: 'common' });
  await test.schedule({ payload: 'own', worker: 'w1' });
  expect(payloads(await test.worker('w1').claim(2))).toEqual(['own', 'common']);
  // Three workers are there, so theirs wait; the others were never there.
  const names = Array.from({ length: 10 }, (_, i) => `name-${i}`);
  const claimed: ClaimedJob[] = [];
  const thief = test.worker('thief', ...names);
  for (let i = 0; i < 20; i++) {
    const answer = await thief.turn({ limit: 1_000 });
    claimed.push(...answer.claimed);
    for (const other of others.slice(0, 3)) await here(other);
  }
  expect(claimed).toHaveLength(2_970);
});

const QUIET = { leaseMs: 60_000, maxSleepMs: 15_000, stealAfterMs: 60_000 };

/** Turns of three workers of one crew that all hear messages, the last one being `w1`: in how many ms each looks again. */
async function sleeps(): Promise<(number | undefined)[]> {
  const workers = ['w2', 'w3', 'w1'].map((id) => test.worker(id));
  for (const worker of workers) await worker.listens();
  const found: (number | undefined)[] = [];
  for (const worker of workers) found.push((await worker.turn({ limit: 5 })).sleepMs);
  return found;
}

it('a job that prefers a worker is looked for by that one, though two others look earlier for something else', async () => {
  open(QUIET);
  await here('w1');
  const from = performance.now();
  await test.schedule({ due: { delayMs: 3_000 } });
  await test.schedule({ due: { delayMs: 9_000 }, worker: 'w1' });
  const [first, deputy, own] = await sleeps();
  const tookMs = performance.now() - from;
  expect(first).toBeLessThanOrEqual(3_000);
  expect(deputy).toBeLessThanOrEqual(3_500);
  expect(own).toBeLessThanOrEqual(9_000);
  // When its own job is due, and not before.
  expect(own).toBeGreaterThanOrEqual(9_000 - 1 - tookMs);
});

it('where such a job waits for the rate or for the end of a pause, its worker looks at most half a second after that', async () => {
  open({ ...QUIET, rateLimit: { max: 1, perMs: 3_000 } });
  await test.schedule();
  const worker = test.worker('w1');
  await worker.settle(...(await worker.claim()).map((job) => settlement.complete(job)));
  await test.schedule({ worker: 'w1' });
  const behindRate = (await sleeps())[2];
  expect(behindRate).toBeGreaterThan(3_000);
  expect(behindRate).toBeLessThanOrEqual(3_560);
  await test.management.pause(5_000);
  expect((await sleeps())[2]).toBeLessThanOrEqual(5_500);
});

it('a place that becomes free under a limit over all processes is told to the worker that a due job prefers', async () => {
  open({ ...QUIET, globalConcurrency: 1 });
  const [ends, idle, preferred] = [test.worker('w2'), test.worker('w3'), test.worker('w1')];
  await test.schedule();
  const [job] = await ends.claim();
  await idle.listens();
  const told = await preferred.listens();
  await test.schedule({ worker: 'w1' });
  for (const worker of [idle, preferred]) await worker.turn({ limit: 5 });
  told.length = 0;
  expect((await ends.turn({ settlements: [settlement.complete(job!)], limit: 5 })).claimed).toEqual([]);
  await until('it is told', () => told.some((inMs) => inMs < 100));
  expect(await preferred.claim()).toHaveLength(1);
});

it('a worker whose handler is full does not tell others of jobs that prefer it', async () => {
  open(QUIET);
  const [full, idle] = ['w1', 'w2'].map((id) => test.limitedWorker(id, true, 'work', 'other'));
  const handlers = (free: number) => [{ name: 'work', weight: 1, free, size: 1 }];
  await full!.turn();
  await test.scheduleAll([newJob({ worker: 'w1' }), newJob({ worker: 'w1' })]);
  expect((await full!.turn({ limit: 10, handlers: handlers(1) })).claimed).toHaveLength(1);
  const told = await idle!.listens();
  await idle!.turn({ limit: 10, handlers: handlers(1) });
  told.length = 0;
  for (let i = 0; i < 3; i++) {
    await full!.turn({ limit: 9, handlers: handlers(0) });
    await idle!.turn({ limit: 10, handlers: handlers(1) });
  }
  // A common one it tells of, and messages come in order.
  await test.schedule();
  await until('it is told', () => told.length > 0);
  expect(told).toHaveLength(1);
});

it('a worker looks for its own jobs that become due while a limit over all processes is reached', async () => {
  open({ ...QUIET, globalConcurrency: 1 });
  await here('w1');
  await test.schedule();
  await test.worker('w4').claim();
  await test.schedule({ due: { delayMs: 3_000 }, worker: 'w1' });
  expect((await sleeps())[2]).toBeLessThanOrEqual(3_000);
});
