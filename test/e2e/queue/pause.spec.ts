import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { InvalidScheduleError, OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { SCRIPTS } from '../../../lib/store/redis/scripts/embedded.js';
import { CommandCount } from '../../support/command-count.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';

@Injectable()
class Handlers {
  readonly runs: { payload: unknown; at: number }[] = [];
  readonly held: string[] = [];
  private readonly gates: (() => void)[] = [];

  @OnScheduledJob('work')
  work(payload: unknown): void {
    this.runs.push({ payload, at: Date.now() });
  }

  /** Runs until `letGo`. */
  @OnScheduledJob('hold')
  hold(_: unknown, { id }: ScheduledJob): Promise<void> {
    this.held.push(id);
    return new Promise((resolve) => this.gates.push(resolve));
  }

  letGo(): void {
    for (const open of this.gates) open();
  }
}

afterEach(stopApps);

/** Several processes on one queue, so many of them workers. */
async function startFleet(workers: number, options: object = {}) {
  const prefix = newPrefix();
  const producer = await startApp([], { ...options, prefix, role: 'producer' });
  const apps = await Promise.all(
    Array.from({ length: workers }, () => startApp([Handlers], { ...options, prefix, role: 'worker' })),
  );
  const handlers = apps.map(({ get }) => get(Handlers));
  return { ...producer, prefix, apps, handlers, runs: () => handlers.flatMap(({ runs }) => runs) };
}

/** That nobody begins what is due shows when workers have looked again and again. */
async function lookedAgain(times = 4): Promise<void> {
  const commands = new CommandCount(redisUrl());
  const before = await commands.sent();
  await until('workers have looked', async () => (await commands.sent()) >= before + times);
  commands.close();
}

const SLEEPY = { default: { maxSleepMs: '20s', leaseMs: '60s' } } as const;

/** That so many workers have looked and will not look again for long, unless they are told. */
async function asleep(prefix: string, count: number): Promise<void> {
  const redis = new Redis(redisUrl());
  await until('all sleep', async () => {
    const [key = ''] = await redis.keys(`${prefix}:{default}:sleepers:*`);
    const later = await redis.zcount(key, Date.now() + 10_000, '+inf');
    return later === count;
  });
  redis.disconnect();
}

describe('while a queue is paused', () => {
  it('nothing of it is claimed, and what waited runs at once when it is resumed', async () => {
    const { producer, inspector, runs } = await startFleet(2, { queues: { default: { maxSleepMs: 50 } } });
    expect(await inspector.isPaused()).toBe(false);
    await inspector.pause();
    expect(await inspector.isPaused()).toBe(true);
    for (let payload = 0; payload < 5; payload++) await producer.dispatch('work', payload);
    await producer.schedule('work', 5, { delay: 20 });
    await until('all are due', async () => (await inspector.counts()).due === 6);
    await lookedAgain();
    expect(await inspector.counts()).toMatchObject({ due: 6, active: 0 });
    expect(runs()).toEqual([]);
    await inspector.resume();
    expect(await inspector.isPaused()).toBe(false);
    await until('all run', () => runs().length === 6, BEFORE_NEXT_LOOK_MS);
  });

  it('workers sleep, and one is woken when it is resumed, which wakes others for what it has no room for', async () => {
    const queues = { default: { ...SLEEPY.default, concurrency: 1 } };
    const { producer, inspector, prefix, handlers } = await startFleet(3, { queues });
    await inspector.pause();
    for (let i = 0; i < 3; i++) await producer.dispatch('hold', i);
    await asleep(prefix, 3);
    await inspector.resume();
    await until('all run', () => handlers.every(({ held }) => held.length === 1), BEFORE_NEXT_LOOK_MS);
    for (const each of handlers) each.letGo();
  });

  it('each job that prefers a worker goes to it once the queue is resumed', async () => {
    const queues = { default: { ...SLEEPY.default, stealAfterMs: '60s' } } as const;
    const ids = ['w1', 'w2', 'w3', 'w4'];
    const { producer, inspector, prefix } = await startFleet(0, { queues });
    const workers = await Promise.all(
      ids.map((workerId) => startApp([Handlers], { prefix, queues, workerId, role: 'worker' })),
    );
    await inspector.pause();
    for (const worker of ids) await producer.dispatch('work', worker, { worker });
    await asleep(prefix, 4);
    await inspector.resume();
    const runs = () => workers.map(({ get }) => get(Handlers).runs.map(({ payload }) => payload));
    await until('each has run its own', () => runs().flat().length === ids.length, BEFORE_NEXT_LOOK_MS);
    expect(runs()).toEqual(ids.map((id) => [id]));
  });

  it('another queue goes on', async () => {
    const { producer, inspector, runs } = await startFleet(1);
    await inspector.pause({ queue: 'reports' });
    expect(await inspector.isPaused({ queue: 'reports' })).toBe(true);
    expect(await inspector.isPaused()).toBe(false);
    await producer.dispatch('work', 1);
    await until('it runs', () => runs().length === 1);
  });

  it('what runs renews its lease and is settled', async () => {
    const { producer, inspector, handlers } = await startFleet(2, { queues: { default: { leaseMs: 1_000 } } });
    const { id } = await producer.dispatch('hold', null);
    await until('it runs', () => handlers.some(({ held }) => held.length > 0));
    const claimedUntil = (await inspector.job(id))!.leaseUntil!;
    await inspector.pause();
    await until('two leases have passed', async () => {
      const { leaseUntil } = (await inspector.job(id))!;
      return leaseUntil!.getTime() > claimedUntil.getTime() + 2_000;
    });
    for (const each of handlers) each.letGo();
    await until('it is settled', async () => (await inspector.counts()).active === 0);
    expect(await inspector.stats()).toMatchObject({ started: 1, completed: 1, recovered: 0 });
    expect(await inspector.isPaused()).toBe(true);
  });

  it('explain says so, and until when', async () => {
    const { producer, inspector } = await startApp();
    const job = await producer.dispatch('work', 1);
    const later = await producer.schedule('work', 1, { delay: '1h' });
    await inspector.pause();
    expect(await inspector.explain(job)).toEqual({
      code: 'paused',
      message: `Job 'work' (${job.id}) of queue 'default' is due, but its queue is paused until somebody resumes it.`,
    });
    expect(await inspector.explain(later)).toMatchObject({ code: 'not-due' });
    await inspector.pause({ forMs: '1h' });
    expect((await inspector.explain(job)).message).toMatch(/is paused until \d{4}-\d\d-\d\dT[\d:.]+Z\.$/);
    await inspector.resume();
    expect(await inspector.explain(job)).toMatchObject({ code: 'no-handler' });
  });

  it('workers that start then find it paused', async () => {
    const { producer, inspector, prefix, apps } = await startFleet(1, { queues: { default: { maxSleepMs: 50 } } });
    await inspector.pause();
    await apps[0]!.app.close();
    await producer.dispatch('work', 1);
    const { get } = await startApp([Handlers], { prefix, role: 'worker', queues: { default: { maxSleepMs: 50 } } });
    await lookedAgain();
    expect(get(Handlers).runs).toEqual([]);
    await inspector.resume();
    await until('it runs', () => get(Handlers).runs.length === 1, BEFORE_NEXT_LOOK_MS);
  });

  it('idle workers are quiet, though jobs are due', async () => {
    const server = await startOwnServer();
    const commands = new CommandCount(server.url);
    try {
      const { producer, inspector } = await startFleet(4, { connection: server.url });
      await inspector.pause();
      for (let payload = 0; payload < 5; payload++) await producer.dispatch('work', payload);
      const before = await commands.sent();
      const from = performance.now();
      await until('four seconds have passed', () => performance.now() - from > 4_000);
      const sent = (await commands.sent()) - before;
      // One a second and worker: counted late where the machine is busy.
      expect(sent).toBeLessThan((4 * (performance.now() - from)) / 1_000);
      expect(await inspector.counts()).toMatchObject({ due: 5 });
    } finally {
      commands.close();
      await stopApps();
      await server.stop();
    }
  });
});

describe('a pause for a time', () => {
  it('ends by itself, for all processes and to the moment', async () => {
    const { producer, inspector, runs } = await startFleet(3, { queues: { default: { concurrency: 2 } } });
    // The clock of Redis is this machine's here.
    const from = Date.now();
    await inspector.pause({ forMs: 700 });
    const paused = Date.now();
    await producer.scheduleMany(Array.from({ length: 12 }, (_, payload) => ({ job: 'work', payload })));
    await until('all run', () => runs().length === 12, 5_000);
    expect(await inspector.isPaused()).toBe(false);
    const begun = runs().map(({ at }) => at);
    expect(Math.min(...begun)).toBeGreaterThanOrEqual(from + 700);
    expect(Math.max(...begun)).toBeLessThan(paused + 700 + 1_000);
  });

  it('takes the place of one that would have lasted longer, also where workers have seen that one', async () => {
    const { producer, inspector, prefix, runs } = await startFleet(2, { queues: SLEEPY });
    await inspector.pause();
    await producer.dispatch('work', 1);
    await asleep(prefix, 2);
    await inspector.pause({ forMs: 200 });
    await until('it runs', () => runs().length === 1, BEFORE_NEXT_LOOK_MS);
  });

  it('gives way to one that lasts longer', async () => {
    const { producer, inspector, runs } = await startFleet(1, { queues: { default: { maxSleepMs: 50 } } });
    await inspector.pause({ forMs: 100 });
    await inspector.pause();
    const { dueAt } = await producer.dispatch('work', 1);
    await until('the first would be over', async () => Date.now() > dueAt!.getTime() + 300);
    await lookedAgain();
    expect(runs()).toEqual([]);
    expect(await inspector.isPaused()).toBe(true);
  });

  it('leaves what else the gate holds as it is', async () => {
    const redis = new Redis(redisUrl());
    const { inspector, prefix } = await startApp();
    const gate = `${prefix}:{default}:gate`;
    await redis.hset(gate, 'windows', 'some');
    await inspector.pause({ forMs: '2h' });
    await inspector.resume();
    expect(await redis.hgetall(gate)).toEqual({ windows: 'some' });
    await redis.hdel(gate, 'windows');
    await inspector.pause();
    await inspector.resume();
    expect(await redis.exists(gate)).toBe(0);
    redis.disconnect();
  });

  it('needs a time that it can use', async () => {
    const { inspector } = await startApp();
    for (const options of [{ forMs: 0 }, { forMs: -1 }, { forMs: 'soon' }, { forMS: 5 }, { queue: 'a b' }])
      await expect(inspector.pause(options as never)).rejects.toThrow(InvalidScheduleError);
    expect(await inspector.isPaused()).toBe(false);
  });
});

it('resuming a queue that is not paused is harmless, and so is a pause of one that nobody works at', async () => {
  const { producer, inspector, runs } = await startFleet(1);
  await inspector.resume();
  await inspector.resume({ queue: 'reports' });
  await inspector.pause({ queue: 'reports', forMs: '1h' });
  await producer.dispatch('work', 1);
  await until('it runs', () => runs().length === 1);
});

it('a pause whose reply is lost grows no longer by being sent again', async () => {
  const proxy = await TcpProxy.start(redisUrl());
  const redis = new Redis(redisUrl());
  try {
    const { inspector, prefix } = await startApp([], { connection: proxy.url });
    await inspector.pause({ forMs: '1h' });
    // The proxy stays closed for a while.
    const cut = proxy.cutOnce((request) => {
      const hit = request.includes(SCRIPTS.pause.sha);
      if (hit) proxy.refuse();
      return hit;
    });
    const pausing = inspector.pause({ forMs: '2h' });
    await cut;
    const before = await until('it has happened', () => redis.hget(`${prefix}:{default}:gate`, 'pausedUntil'));
    const from = performance.now();
    await until('time has passed', () => performance.now() > from + 20);
    proxy.accept();
    await pausing;
    expect(await redis.hget(`${prefix}:{default}:gate`, 'pausedUntil')).toBe(before);
  } finally {
    redis.disconnect();
    await stopApps();
    await proxy.stop();
  }
});
