import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { QueueUnavailableError, ScheduledQueueEvents } from '../../../lib/index.js';
import { audit } from '../../support/audit.js';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, ping, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

/** What is promised, and a second for a machine that does other things. */
const BACK_WITHIN_MS = 2_000 + 1_000;

let server: OwnRedisServer;

afterEach(async () => {
  await stopApps();
  await server.stop();
});

async function auditOf(prefix: string): Promise<string[]> {
  const redis = new Redis(server.url);
  try {
    return await audit(redis, prefix);
  } finally {
    redis.disconnect();
  }
}

/** Starts it again. Answers when it took connections again, a time of `performance.now()`. */
async function restarted(): Promise<number> {
  await server.restart();
  return performance.now();
}

/**
 * What Redis has answered is on disk. By default Redis puts writes to the AOF off for up to two seconds while the disk is busy, and a kill
 * loses those that it has answered meanwhile.
 */
const AOF = ['--appendonly', 'yes', '--appendfsync', 'always'];

const OUTAGE = [
  expect.stringMatching(/^warn Redis cannot be reached \(.+\); trying again until it is back\.$/),
  expect.stringMatching(/^log Redis is back after \d+ ms\.$/),
];

it('a Redis with an AOF that was killed has lost nothing, and workers claim within two seconds of its return', async () => {
  server = await startOwnServer(...AOF);
  const log = new LogLines();
  const { producer, inspector, get, prefix } = await startApp([Work], { connection: server.url }, { log });
  const work = get(Work);
  const due = await producer.scheduleMany(
    Array.from({ length: 20 }, (_, payload) => ({ job: 'work', payload, options: { delay: 500 } })),
  );
  const later = await producer.scheduleMany(
    Array.from({ length: 200 }, (_, payload) => ({ job: 'work', payload, options: { delay: '1h' } })),
  );
  await server.kill();
  await until('the outage is told', () => log.lines.length > 0);
  await until('jobs are due', () => Date.now() > due.at(-1)!.dueAt!.getTime() + 500);
  expect(work.runs).toEqual([]);

  const backAt = await restarted();
  await until('what was due has run', () => work.ended.length === due.length);
  const firstAt = work.runs[0]!.startedAt - backAt;
  process.stdout.write(`first claim ${Math.round(firstAt)} ms after Redis took connections again\n`);
  expect(firstAt).toBeLessThan(BACK_WITHIN_MS);
  await until('they are settled', async () => (await inspector.stats()).completed === due.length);
  expect(await inspector.counts()).toEqual({ scheduled: later.length, due: 0, active: 0, completed: 0, dead: 0 });
  expect(new Set((await inspector.list('scheduled', { limit: 1_000 })).map(({ id }) => id))).toEqual(
    new Set(later.map(({ id }) => id)),
  );
  expect(work.twice()).toEqual([]);
  expect(await auditOf(prefix)).toEqual([]);
  await until('its return is told', () => log.lines.length > 1);
  expect(log.lines).toEqual(OUTAGE);
});

it.each([7, 60, 400])(
  'an AOF that lost its last %i bytes has lost the last calls whole, and no half of one',
  async (bytes) => {
    server = await startOwnServer(...AOF);
    // What was claimed and whose end was lost waits for its lease.
    const options = { connection: server.url, queues: { default: { leaseMs: 1_000 } } };
    const first = await startApp([Work], options);
    for (let payload = 0; payload < 50; payload++) {
      await first.producer.schedule('work', payload, { delay: payload % 2 ? '1h' : 0, priority: 1 + (payload % 3) });
    }
    await until('some have run', async () => (await first.inspector.stats()).completed === 25);
    await stopApps();
    await server.kill();
    // Redis 6.2 has one file, later ones a folder of them.
    const files = readdirSync(server.directory, { recursive: true, encoding: 'utf8' });
    const file = join(server.directory, files.find((name) => /\.incr\.aof$|^appendonly\.aof$/.test(name))!);
    truncateSync(file, statSync(file).size - bytes);
    await server.restart();
    await until('it has loaded', async () => (await ping(server.port)) === '+PONG');
    expect(await auditOf(first.prefix)).toEqual([]);
    const second = await startApp([Work], { ...options, prefix: first.prefix });
    const { id } = await second.producer.schedule('work', 'after');
    await until('it runs', () => second.get(Work).has(id));
    await until('it is settled', async () => (await second.inspector.counts()).active === 0);
    expect(await auditOf(first.prefix)).toEqual([]);
  },
);

it('a schedule that fails while Redis is down may be called again under its id, and makes one job', async () => {
  server = await startOwnServer(...AOF);
  const { producer, inspector } = await startApp([], { connection: server.url, commandTimeoutMs: 1_500 });
  await producer.schedule('work', 0, { delay: '1h' });
  await server.kill();
  const calledAt = performance.now();
  const error = await producer.schedule('work', 1, { id: 'mine', delay: '1h' }).catch((thrown: unknown) => thrown);
  expect(performance.now() - calledAt).toBeLessThan(1_500 + 10_000);
  expect(error).toBeInstanceOf(QueueUnavailableError);
  expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
  await server.restart();
  const again = await until('Redis is back', () =>
    producer.schedule('work', 1, { id: 'mine', delay: '1h' }).catch(() => undefined),
  );
  expect(again.id).toBe('mine');
  expect(await producer.schedule('work', 1, { id: 'mine', delay: '1h' })).toMatchObject({ created: false });
  expect((await inspector.list('scheduled')).filter(({ id }) => id === 'mine')).toHaveLength(1);
});

