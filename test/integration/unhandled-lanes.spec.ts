import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ClaimedJob } from '../../lib/store/job-store.js';
import { newPrefix, redisUrl } from '../support/queue-app.js';
import { newJob, payloadOf, settlement, TestStore, type TestWorker } from '../support/store.js';
import { until } from '../support/wait.js';

const LANES = 20_000;

const test = new TestStore({ leaseMs: 30_000 }, redisUrl(), newPrefix());

beforeAll(async () => {
  await test.schedule({ payload: '0' });
  const jobs = Array.from({ length: LANES }, (_, i) => newJob({ name: `unknown-${i}` }));
  await test.jobs.scheduleMany(jobs, () => {});
});

afterAll(() => test.close());

const payloads = (jobs: readonly ClaimedJob[]) => jobs.map(payloadOf);

async function claimOnce(worker: TestWorker, limit: number) {
  const answer = await worker.turn({ limit });
  await worker.settle(...answer.claimed.map(settlement.complete));
  return answer;
}

it('a worker comes to its own jobs behind twenty thousand due lanes of others in one turn, in order, and to each once', async () => {
  for (const [payload, name] of Object.entries({ 1: 'work', 2: 'other', 3: 'third', 4: 'other', 5: 'work' }))
    await test.schedule({ payload, name });
  await test.schedule({ payload: 'urgent', name: 'other', priority: 1 });
  await test.schedule({ payload: 'own', worker: 'w' });
  const { claimed, sleepMs } = await claimOnce(test.worker('w', 'work', 'other', 'third'), 10);
  expect(payloads(claimed)).toEqual(['urgent', 'own', '0', '1', '2', '3', '4', '5']);
  // Nothing is left that it has not looked at.
  expect(sleepMs).toBeGreaterThan(0);
});

it('it sleeps where there are only such lanes', async () => {
  const worker = test.worker('w', 'work', 'other');
  await worker.listens();
  const { claimed, sleepMs } = await worker.turn({ limit: 10 });
  expect(claimed).toEqual([]);
  expect(sleepMs).toBeGreaterThan(2_000);
});

it('what is due later, or full here, it leaves', async () => {
  await test.schedule({ payload: 'later', due: { delayMs: 3_600_000 } });
  await test.schedule({ payload: 'full', name: 'other' });
  const worker = test.limitedWorker('w', true, 'work', 'other');
  const full = [{ name: 'other', weight: 1, free: 0, size: 1 }];
  expect((await worker.turn({ limit: 10, handlers: full })).claimed).toEqual([]);
  expect(payloads((await claimOnce(worker, 10)).claimed)).toEqual(['full']);
});

it('a turn that looks anew begins at the start again, and one that does not goes on', async () => {
  const names = Array.from({ length: 3_000 }, (_, i) => `strange-${i}`);
  await test.schedule({ payload: 'mine', name: 'strange-77' });
  const worker = test.worker('w', ...names);
  const first = await worker.turn({ limit: 10 });
  expect(first).toMatchObject({ claimed: [], sleepMs: 0 });
  for (let turn = 0; turn < 20; turn++)
    expect(await worker.turn({ limit: 10, looksAnew: true })).toMatchObject({ claimed: [], sleepMs: 0 });
  const found = await until('it is found', async () => {
    const { claimed } = await worker.turn({ limit: 10 });
    return claimed.length > 0 && claimed;
  });
  expect(payloads(found)).toEqual(['mine']);
  await worker.settle(...found.map(settlement.complete));
});

it('one of very many names comes to its own in some turns', async () => {
  const names = Array.from({ length: 3_000 }, (_, i) => `known-${i}`);
  await test.schedule({ payload: 'mine', name: 'known-77' });
  const worker = test.worker('w', ...names);
  const found: string[] = [];
  for (let turn = 0; turn < 20 && found.length === 0; turn++) {
    const answer = await worker.turn({ limit: 10 });
    found.push(...payloads(answer.claimed));
  }
  expect(found).toEqual(['mine']);
});
