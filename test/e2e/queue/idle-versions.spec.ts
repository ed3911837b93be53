import { afterEach, expect, it } from '@jest/globals';
import type { Provider, Type } from '@nestjs/common';
import { defineScheduledJob, OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { CommandCount } from '../../support/command-count.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';

// A worker beside versions that it does not read is as idle as beside an empty queue.

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  await stopApps();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const NAMES = 1_000;
const name = (i: number) => `job-${i}`;
const same = (payload: unknown) => payload;
/** Versions 2 to 4 of each name: a worker of all of these claims under 3 000 names. */
const known = (i: number) => defineScheduledJob<number>(name(i), { version: 4, upgrade: { 2: same, 3: same } });
const newer = (i: number, version: number) => defineScheduledJob<number>(name(i), { version });

/** A method each for so many names, and the versions that have run. */
function handlersOf(count: number): { Handlers: Type; ran: Map<string, number[]> } {
  const ran = new Map<string, number[]>();
  class Handlers {}
  for (let i = 0; i < count; i++) {
    const method = `handle${i}`;
    const value = (_: number, job: ScheduledJob) => {
      ran.set(job.name, [...(ran.get(job.name) ?? []), job.version]);
    };
    Object.defineProperty(Handlers.prototype, method, { value, writable: true, configurable: true });
    const descriptor = Object.getOwnPropertyDescriptor(Handlers.prototype, method)!;
    OnScheduledJob(known(i))(Handlers.prototype, method, descriptor);
    Object.defineProperty(Handlers.prototype, method, descriptor);
  }
  return { Handlers, ran };
}

async function started(providers: Provider[]) {
  const server = await startOwnServer();
  cleanups.push(() => server.stop());
  const count = new CommandCount(server.url);
  cleanups.push(() => count.close());
  // So that no turn lists its session, and none looks by itself meanwhile.
  const queues = { default: { leaseMs: '1h', maxSleepMs: '10m' } } as const;
  const app = await startApp(providers, { connection: server.url, queues });
  const other = await startApp([], { connection: server.url, queues, prefix: app.prefix, role: 'producer' });
  return { ...app, producer: other.producer, inspector: other.inspector, count };
}

/** How many commands are sent while nothing happens, for two seconds. */
async function idleFor2s(count: CommandCount): Promise<number> {
  const before = await count.sent();
  const from = performance.now();
  await until('two seconds are over', () => performance.now() > from + 2_000);
  return (await count.sent()) - before;
}

it('takes no turn for them, be they due already or come while it sleeps', async () => {
  const { Handlers, ran } = handlersOf(NAMES);
  const { producer, inspector, count } = await started([Handlers]);
  const settled = async () => (await inspector.stats()).completed;
  await producer.schedule(known(0), 1);
  await until('it works', async () => (await settled()) === 1);
  const idle = await idleFor2s(count);

  const items = Array.from({ length: 4 * NAMES }, (_, i) => ({ job: newer(i % NAMES, 5 + (i % 4)), payload: i }));
  await producer.scheduleMany(items);
  // One job of its own makes it look, and look through all of the others.
  await producer.schedule(known(1), 1);
  await until('it has looked', async () => (await settled()) === 2);
  expect(ran.size).toBe(2);
  expect(await idleFor2s(count)).toBe(idle);

  const before = await count.sent();
  for (let i = 0; i < 20; i++) await producer.schedule(newer(i, 9), i);
  // Twenty calls of the producer, and of the worker none.
  expect((await count.sent()) - before).toBeLessThanOrEqual(20 + idle);
});

it('runs a thousand names in three versions each', async () => {
  const { Handlers, ran } = handlersOf(NAMES);
  const { producer, inspector } = await started([Handlers]);
  await producer.scheduleMany(
    [2, 3, 4].flatMap((version) => Array.from({ length: NAMES }, (_, i) => ({ job: newer(i, version), payload: i }))),
  );
  await until('all have run', async () => (await inspector.stats()).completed === 3 * NAMES);
  expect([...ran.values()].every((versions) => versions.sort().join() === '2,3,4')).toBe(true);
  expect(ran.size).toBe(NAMES);
});
