import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob } from '../../../lib/index.js';
import { type HealthApp, inTime, startHealthApp } from '../../support/health-app.js';
import { redisUrl, stopApps } from '../../support/queue-app.js';
import { TestCluster } from '../../support/redis-cluster.js';
import { startOwnServer } from '../../support/redis-server.js';
import { takesTurn } from '../../support/takes-turn.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';

const QUICK = { commandTimeoutMs: 500, queues: { default: { maxSleepMs: 200 } } };
/** Twice the longer of the two. */
const SILENT_MS = 1_000;

@Injectable()
class Mails {
  sent = 0;

  @OnScheduledJob('mail')
  send() {
    this.sent++;
  }
}

const toClose: (() => unknown)[] = [];
afterEach(async () => {
  await stopApps();
  await Promise.all(toClose.splice(0).map((close) => close()));
});

const statusOf = async ({ health }: HealthApp) => (await inTime(() => health.isLive('queue'))).queue.status;

/** What the indicator answers again and again for so long: each answer once. */
async function statusesFor(app: HealthApp, ms: number): Promise<Set<string>> {
  const statuses = new Set<string>();
  const end = performance.now() + ms;
  await until('the time is over', async () => {
    statuses.add(await statusOf(app));
    return performance.now() >= end;
  });
  return statuses;
}

const runsAJob = async ({ producer, get }: HealthApp) => {
  const { sent } = get(Mails);
  const isTaken = () =>
    producer.dispatch('mail', null).then(
      () => true,
      () => false,
    );
  await until('a job is scheduled', isTaken);
  await until('a job runs', () => get(Mails).sent > sent);
};

async function wedgeable(options = {}): Promise<{ proxy: TcpProxy; app: HealthApp }> {
  const proxy = await TcpProxy.start(redisUrl());
  toClose.push(() => proxy.stop());
  return { proxy, app: await startHealthApp([Mails], { connection: proxy.url, ...QUICK, ...options }) };
}

it('a worker is not live also where the client of the application makes strings of numbers', async () => {
  const proxy = await TcpProxy.start(redisUrl());
  toClose.push(() => proxy.stop());
  const connection = { port: Number(new URL(proxy.url).port), stringNumbers: true };
  const app = await startHealthApp([Mails], { connection, ...QUICK });
  await runsAJob(app);
  proxy.swallowWhere(takesTurn);
  await until('it is not live', async () => (await statusOf(app)) === 'down');
});

it('a worker whose answers are swallowed is not live while Redis answers others, and live again with its answers', async () => {
  const { proxy, app } = await wedgeable();
  await runsAJob(app);
  expect(await app.health.isLive('queue')).toEqual({ queue: { status: 'up' } });
  proxy.swallowWhere(takesTurn);
  await until('it is not live', async () => (await statusOf(app)) === 'down');
  expect((await app.health.isLive('queue')).queue.message).toMatch(
    /^No answer from Redis reaches the workers of this process \(the queue 'default' for [^)]+\), although Redis answers another connection of it\.$/,
  );
  // The queue itself is well: other processes may work on it.
  expect((await app.health.isHealthy('queue')).queue.status).toBe('up');
  proxy.swallowWhere();
  await until('it is live again', async () => (await statusOf(app)) === 'up');
  await runsAJob(app);
});

it.each(['frozen', 'stopped'])('a worker stays live while Redis is %s, and goes on after it', async (how) => {
  const server = await startOwnServer('--appendonly', 'yes');
  toClose.push(() => server.stop());
  const app = await startHealthApp([Mails], { connection: server.url, ...QUICK });
  await runsAJob(app);
  if (how === 'frozen') server.freeze();
  else await server.kill();
  expect(await statusesFor(app, 5 * SILENT_MS)).toEqual(new Set(['up']));
  expect((await app.health.isHealthy('queue')).queue.status).toBe('down');
  if (how === 'frozen') server.thaw();
  else await server.restart();
  expect(await statusesFor(app, 2 * SILENT_MS)).toEqual(new Set(['up']));
  await runsAJob(app);
});

