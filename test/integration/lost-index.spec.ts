import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { QueueStore, Session } from '../../lib/store/job-store.js';
import { queueKeys } from '../../lib/store/redis/keys.js';
import { RedisConnection } from '../../lib/store/redis/link/connection.js';
import { RedisJobStore } from '../../lib/store/redis/redis-job-store.js';
import { RedisInspection } from '../../lib/store/redis/view/inspection.js';
import { redisUrl } from '../support/queue-app.js';
import { SessionTurns } from '../support/session-turns.js';
import { newJob, QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;
const key = (name: string) => `${test.prefix}:{default}:${name}`;

beforeEach(() => {
  test = new TestStore();
});

afterEach(() => test.close());

function inspection(): RedisInspection {
  const outages = { lost() {}, found() {}, forget() {} };
  const connection = new RedisConnection(test.redis, outages as never, 5_000);
  return new RedisInspection(connection, queueKeys(test.prefix, QUEUE), 5_000);
}

/** How many jobs the queue has, and how many of them the index leads to. */
const placement = () => inspection().placement();

const LOST = [
  ['levels', { jobs: 4, placed: 1 }],
  ['heads:5', { jobs: 4, placed: 1 }],
  ['lane:5::work', { jobs: 4, placed: 2 }],
  ['active', { jobs: 4, placed: 3 }],
  ['jobs', { jobs: 0, placed: 4 }],
] as const;

it.each(LOST)('that Redis has lost %s is seen', async (lost, found) => {
  await test.scheduleAll([newJob(), newJob(), newJob(), newJob({ name: 'other' })]);
  await test.worker('w').claim(1);
  expect(await placement()).toEqual({ jobs: 4, placed: 4, counted: 4 });
  await test.redis.del(key(lost));
  expect(await placement()).toEqual({ ...found, counted: 4 });
});

it('each job stands in one place: it waits, runs or is dead', async () => {
  await test.scheduleAll([
    ...Array.from({ length: 3 }, () => newJob()),
    newJob({ due: { delayMs: 5_000 } }),
    newJob({ worker: 'v' }),
    newJob({ name: 'other' }),
  ]);
  const worker = test.worker('w');
  const [a, b] = await worker.claim(3);
  await worker.settle(settlement.complete(a!), settlement.dead(b!));
  expect(await placement()).toEqual({ jobs: 5, placed: 5, counted: 5 });
});

it('jobs of more lanes than one call may look into are not compared', async () => {
  await test.scheduleAll(Array.from({ length: 1_001 }, (_, i) => newJob({ name: `n${i}` })));
  expect(await placement()).toBeUndefined();
});

it('the largest hash of a queue and its size are known by a sample', async () => {
  expect((await inspection().largestHash()).bytes).toBe(0);
  const payload = JSON.stringify('x'.repeat(1_000));
  await test.scheduleAll(Array.from({ length: 600 }, (_, i) => newJob({ id: `job-${i}`, payload })));
  await test.redis.hset(key('results'), 'small', 'x'.repeat(10_000));
  const values = await test.redis.hgetall(key('jobs'));
  const bytes = Object.entries(values).reduce((sum, [id, envelope]) => sum + id.length + envelope.length, 0);
  const largest = await inspection().largestHash();
  expect(largest.key).toBe(key('jobs'));
  expect(largest.bytes / bytes).toBeCloseTo(1, 1);
});

it('the first process of a queue tells of a lost index, once, and no other does', async () => {
  await test.schedule();
  await test.redis.del(key('levels'));
  const [a, b] = [processOf('a'), processOf('b')];
  await a.turn();
  await until('a has told', () => a.lines.length > 0);
  await b.turn();
  // Answered behind all that b has asked before.
  await b.store.queue(QUEUE).view.counts();
  expect(a.lines).toEqual([
    expect.stringMatching(/^Redis has lost data: the index leads to 0 of the 1 jobs of queue 'default', /),
  ]);
  expect(b.lines).toEqual([]);
  await Promise.all([a.store.close(), b.store.close()]);
});

it('another session of that process tells of it as well, if it is the first in the minute', async () => {
  await test.schedule();
  const worker = processOf('a');
  await worker.turn();
  // The watch of this one has not looked yet, and the session that comes first by name is not of it.
  const pull = processOf('a', (sessions) => sessions.pull('a', undefined));
  await test.redis.del(key('levels'));
  await pull.turn();
  await until('the pull has told', () => pull.lines.length > 0);
  expect(pull.lines).toEqual([expect.stringMatching(/^Redis has lost data: the index leads to 0 of the 1 jobs /)]);
  await Promise.all([worker.store.close(), pull.store.close()]);
});

it.each(['levels', 'heads:5'])(
  'jobs that are moved by a millisecond each stand in the index again, if %s was lost',
  async (lost) => {
    await test.scheduleAll([newJob(), newJob(), newJob({ name: 'other' })]);
    await test.redis.del(key(lost));
    expect(await test.worker('w', 'work', 'other').claim()).toEqual([]);
    const step = { size: 100, limit: 100 };
    const { jobs } = await test.view.find({ states: ['scheduled', 'due'] }, undefined, step);
    expect(jobs).toHaveLength(3);
    for (const { id, dueAtMs } of jobs) expect(await test.jobs.reschedule(id, { at: dueAtMs + 1 })).toBe(true);
    expect(await placement()).toEqual({ jobs: 3, placed: 3, counted: 3 });
    expect(await test.worker('w', 'work', 'other').claim()).toHaveLength(3);
    expect(await test.audit()).toEqual([]);
  },
);

/** A process of its own that writes its log into `lines`. */
function processOf(
  worker: string,
  open = (sessions: QueueStore['sessions']): Session => sessions.worker(worker, { names: ['work'], limited: false }),
) {
  const lines: string[] = [];
  const log = { log() {}, warn: (line: string) => lines.push(line), error() {} };
  const { prefix, settings } = test;
  const store = new RedisJobStore({
    connection: redisUrl(),
    prefix,
    commandTimeoutMs: 5_000,
    settingsOf: () => settings,
    log,
  });
  const session = open(store.queue(QUEUE).sessions);
  return { store, lines, turn: () => new SessionTurns(session).turn() };
}

it('an index that says too early when a level is due starts nothing early', async () => {
  await test.scheduleAll(Array.from({ length: 40 }, () => newJob({ due: { delayMs: 3_600_000 } })));
  const worker = test.worker('w');
  // Sessions begin with a whole turn.
  expect(await worker.claim(20)).toEqual([]);
  await test.redis.zadd(key('levels'), Date.now(), '5');
  expect(await worker.claim(20)).toEqual([]);
});
