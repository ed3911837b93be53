import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { audit } from '../../support/audit.js';
import { LogLines } from '../../support/log-lines.js';
import { type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, ping, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

/** What is promised, and a second for a machine that does other things. */
const BACK_WITHIN_MS = 2_000 + 1_000;

let server: OwnRedisServer;
let admin: Redis;
let log: LogLines;

beforeEach(() => {
  log = new LogLines();
});

afterEach(async () => {
  admin?.disconnect();
  await stopApps();
  await server.stop();
});

async function startServer(...options: string[]): Promise<void> {
  server = await startOwnServer(...options);
  admin = new Redis(server.url);
  admin.on('error', () => {});
}

async function startWorker(commandTimeoutMs = 5_000): Promise<QueueApp & { work: Work }> {
  const app = await startApp([Work], { connection: server.url, commandTimeoutMs }, { log });
  await app.producer.schedule('work', 'first');
  const work = app.get(Work);
  await until('it runs', async () => (await app.inspector.stats()).completed === 1);
  return { ...app, work };
}

/** Resolves once a job that is scheduled anew has run, to how long after `since` that was. */
async function runsAgain({ producer, work }: QueueApp & { work: Work }, since: number): Promise<number> {
  await until('it is scheduled', () => producer.schedule('work', 'again', { id: 'again' }).catch(() => undefined));
  await until('it runs', () => work.has('again'));
  return work.runs.find(({ id }) => id === 'again')!.startedAt - since;
}

const refusal = (call: Promise<unknown>) => call.catch((error: unknown) => error);

it('SCRIPT FLUSH in a loop fails no call, and every job runs once', async () => {
  await startServer();
  const { producer, inspector, work, prefix } = await startWorker();
  let flushing = true;
  const flushes = (async () => {
    let count = 0;
    for (; flushing; count++) await admin.script('FLUSH');
    return count;
  })();
  const JOBS = 300;
  for (let i = 0; i < JOBS; i++) {
    const ref = await producer.schedule('work', i, { delay: i % 3 === 0 ? '1h' : 0 });
    if (i % 3 === 0) expect(await (i % 2 ? producer.runNow(ref) : producer.cancel(ref))).toBe(true);
  }
  await until('all have ended', async () => {
    const { completed, cancelled } = await inspector.stats();
    return completed + cancelled === JOBS + 1;
  });
  flushing = false;
  expect(await flushes).toBeGreaterThan(100);
  expect(work.twice()).toEqual([]);
  expect(log.lines).toEqual([]);
  expect(await audit(admin, prefix)).toEqual([]);
});

it('a Redis that loads its data is waited for, and workers claim within two seconds of its being ready', async () => {
  const KEYS = 6_000;
  await startServer('--appendonly', 'yes', '--key-load-delay', '500', '--aof-use-rdb-preamble', 'no');
  const app = await startWorker();
  await admin.eval(`for i = 1, ${KEYS} do redis.call('SET', 'filling' .. i, 'x') end`, 0);
  await server.kill();
  await server.restart();
  await until('it loads', async () => (await ping(server.port)).startsWith('-LOADING'));
  const readyAt = await until('it has loaded', async () => (await ping(server.port)) === '+PONG' && performance.now());
  const tookMs = await runsAgain(app, readyAt);
  process.stdout.write(`claimed ${Math.round(tookMs)} ms after loading\n`);
  expect(tookMs).toBeLessThan(BACK_WITHIN_MS);
  await until('the return is told', () => log.lines.length > 1);
  expect(log.lines).toEqual([expect.stringMatching(/^warn Redis cannot/), expect.stringMatching(/^log Redis is back/)]);
});

it('a Redis that becomes a replica and a primary again is worked with again, told once each way', async () => {
  await startServer();
  const app = await startWorker(500);
  await admin.replicaof('127.0.0.1', '1');
  const error = await refusal(app.producer.schedule('work', 'again', { id: 'again' }));
  expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE', outcome: 'refused', jobId: 'again' });
  const demotedAt = performance.now();
  await until('some time has passed', () => performance.now() > demotedAt + 1_500);
  await admin.replicaof('NO', 'ONE');
  const tookMs = await runsAgain(app, performance.now());
  process.stdout.write(`claimed ${Math.round(tookMs)} ms after the server was a primary again\n`);
  expect(tookMs).toBeLessThan(BACK_WITHIN_MS);
  await until('the return is told', () => log.starting('log Redis is back').length > 0);
  expect(log.lines).toEqual([expect.stringMatching(/^warn Redis cannot/), expect.stringMatching(/^log Redis is back/)]);
  expect(await audit(admin, app.prefix)).toEqual([]);
});

it('a full memory refuses schedules whole and lets the queue drain', async () => {
  await startServer();
  const { producer, inspector, work, prefix } = await startWorker();
  await producer.scheduleMany(
    Array.from({ length: 50 }, (_, payload) => ({ job: 'work', payload, options: { delay: 300 } })),
  );
  await admin.config('SET', 'maxmemory', '1');
  expect(await refusal(producer.schedule('work', 1, { id: 'too much' }))).toMatchObject({
    code: 'QUEUE_UNAVAILABLE',
    outcome: 'refused',
    redisCode: 'OOM',
    jobId: 'too much',
  });
  await until('the queue is drained', async () => (await inspector.stats()).completed === 51);
  expect(await inspector.job('too much')).toBeNull();
  await admin.config('SET', 'maxmemory', '0');
  expect(await producer.schedule('work', 1, { id: 'too much' })).toMatchObject({ created: true });
  await until('it runs', async () => (await inspector.stats()).completed === 52);
  expect(work.twice()).toEqual([]);
  expect(await audit(admin, prefix)).toEqual([]);
});

it("somebody's long script delays jobs and loses none, and workers go on within two seconds of its end", async () => {
  // By the name that Redis 6.2 knows too.
  await startServer('--lua-time-limit', '50');
  // Tries of a call come 20, 40, 80, 160 and 320 ms after each other: so the last one has nearly half a second for its answer.
  const app = await startWorker(1_100);
  const running = await app.producer.schedule('long', 500);
  await until('it runs', () => app.work.has(running.id));
  // Redis looks for calls to refuse after each 100 000 instructions of Lua; those of an empty loop are over in a millisecond.
  const spinning = admin.eval(
    `local function s() return tonumber(redis.call('TIME')[1]) end
    local e = s() + 4
    while s() < e do for i = 1, 1000 do end end
    return 1`,
    0,
  );
  await until('it is busy', async () => (await ping(server.port)).startsWith('-BUSY'));
  const error = await refusal(app.producer.schedule('work', 'again', { id: 'again' }));
  expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE', outcome: 'refused', jobId: 'again' });
  await spinning;
  const tookMs = await runsAgain(app, performance.now());
  process.stdout.write(`claimed ${Math.round(tookMs)} ms after the long script\n`);
  expect(tookMs).toBeLessThan(BACK_WITHIN_MS);
  await until('all have run', async () => (await app.inspector.stats()).completed === 3);
  expect(app.work.twice()).toEqual([]);
  expect(await audit(admin, app.prefix)).toEqual([]);
});

it.each([
  {
    name: 'has no replica where it wants one',
    code: 'NOREPLICAS',
    options: [] as string[],
    begin: () => admin.config('SET', 'min-replicas-to-write', '1'),
    end: () => admin.config('SET', 'min-replicas-to-write', '0'),
  },
  {
    name: 'cannot write its snapshots',
    code: 'MISCONF',
    options: ['--save', '3600 1'],
    begin: async () => {
      // A directory stands where the snapshot would go.
      mkdirSync(join(server.directory, 'dump.rdb'));
      await admin.bgsave();
      await until('it has failed', async () => (await admin.info('persistence')).includes('last_bgsave_status:err'));
    },
    end: () => admin.config('SET', 'stop-writes-on-bgsave-error', 'no'),
  },
])('a Redis that $name refuses schedules at once, and workers go on when it writes again', async (fault) => {
  await startServer(...fault.options);
  const app = await startWorker();
  const running = await app.producer.schedule('long', 500);
  await until('it runs', () => app.work.has(running.id));
  await fault.begin();
  const calledAt = performance.now();
  expect(await refusal(app.producer.schedule('work', 'again', { id: 'again' }))).toMatchObject({
    code: 'QUEUE_UNAVAILABLE',
    outcome: 'refused',
    redisCode: fault.code,
    jobId: 'again',
  });
  expect(performance.now() - calledAt).toBeLessThan(2_000);
  await until('the worker says so', () => log.lines.length > 0);
  await fault.end();
  const tookMs = await runsAgain(app, performance.now());
  process.stdout.write(`claimed ${Math.round(tookMs)} ms after ${fault.code}\n`);
  expect(tookMs).toBeLessThan(BACK_WITHIN_MS);
  await until('all are settled', async () => (await app.inspector.stats()).completed === 3);
  expect(app.work.twice()).toEqual([]);
  expect(log.lines).toEqual([
    expect.stringMatching(new RegExp(`^error The worker of queue 'default' cannot go on.*${fault.code}`)),
    "log The worker of queue 'default' goes on.",
  ]);
  expect(await audit(admin, app.prefix)).toEqual([]);
});
