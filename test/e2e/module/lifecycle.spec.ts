import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { noteWarnings } from '../../support/node-warnings.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { freePort } from '../../support/redis-server.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

let noted: ReturnType<typeof noteWarnings>;

beforeEach(() => {
  noted = noteWarnings();
});

afterEach(async () => {
  await stopApps();
  noted.stop();
  expect(noted.warnings).toEqual([]);
});

class Handlers {
  static running = 0;
  static most = 0;
  static attempts: number[] = [];

  @OnScheduledJob('work')
  async work(_payload: unknown, { attempt }: ScheduledJob): Promise<void> {
    Handlers.attempts.push(attempt);
    Handlers.most = Math.max(Handlers.most, ++Handlers.running);
    await sleep(5);
    Handlers.running--;
  }
}

beforeEach(() => {
  Object.assign(Handlers, { running: 0, most: 0, attempts: [] });
});

const many = (count: number) => Array.from({ length: count }, () => ({ job: 'work', payload: null }));

describe('start and stop', () => {
  it('twice, at once or while the other is under way, leave one poller or none', async () => {
    const { consumer, producer, inspector } = await startApp([Handlers], {
      // A poller too many would look soon.
      queues: { default: { concurrency: 2, maxSleepMs: 10 } },
    });
    await Promise.all([consumer.start(), consumer.start()]);
    await consumer.start();
    await Promise.all([consumer.stop(), consumer.stop(), consumer.start(), consumer.start()]);
    await producer.scheduleMany(many(200));
    await until('all have run', async () => (await inspector.stats()).completed === 200);
    expect(Handlers.most).toBe(2);
    await Promise.all([consumer.stop(), consumer.stop()]);
    await consumer.stop();
    await producer.schedule('work', null);
    await sleep(50);
    expect(await inspector.counts()).toMatchObject({ due: 1, active: 0 });
  });

  it('at any moment of claim and settlement, hundreds of times: nothing is lost, nothing runs twice, no attempt is used', async () => {
    const JOBS = 3_000;
    const prefix = newPrefix();
    const apps = await Promise.all(
      [1, 2].map(() => startApp([Handlers], { prefix, queues: { default: { concurrency: 20 } } })),
    );
    const [{ producer, inspector }] = apps as [(typeof apps)[0]];
    const refs = await producer.scheduleMany(many(JOBS));
    let stops = 0;
    let longestMs = 0;
    let done = false;
    const restarting = apps.map(async ({ consumer }) => {
      for (; !done; stops++) {
        await sleep(Math.random() * 10);
        const from = performance.now();
        await consumer.stop();
        longestMs = Math.max(longestMs, performance.now() - from);
        await consumer.start();
      }
    });
    await until('all have run', async () => (await inspector.stats()).completed === refs.length);
    done = true;
    await Promise.all(restarting);
    process.stdout.write(`${stops} stops under load, the longest took ${Math.round(longestMs)} ms\n`);
    expect(stops).toBeGreaterThan(100);
    expect(longestMs).toBeLessThan(BEFORE_NEXT_LOOK_MS);
    expect(Handlers.attempts).toHaveLength(JOBS);
    expect(new Set(Handlers.attempts)).toEqual(new Set([1]));
    expect(await inspector.stats()).toMatchObject({
      scheduled: JOBS,
      completed: JOBS,
      recovered: 0,
      failed: 0,
      dead: 0,
    });
  });
});

describe('an application closes', () => {
  it('twice, as once', async () => {
    const { app } = await startApp([Handlers]);
    await Promise.all([app.close(), app.close()]);
    const from = performance.now();
    await app.close();
    expect(performance.now() - from).toBeLessThan(BEFORE_NEXT_LOOK_MS);
  });

  it('before it could connect, without waiting for Redis', async () => {
    const { app, producer } = await startApp([Handlers], { connection: `redis://127.0.0.1:${await freePort()}` });
    const call = producer.schedule('work', null);
    const refused = expect(call).rejects.toMatchObject({ code: expect.stringMatching(/^QUEUE_(CLOSED|UNAVAILABLE)$/) });
    const from = performance.now();
    await app.close();
    expect(performance.now() - from).toBeLessThan(2_000);
    await refused;
  });

  it('before anything was used: later calls are refused too, and open no connection that nobody would close', async () => {
    const connected: unknown[] = [];
    const server = createServer((socket) => connected.push(socket.destroy())).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { app, producer, inspector } = await startApp([], { connection: `redis://127.0.0.1:${port}` });
    await app.close();
    await expect(producer.schedule('work', null)).rejects.toMatchObject({ code: 'QUEUE_CLOSED' });
    await expect(inspector.stats()).rejects.toMatchObject({ code: 'QUEUE_CLOSED' });
    await new Promise((resolve) => server.close(resolve));
    expect(connected).toEqual([]);
  });

  it('and refuses further calls at once, naming what happened', async () => {
    const { app, producer } = await startApp([Handlers]);
    await producer.schedule('work', null);
    await app.close();
    await expect(producer.schedule('work', null)).rejects.toMatchObject({ code: 'QUEUE_CLOSED' });
    await expect(producer.cancel('x')).rejects.toMatchObject({ code: 'QUEUE_CLOSED' });
  });
});

it('fifty restarts leave no more keys that stay than one', async () => {
  const prefix = newPrefix();
  const redis = new Redis(redisUrl());
  const keys = async () => {
    const all = await redis.keys(`${prefix}:*`);
    const ttls = await Promise.all(all.map((key) => redis.pttl(key)));
    const sleepers = all.filter((key) => key.includes('sleepers:'));
    const sleeping = await Promise.all(sleepers.map((key) => redis.zcard(key)));
    return {
      staying: all.filter((_, i) => ttls[i] === -1).sort(),
      longestMs: Math.max(...ttls),
      sleeping: sleeping.reduce((sum, count) => sum + count, 0),
    };
  };
  const restart = async () => {
    const { app, producer, inspector } = await startApp([Handlers], { prefix });
    const before = (await inspector.stats()).completed!;
    await producer.schedule('work', null);
    await until('it has run', async () => (await inspector.stats()).completed === before + 1);
    await app.close();
  };
  await restart();
  const once = await keys();
  for (let i = 1; i < 50; i++) await restart();
  const often = await keys();
  redis.disconnect();
  expect(often.staying).toEqual(once.staying);
  expect(often.sleeping).toBeLessThanOrEqual(once.sleeping + 1);
  // Names of a crew are kept a week, records of calls ten minutes.
  expect(often.longestMs).toBeLessThanOrEqual(7 * 24 * 3_600_000);
  expect(Handlers.attempts).toHaveLength(50);
});

it('two processes that call themselves by one name each run what they claimed, and nothing twice', async () => {
  const workers = new WorkerProcesses();
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  await Promise.all(['a', 'b'].map((id) => workers.start(id, { workerId: 'same', concurrency: 5, workMs: 5 })));
  await producer.scheduleMany(many(1_000));
  await until('all have run', async () => (await inspector.stats()).completed === 1_000);
  await workers.stop();
  const starts = workers.history().filter(({ event }) => event === 'start');
  expect(new Set(starts.map(({ id }) => id)).size).toBe(1_000);
  expect(starts).toHaveLength(1_000);
  expect(await inspector.stats()).toMatchObject({ recovered: 0, failed: 0 });
});
