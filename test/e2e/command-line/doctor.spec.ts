import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import type { Finding } from '../../../lib/command-line/doctor/finding.js';
import { defineScheduledJob } from '../../../lib/index.js';
import { type Ended, typed } from '../../support/command-line.js';
import { newPrefix, type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

// Each fault is planted alone, and doctor names it and no other.

const prefix = newPrefix();
/** At this queue nobody works, so nobody mends what is planted there. */
const STILL = 'still';
let server: OwnRedisServer;
let admin: Redis;
let app: QueueApp;
/** It takes as long as a call may. */
let away: Promise<Ended>;

beforeAll(async () => {
  away = typed(['doctor', '--url', 'redis://127.0.0.1:1']);
  server = await startOwnServer('--appendonly', 'yes');
  admin = new Redis(server.url);
  app = await startApp([Work], { connection: server.url, prefix });
  await app.producer.schedule('work', 1);
  await app.producer.schedule('work', 2, { delay: '1h' });
  await app.producer.upsertRecurrence('hourly', 'work', 3, { everyMs: '1h' });
  await app.producer.schedule('work', 4, { id: 'later', delay: '1h', queue: STILL });
  await app.producer.upsertRecurrence({ id: 'daily', queue: STILL }, 'work', 5, { cron: '0 8 * * *' });
  await until('it runs', () => app.get(Work).runs.length > 0);
  await until('it has completed', async () => (await app.inspector.counts()).active === 0);
});

afterAll(async () => {
  await stopApps();
  admin.disconnect();
  await server.stop();
});

const asked = () => ['--url', server.url, '--prefix', prefix];

/** What is not well. */
async function found(...queue: string[]): Promise<Finding[]> {
  const { code, out, err } = await typed(['doctor', ...queue, '--json', ...asked()]);
  expect(err).toBe('');
  const findings: Finding[] = JSON.parse(out);
  expect(code).toBe(findings.some(({ level }) => level === 'problem') ? 1 : 0);
  return findings.filter(({ level }) => level !== 'ok');
}

const problem = (check: string, message: RegExp, queue?: string) => ({
  check,
  level: 'problem',
  ...(queue !== undefined && { queue }),
  message: expect.stringMatching(message),
});

it('finds nothing on a server with an AOF and in a queue that works', async () => {
  expect(await found()).toEqual([]);
  expect(await found('default')).toEqual([]);
  const { code, out, err } = await typed(['doctor', ...asked()]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.split('\n\n')[0]).toBe(
    'ok  server, eviction, persistence, permissions, clock, stray-keys, counters (2 queues), recurrences\n(2 queues), unhandled (2 queues), options (2 queues)',
  );
});

it('names an eviction policy that deletes jobs, and says so as text', async () => {
  await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
  expect(await found()).toEqual([problem('eviction', /'allkeys-lru'.*Set maxmemory-policy noeviction\.$/)]);
  const { code, out } = await typed(['doctor', ...asked()]);
  await admin.config('SET', 'maxmemory-policy', 'noeviction');
  expect(code).toBe(1);
  expect(out).toMatch(/^problem {2}eviction\n {4}Redis has the eviction policy 'allkeys-lru'/);
  expect(out.split('\n').filter((line) => line.length > 100 && !line.includes('--url'))).toEqual([]);
});

it('names a Redis that a restart would empty', async () => {
  await admin.config('SET', 'appendonly', 'no');
  expect(await found()).toEqual([problem('persistence', /no AOF and no replica/)]);
  await admin.config('SET', 'appendonly', 'yes');
});

it.each([
  [6_000, /^The clock of Redis is \d s behind that of this machine/],
  [-6_000, /^The clock of Redis is \d s ahead of that of this machine/],
])('names clocks that are %d ms apart', async (byMs, message) => {
  const now = Date.now;
  const shifted = jest.spyOn(Date, 'now').mockImplementation(() => now() + byMs);
  try {
    expect(await found()).toEqual([problem('clock', message)]);
  } finally {
    shifted.mockRestore();
  }
});

it('names keys under the prefix that are no queue of it, and no keys of others', async () => {
  await admin.mset(`${prefix}:eu:{mail}:stats`, '', `${prefix}2:{mail}:jobs`, '', '{mail}:relay:out', '');
  expect(await found()).toEqual([]);
  await admin.set(`${prefix}:{default}:note`, '');
  await app.inspector.pause({ queue: 'mial' });
  expect(await found()).toEqual([
    problem('stray-keys', /^Keys of queues that nobody has used: 'mial' \([12]\)\. Delete them if/),
    problem('stray-keys', /^Keys under '.*:' that are no queue's: 1, such as '.*:\{default\}:note'\. Unless a relay/),
  ]);
  await admin.del(`${prefix}:{default}:note`, ...(await admin.keys(`${prefix}:{mial}:*`)));
});

const key = (name: string) => `${prefix}:{${STILL}}:${name}`;
/** What doctor says of the queue at which nobody works. */
const foundThere = () => found(STILL);

it('names counters that do not agree with the jobs, by the command that makes them agree', async () => {
  await admin.hincrby(key('stats'), 'scheduled', 2);
  const findings = await foundThere();
  expect(findings).toEqual([problem('counters', /has 4 jobs, and there are 2: /, STILL)]);
  const { out } = await typed(['doctor', STILL, ...asked()]);
  expect(out).toMatch(/^problem {2}counters of queue 'still'\n {4}By its counters queue 'still' has 4 jobs,/);
  expect(out).toContain('How it is:\n  nestjs-redis-scheduled-queue stats still --url');
  const [, command] = findings[0]!.message.match(/, (HINCRBY .*) makes them agree\.$/)!;
  const [name, ...args] = command!.split(' ');
  await admin.call(name!, ...args);
  expect(await foundThere()).toEqual([]);
});

it('names jobs that have lost their content, and jobs to which no index leads', async () => {
  const content = (await admin.hget(key('jobs'), 'later'))!;
  await admin.hdel(key('jobs'), 'later');
  expect(await foundThere()).toEqual([problem('counters', /2 jobs of queue 'still' are listed and only 1 /, STILL)]);
  await admin.hset(key('jobs'), 'later', content);
  const [level, at] = await admin.zrange(key('levels'), '0', '-1', 'WITHSCORES');
  await admin.del(key('levels'));
  expect(await foundThere()).toEqual([problem('counters', /the index leads to 0 of the 2 jobs/, STILL)]);
  await admin.zadd(key('levels'), at!, level!);
});

it('names active recurrences of which no occurrence is armed', async () => {
  const state = (await admin.hget(key('timetable'), 'daily'))!;
  await admin.hset(key('timetable'), 'daily', state.replace(/^a \d+/, 'a 0'));
  expect(await foundThere()).toEqual([problem('recurrences', /no occurrence is armed of 'daily' of/, STILL)]);
  await admin.del(key('timetable'));
  expect(await foundThere()).toEqual([
    problem('recurrences', /^Redis has lost when recurrences of queue 'still' run, .*\(1\)/, STILL),
  ]);
  await admin.hset(key('timetable'), 'daily', state);
});

it('names jobs that have been due for more than a minute and that nobody handles, unless the queue is shut', async () => {
  const { producer, inspector } = app;
  const before = (ms: number) => ({ at: Date.now() - ms, queue: STILL });
  const soon = await producer.schedule('soon', 1, before(30_000));
  expect(await foundThere()).toEqual([]);
  const options = { ...before(120_000), tags: ['late'] };
  const items = Array.from({ length: 1_000 }, (_, i) => ({ job: `job-${i}`, payload: 1, options }));
  await producer.scheduleMany(items);
  // More lanes than one call may look into.
  const uncounted = { check: 'counters', level: 'unknown', queue: STILL, message: expect.stringContaining('lanes') };
  expect(await foundThere()).toEqual([
    uncounted,
    problem('unhandled', /no live worker handles it: 'job-0', 'job-1', 'job-10' and 997 more\./, STILL),
  ]);
  await inspector.pause({ queue: STILL });
  expect(await foundThere()).toEqual([uncounted]);
  await inspector.resume({ queue: STILL });
  await inspector.cancelTagged('late', { queue: STILL });
  expect(await foundThere()).toEqual([]);
  await producer.cancel(soon);
});

it('names a job in a version that no live worker reads', async () => {
  const order = defineScheduledJob<number>('work', { version: 3 });
  const ref = await app.producer.schedule(order, 1, { at: Date.now() - 120_000 });
  expect(await found('default')).toEqual([
    problem('unhandled', /no live worker handles it: 'work' \(version 3\)\./, 'default'),
  ]);
  await app.producer.cancel(ref);
  expect(await found('default')).toEqual([]);
});

it('names live workers that disagree', async () => {
  const queues = { default: { globalConcurrency: 3, keepDead: 7 } };
  const other = await startApp([Work], { connection: server.url, prefix, queues, workerId: 'other' });
  await until('both are seen', async () => (await app.inspector.workers()).length === 2);
  expect(await found('default')).toEqual([
    problem('options', /globalConcurrency is .* in worker '.*' \(.*, pid \d+\), and .*Unless a deploy/, 'default'),
    problem('options', /keepDead is /, 'default'),
  ]);
  await other.app.close();
  expect(await found('default')).toEqual([]);
});

// The last two, as the server is of no use any more.
it('names a snapshot that has failed', async () => {
  // Redis writes a new AOF since it was switched on again.
  await until('it is written', async () => /aof_rewrite_in_progress:0/.test(await admin.info('persistence')));
  rmSync(server.directory, { recursive: true });
  await admin.bgsave();
  await until('it has failed', async () => (await admin.info('persistence')).includes('rdb_last_bgsave_status:err'));
  expect(await found()).toEqual([problem('persistence', /^The last snapshot of Redis has failed/)]);
});

it('names a server that is a replica', async () => {
  await stopApps();
  await admin.replicaof('127.0.0.1', 1);
  expect(await found()).toEqual(
    expect.arrayContaining([problem('server', /^This server is a replica and takes no writes/)]),
  );
});

it('ends with 3 where Redis is away', async () => {
  const { code, out, err } = await away;
  expect({ code, out }).toEqual({ code: 3, out: '' });
  expect(err).toMatch(/ECONNREFUSED/);
});