it('a worker whose calls Redis refuses is heard, and so is live', async () => {
  const server = await startOwnServer();
  toClose.push(() => server.stop());
  const other = await startOwnServer();
  toClose.push(() => other.stop());
  const app = await startHealthApp([Mails], { connection: server.url, ...QUICK });
  await runsAJob(app);
  const { Redis } = await import('ioredis');
  const client = new Redis(server.url);
  toClose.push(() => client.disconnect());
  // A replica answers reads, and no turn.
  await client.replicaof('127.0.0.1', other.port);
  expect(await statusesFor(app, 5 * SILENT_MS)).toEqual(new Set(['up']));
  await client.call('REPLICAOF', 'NO', 'ONE');
  await runsAJob(app);
});

it('a worker that gets a large answer over a slow link is live meanwhile', async () => {
  const proxy = await TcpProxy.start(redisUrl());
  toClose.push(() => proxy.stop());
  // Some 30 KB a second: the answer takes three times as long as a silence may.
  proxy.slow({ pieceBytes: 1_000, delayMs: 30 });
  const app = await startHealthApp([Mails], { connection: proxy.url, ...QUICK });
  const other = await startHealthApp([], { prefix: app.prefix, role: 'producer' });
  await other.producer.dispatch('mail', 'x'.repeat(100_000));
  const statuses = new Set<string>();
  await until('the job runs', async () => {
    statuses.add(await statusOf(app));
    return app.get(Mails).sent > 0;
  });
  expect(statuses).toEqual(new Set(['up']));
});

it('a worker with nothing to ask is live, however long it says nothing', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  @Injectable()
  class Slow {
    @OnScheduledJob('slow')
    run(): Promise<void> {
      return held;
    }
  }
  const queues = { default: { maxSleepMs: 200, concurrency: 1, leaseMs: 60_000 } };
  const app = await startHealthApp([Slow], { ...QUICK, queues });
  await app.producer.dispatch('slow', null);
  await until('it runs', async () => (await app.inspector.counts()).active === 1);
  // All places are taken, and the lease is renewed after 20 s.
  expect(await statusesFor(app, 3 * SILENT_MS)).toEqual(new Set(['up']));
  release();
});

it('before the start, while the workers stop and in producers a process is live', async () => {
  const { proxy, app } = await wedgeable({ autoStart: false });
  const { app: producer } = await wedgeable({ role: 'producer' });
  proxy.swallowWhere(takesTurn);
  expect(await statusesFor(app, 2 * SILENT_MS)).toEqual(new Set(['up']));
  expect(await statusOf(producer)).toBe('up');
  await app.consumer.start();
  await until('it is not live', async () => (await statusOf(app)) === 'down');
  let hasStopped = false;
  const stopping = app.consumer.stop().then(() => {
    hasStopped = true;
  });
  expect(await statusOf(app)).toBe('up');
  expect(hasStopped).toBe(false);
  await stopping;
  expect(await statusOf(app)).toBe('up');
});

it('a process that stood still is live at its first breath', async () => {
  const { proxy, app } = await wedgeable();
  await runsAJob(app);
  proxy.swallowWhere(takesTurn);
  const stoodStillMs = 3 * SILENT_MS;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stoodStillMs);
  expect(await statusOf(app)).toBe('up');
  // The silence counts from here on.
  await until('it is not live', async () => (await statusOf(app)) === 'down');
});

it('on a cluster, the node that holds the queue is the one that is asked', async () => {
  const cluster = await TestCluster.start();
  toClose.push(() => cluster.stop());
  const app = await startHealthApp([Mails], { connection: { cluster: { nodes: cluster.nodes } }, ...QUICK });
  await runsAJob(app);
  const { server } = await cluster.homeOf(`${app.prefix}:{default}:gate`);
  server.freeze();
  expect(await statusesFor(app, 5 * SILENT_MS)).toEqual(new Set(['up']));
  server.thaw();
  await until('it is healthy again', async () => (await app.health.isHealthy('queue')).queue.status === 'up');
});
