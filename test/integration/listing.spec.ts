import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { OrderingRule } from '../../lib/core/options/queue-options.js';
import type { WaitingState } from '../../lib/store/job-store.js';
import { newPrefix } from '../support/queue-app.js';
import { type RedisServer, startOwnServer } from '../support/redis-server.js';
import { newJob, payloadOf, TestStore } from '../support/store.js';

const HOUR = 3_600_000;

let server: RedisServer;
let test: TestStore;
let admin: Redis;

async function open(ordering?: { mode: 'aging'; msPerLevel: number }) {
  test = new TestStore({ ...(ordering && { ordering }), concurrency: 1 }, server.url, newPrefix());
}

beforeEach(async () => {
  server = await startOwnServer();
  admin = new Redis(server.url);
  await open();
});

afterEach(async () => {
  await test.close();
  admin.disconnect();
  await server.stop();
});

/** Calls over the wire, without those inside scripts. */
async function roundTrips(act: () => Promise<unknown>): Promise<number> {
  const calls = async () => {
    const info = await admin.info('commandstats');
    return [...info.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const before = await calls();
  await act();
  return (await calls()) - before;
}

const ids = async (state: WaitingState, offset = 0, limit = 1_000) =>
  await test.view.list(state, offset, limit, ({ id }) => id);

interface Planned {
  id: string;
  due: number;
  priority: number;
}

/** So many jobs in lanes of several priorities, some preferring a worker, with few due times, so that many are alike. */
async function plan(count: number, lanes: number, dueOf: (i: number) => number): Promise<Planned[]> {
  const planned: Planned[] = [];
  const jobs = Array.from({ length: count }, (_, i) => {
    const job = { id: `id-${(i * 7_919) % count}`, due: dueOf(i), priority: 1 + (i % 3) };
    planned.push(job);
    const name = `name-${(i * 31) % lanes}`;
    return newJob({ ...job, name, due: { at: job.due }, ...(i % 5 === 0 && { worker: 'w' }) });
  });
  await test.jobs.scheduleMany(jobs, () => {});
  return planned;
}

const inOrder = (jobs: Planned[], rank: (job: Planned) => number) =>
  [...jobs]
    .sort((a, b) => rank(a) - rank(b) || a.priority - b.priority || a.due - b.due || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);

it('five thousand names are listed and peeked at in few calls', async () => {
  await plan(5_000, 5_000, (i) => Date.now() + HOUR + (i % 50));
  expect(await roundTrips(() => ids('scheduled', 0, 1))).toBeLessThan(10);
  expect(await roundTrips(() => test.view.peek(1, () => {}))).toBeLessThan(10);
  expect(await roundTrips(() => ids('scheduled', 0, 1_000))).toBeLessThan(20);
});

it.each([
  [4_000, 3],
  [4_000, 300],
  [4_000, 4_000],
])('%i scheduled jobs of %i names stand in the order of their due times, page by page', async (count, lanes) => {
  const soon = Date.now() + HOUR;
  const order = inOrder(await plan(count, lanes, (i) => soon + ((i * i) % 101)), ({ due }) => due);
  expect([...(await ids('scheduled')), ...(await ids('scheduled', 1_000))]).toEqual(order.slice(0, 2_000));
  expect(await ids('scheduled', 3_990, 100)).toEqual(order.slice(3_990));
  expect(await ids('scheduled', count, 1)).toEqual([]);
});

describe.each([
  ['strict', undefined],
  ['aging', { mode: 'aging', msPerLevel: 20 }],
] as const)('due jobs by %s priority', (_, ordering) => {
  it('stand in the order of claims, those of many lanes too', async () => {
    await test.close();
    await open(ordering);
    const soon = Date.now() + 1_500;
    const planned = await plan(3_000, 1_200, (i) => soon + ((i * i) % 101));
    const rank = (settings: OrderingRule) => (job: Planned) =>
      settings.mode === 'strict' ? job.priority : job.due + job.priority * settings.msPerLevel;
    const order = inOrder(planned, rank(test.settings.ordering));
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, soon + 200 - Date.now())));
    expect([...(await ids('due')), ...(await ids('due', 1_000)), ...(await ids('due', 2_000))]).toEqual(order);
  });
});

it('scheduled jobs behind due ones are listed, in order up to a thousand such lanes and all of them beyond', async () => {
  const names = Array.from({ length: 1_500 }, (_, i) => `name-${i}`);
  await test.jobs.scheduleMany(
    names.map((name) => newJob({ name })),
    () => {},
  );
  const soon = Date.now() + HOUR;
  const behind = names.map((name, i) => newJob({ name, id: `behind-${i}`, due: { at: soon + ((i * 7) % 1_500) } }));
  await test.jobs.scheduleMany(behind, () => {});
  await test.schedule({ name: 'apart', id: 'apart', due: { at: soon + 2_000 } });
  const first = await ids('scheduled');
  const second = await ids('scheduled', 1_000);
  expect(new Set([...first, ...second]).size).toBe(1_501);
  const due = new Map(behind.map(({ id, due }) => [id!, (due as { at: number }).at]));
  const isSorted = (list: string[]) => list.every((id, i) => i === 0 || due.get(list[i - 1]!)! <= due.get(id)!);
  expect(isSorted(first)).toBe(true);
  // After the last one of the first thousand lanes come the others.
  expect(second[0]).toBe('apart');
  expect(isSorted(second.slice(1))).toBe(true);
});

it('jobs of a thousand priorities are listed in few calls', async () => {
  const jobs = Array.from({ length: 1_000 }, (_, i) =>
    newJob({ id: `id-${i}`, priority: i + 1, due: { at: Date.now() + HOUR + ((i * 7) % 1_000) } }),
  );
  await test.jobs.scheduleMany(jobs, () => {});
  let listed: string[] = [];
  const calls = await roundTrips(async () => {
    listed = await ids('scheduled', 0, 10);
  });
  expect(listed).toEqual(
    jobs
      .sort((a, b) => (a.due as { at: number }).at - (b.due as { at: number }).at)
      .slice(0, 10)
      .map(({ id }) => id),
  );
  expect(calls).toBeLessThan(20);
});

it('large jobs come a few at a time', async () => {
  const payload = `"${'x'.repeat(512 * 1024)}"`;
  for (let i = 0; i < 20; i++) await test.schedule({ payload, due: { delayMs: HOUR } });
  // So that Redis knows the scripts.
  await ids('scheduled');
  let listed: number[] = [];
  const calls = await roundTrips(async () => {
    listed = await test.view.list('scheduled', 0, 100, (job) => payloadOf(job).length);
  });
  expect(listed.filter((length) => length === payload.length)).toHaveLength(20);
  // Two at a time.
  expect(calls).toBeGreaterThan(10);
  expect(calls).toBeLessThan(20);
});