it('handlers that run across an outage longer than their lease are not run a second time', async () => {
  server = await startOwnServer(...AOF);
  const options = { connection: server.url, queues: { default: { leaseMs: 1_000 } } };
  const first = await startApp([Work], options);
  await first.producer.scheduleMany([3_000, 3_200, 3_400].map((payload) => ({ job: 'long', payload })));
  const { runs, ended } = first.get(Work);
  await until('they run', () => runs.length === 3);
  // Another worker, which would recover what it takes for lost.
  const second = await startApp([Work], { ...options, prefix: first.prefix });
  await second.producer.schedule('work', 0);
  await until('both workers work', async () => (await first.inspector.stats()).completed === 1);
  await server.kill();
  const killedAt = performance.now();
  await until('the leases are over', () => performance.now() > killedAt + 2_000);
  expect(ended.filter(({ payload }) => payload !== 0)).toEqual([]);
  await server.restart();
  await until('they are settled', async () => (await first.inspector.stats()).completed === 4);
  expect([...first.get(Work).twice(), ...second.get(Work).twice()]).toEqual([]);
  expect(await first.inspector.stats()).toMatchObject({ started: 4, completed: 4, recovered: 0 });
  expect(await auditOf(first.prefix)).toEqual([]);
});

it('after a restart that lost everything, workers go on with what is scheduled then', async () => {
  server = await startOwnServer();
  const log = new LogLines();
  const { producer, inspector, get, prefix } = await startApp([Work], { connection: server.url }, { log });
  const work = get(Work);
  let completed = 0;
  get(ScheduledQueueEvents).events$.subscribe(({ type }) => {
    if (type === 'completed') completed++;
  });
  await producer.schedule('work', 'before');
  await producer.schedule('work', 'lost', { delay: '1h' });
  const running = await producer.schedule('long', 1_500);
  // That Redis counts the first as completed does not say that its worker knows.
  await until('they run', () => work.runs.length === 2 && completed === 1);
  await server.kill();
  const backAt = await restarted();
  const after = await until('Redis is back', () => producer.schedule('work', 'after').catch(() => undefined));
  await until('it runs', () => work.has(after.id));
  const claimedAt = work.runs.find(({ id }) => id === after.id)!.startedAt;
  process.stdout.write(`claimed ${Math.round(claimedAt - backAt)} ms after Redis took connections again, empty\n`);
  expect(claimedAt - backAt).toBeLessThan(BACK_WITHIN_MS);
  // What Redis has forgotten and a handler ran all the same does not count, and harms nothing.
  await until('the forgotten one has ended', () => work.ended.some(({ id }) => id === running.id));
  // The handler went on for longer than a second after its lease was lost, and is told of as stuck, or for less.
  const lines = () => log.lines.filter((line) => !/handler is stuck|^log The handler of .* has returned/.test(line));
  await until('that is told', () => lines().length > 2);
  // The connection that claims may be back before the one that listens, with which the outage is over.
  expect(lines()).toHaveLength(3);
  expect(lines()).toEqual(expect.arrayContaining([...OUTAGE, expect.stringContaining(`(${running.id})`)]));
  await until('it is settled', async () => (await inspector.stats()).completed === 1);
  expect(await inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
  expect(await auditOf(prefix)).toEqual([]);
});

it('twenty restarts leave no client behind, and each is told once when it begins and once when it ends', async () => {
  server = await startOwnServer(...AOF);
  const log = new LogLines();
  const { producer, inspector, get } = await startApp([Work], { connection: server.url }, { log });
  const work = get(Work);
  await producer.schedule('work', 'before');
  await until('it runs', () => work.runs.length === 1);
  const admin = new Redis(server.url, { retryStrategy: () => 20 });
  admin.on('error', () => {});
  const clients = async () => ((await admin.client('LIST')) as string).trim().split('\n').length;
  const before = await clients();
  try {
    for (let i = 1; i <= 20; i++) {
      await server.kill();
      await until('the outage is told', () => log.starting('warn Redis cannot').length === i);
      await server.restart();
      await until('it runs', async () => {
        await producer.schedule('work', i, { id: `after ${i}` }).catch(() => {});
        return work.has(`after ${i}`);
      });
      await until('the return is told', () => log.starting('log Redis is back').length === i);
    }
    await until('all is settled', async () => (await inspector.stats()).completed === 21);
    await until('as many clients as before', async () => (await clients()) === before);
    expect(work.twice()).toEqual([]);
    expect(log.lines).toHaveLength(40);
  } finally {
    admin.disconnect();
  }
});
