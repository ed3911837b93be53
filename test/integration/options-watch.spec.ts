import { hostname } from 'node:os';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type QueueOptions, readQueueOptions } from '../../lib/core/options/queue-options.js';
import type { QueueStore, Session } from '../../lib/store/job-store.js';
import { RedisJobStore } from '../../lib/store/redis/redis-job-store.js';
import { ManualClock } from '../support/manual-clock.js';
import { newPrefix } from '../support/queue-app.js';
import { SessionTurns } from '../support/session-turns.js';
import { type StoppedRedis, startStoppedRedis } from '../support/stopped-redis.js';
import { QUEUE } from '../support/store.js';

// Processes that share a queue in Redis, whose clock and the monotonic one of this process stand still until a test lets time pass.

const monotonic = performance.now;
const clock = new ManualClock();
let server: StoppedRedis;
let prefix: string;
let stores: RedisJobStore[];

beforeAll(async () => {
  server = await startStoppedRedis(clock.wallNow());
  performance.now = () => clock.now();
});
afterAll(async () => {
  performance.now = monotonic;
  await server.stop();
});

beforeEach(() => {
  prefix = newPrefix();
  stores = [];
});
afterEach(() => Promise.all(stores.map((store) => store.close())));

type Opens = (sessions: QueueStore['sessions'], id: string) => Session;

const worker: Opens = (sessions, id) => sessions.worker(id, { names: ['work'], limited: false });
const pull: Opens = (sessions, id) => sessions.pull(id, undefined);
const relay: Opens = (sessions, id) => sessions.relay(id, undefined, { type: 'list', key: `${prefix}:relay` });

/** A process of its own that writes its log into `lines`. */
function processOf(id: string, options: QueueOptions, open: Opens = worker) {
  const lines: string[] = [];
  const log = { log() {}, warn: (line: string) => lines.push(line), error() {} };
  const settings = readQueueOptions(QUEUE, options);
  const store = new RedisJobStore({
    connection: server.url,
    prefix,
    commandTimeoutMs: 5_000,
    settingsOf: () => settings,
    log,
  });
  stores.push(store);
  const turns = new SessionTurns(open(store.queue(QUEUE).sessions, id));
  const idle = async () => {
    await turns.turn();
    // Answered behind all that the turn has asked for besides.
    await store.queue(QUEUE).view.counts();
  };
  return { id, lines, idle };
}

/** All of them take an idle turn every few seconds for so long. */
async function pass(minutes: number, ...processes: ReturnType<typeof processOf>[]): Promise<void> {
  for (let s = 0; s < minutes * 60; s += 5) {
    clock.pass(5_000);
    server.setTime(clock.wallNow());
    await Promise.all(processes.map(({ idle }) => idle()));
  }
}

const here = `(${hostname()}, pid ${process.pid})`;
const about = (what: string) =>
  `The processes of queue 'default' have had different options for ten minutes: ${what}. Give all of them the same: see docs/operations.md, "Processes that disagree".`;

it('two live workers that differ say so, both once', async () => {
  const [a, b] = [processOf('a', {}), processOf('b', { keepIdsMs: '1h' })];
  await pass(9, a, b);
  expect([a.lines, b.lines]).toEqual([[], []]);
  await pass(12, a, b);
  expect(a.lines).toEqual([about(`keepIdsMs is 600000 in worker 'a' ${here}, and 3600000 in worker 'b' ${here}`)]);
  expect(b.lines).toEqual([about(`keepIdsMs is 3600000 in worker 'b' ${here}, and 600000 in worker 'a' ${here}`)]);
});

it.each([
  ['a pull', pull],
  ['a relay', relay],
])('%s has options as a worker has', async (_, open) => {
  const [a, b] = [processOf('a', {}), processOf('b', { maxCrashes: 5 }, open)];
  await pass(18, a, b);
  expect(a.lines).toEqual([about(`maxCrashes is 3 in worker 'a' ${here}, and 5 in worker 'b' ${here}`)]);
  expect(b.lines).toEqual([about(`maxCrashes is 5 in worker 'b' ${here}, and 3 in worker 'a' ${here}`)]);
});

it('a worker that lists itself seldom, as its lease is longer, is alive for the others', async () => {
  const [a, b] = [processOf('a', { leaseMs: '30s' }), processOf('b', { leaseMs: '20m' })];
  await pass(40, a, b);
  expect(a.lines).toEqual([about(`leaseMs is 30000 in worker 'a' ${here}, and 1200000 in worker 'b' ${here}`)]);
  expect(b.lines).toEqual([about(`leaseMs is 1200000 in worker 'b' ${here}, and 30000 in worker 'a' ${here}`)]);
});

it('nothing is said of workers that are gone, nor where all agree', async () => {
  const [a, b, c] = [processOf('a', {}), processOf('b', {}), processOf('c', { keepDead: 5 })];
  await pass(8, a, b, c);
  await pass(20, a, b);
  expect([a.lines, b.lines]).toEqual([[], []]);
});
