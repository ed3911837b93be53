import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  type Blackout,
  InvalidOptionsError,
  InvalidScheduleError,
  OnScheduledJob,
  relayKey,
  type ScheduledJob,
} from '../../../lib/index.js';
import { SCRIPTS } from '../../../lib/store/redis/scripts/embedded.js';
import { CommandCount } from '../../support/command-count.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';

@Injectable()
class Handlers {
  readonly runs: { id: string; at: number }[] = [];

  @OnScheduledJob('work')
  work(_: unknown, { id }: ScheduledJob): void {
    this.runs.push({ id, at: Date.now() });
  }

  /** Fails at its first attempt, and is due again at once. */
  @OnScheduledJob('fails', { backoff: { type: 'fixed', delayMs: 1 }, maxAttempts: 2 })
  fails(_: unknown, { id, attempt }: ScheduledJob): void {
    this.runs.push({ id, at: Date.now() });
    if (attempt === 1) throw new Error('no');
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
  return { ...producer, prefix, runs: () => apps.flatMap(({ get }) => get(Handlers).runs) };
}

/** From so many ms from now on until so many ms from now, by Redis' clock, which here is this machine's. */
const inMs = (from: number, to: number) => ({ from: new Date(Date.now() + from), to: new Date(Date.now() + to) });

/** One that comes again, and is on all of this month. */
const allMonth = (): Blackout & { cron: string } => ({
  cron: `0 0 1 ${new Date().getUTCMonth() + 1} *`,
  durationMs: '32 days',
});

const SLEEPY = { default: { maxSleepMs: '20s', leaseMs: '60s' } } as const;

/** That so many workers have looked and will not look again for long, unless they are told. */
async function asleep(prefix: string, count: number, url = redisUrl()): Promise<void> {
  const redis = new Redis(url);
  await until('all sleep', async () => {
    const [key = ''] = await redis.keys(`${prefix}:{default}:sleepers:*`);
    return (await redis.zcount(key, Date.now() + 10_000, '+inf')) === count;
  });
  redis.disconnect();
}

describe('in a blackout', () => {
  it('no handler begins what is due, comes due, is retried or is to run now; at its end all of it runs', async () => {
    const { producer, inspector, runs } = await startFleet(2, { queues: { default: { maxSleepMs: 50 } } });
    const failing = await producer.schedule('fails', null, { delay: 300 });
    const blackout = inMs(300, 2_000);
    const waiting = await producer.schedule('work', null, { delay: '1h' });
    await inspector.setBlackouts([blackout]);
    await until('it is on', async () => Date.now() > blackout.from.getTime());
    await producer.dispatch('work', null);
    await producer.schedule('work', null, { delay: 50 });
    expect(await producer.runNow(waiting)).toBe(true);
    await until('all is over', () => runs().length >= 5);
    expect(new Set(runs().map(({ id }) => id)).size).toBe(4);
    // What was claimed just before may begin just after.
    const begun = runs().filter(({ id, at }) => id !== failing.id || at > blackout.from.getTime() + 200);
    expect(Math.min(...begun.map(({ at }) => at))).toBeGreaterThanOrEqual(blackout.to.getTime() - 1);
  });

  it('a pop waits until its end, and a relay moves nothing before', async () => {
    const { producer, inspector, consumer, prefix } = await startApp();
    const connection = redisUrl();
    await producer.dispatch('work', 1);
    const blackout = inMs(-1_000, 700);
    await inspector.setBlackouts([blackout]);
    const popped = consumer.pop({ count: 1, waitMs: '20s' });
    expect(await consumer.pop({ count: 1, waitMs: 0 })).toEqual([]);
    const [job] = await popped;
    expect(Date.now()).toBeGreaterThanOrEqual(blackout.to.getTime() - 1);
    await job!.complete();

    const redis = new Redis(connection);
    const list = relayKey('default', prefix);
    await inspector.setBlackouts([allMonth()]);
    await producer.dispatch('work', 2);
    const commands = new CommandCount(connection);
    const before = await commands.sent();
    const relay = consumer.relay({ to: { list } });
    await until('the relay has looked', async () => (await commands.sent()) > before);
    commands.close();
    expect(await redis.llen(list)).toBe(0);
    await inspector.setBlackouts([]);
    await until('it has moved', async () => (await redis.llen(list)) === 1, BEFORE_NEXT_LOOK_MS);
    await relay.stop();
    redis.disconnect();
  });

  it('another queue goes on', async () => {
    const { producer, inspector, runs } = await startFleet(1);
    await inspector.setBlackouts([allMonth()], { queue: 'reports' });
    await producer.dispatch('work', 1);
    await until('it runs', () => runs().length === 1);
  });

  it('explain says so, and until when', async () => {
    const { producer, inspector } = await startApp();
    const job = await producer.dispatch('work', 1);
    const later = await producer.schedule('work', 1, { delay: '1h' });
    const blackout = inMs(-1_000, 3_600_000);
    await inspector.setBlackouts([blackout]);
    expect(await inspector.explain(job)).toEqual({
      code: 'blackout',
      message: `Job 'work' (${job.id}) of queue 'default' is due, but its queue is in a blackout until ${blackout.to.toISOString()}.`,
    });
    expect(await inspector.explain(later)).toMatchObject({ code: 'not-due' });
    await inspector.pause();
    expect(await inspector.explain(job)).toMatchObject({ code: 'paused' });
    await inspector.resume();
    await inspector.setBlackouts([inMs(3_600_000, 7_200_000)]);
    expect(await inspector.explain(job)).toMatchObject({ code: 'no-handler' });
  });

  it('workers that start then find it, and idle ones are quiet, though jobs are due', async () => {
    const server = await startOwnServer();
    const commands = new CommandCount(server.url);
    try {
      const { producer, inspector, prefix, runs } = await startFleet(0, { connection: server.url, queues: SLEEPY });
      await inspector.setBlackouts([allMonth()]);
      for (let payload = 0; payload < 5; payload++) await producer.dispatch('work', payload);
      const workers = await Promise.all(
        Array.from({ length: 4 }, () =>
          startApp([Handlers], { prefix, connection: server.url, queues: SLEEPY, role: 'worker' }),
        ),
      );
      await asleep(prefix, 4, server.url);
      const before = await commands.sent();
      const from = performance.now();
      await until('four seconds have passed', () => performance.now() - from > 4_000);
      expect((await commands.sent()) - before).toBeLessThan(4 * 4);
      expect(await inspector.counts()).toMatchObject({ due: 5 });
      expect([...runs(), ...workers.flatMap(({ get }) => get(Handlers).runs)]).toEqual([]);
    } finally {
      commands.close();
      await stopApps();
      await server.stop();
    }
  });
});

describe('setBlackouts', () => {
  it('wakes who sleeps because of a blackout that it ends', async () => {
    const { producer, inspector, prefix, runs } = await startFleet(3, { queues: SLEEPY });
    await inspector.setBlackouts([allMonth()]);
    await producer.dispatch('work', 1);
    await asleep(prefix, 3);
    await inspector.setBlackouts([]);
    await until('it runs', () => runs().length === 1, BEFORE_NEXT_LOOK_MS);
  });

  it('wakes who sleeps for the end of one that it makes shorter', async () => {
    const { producer, inspector, prefix, runs } = await startFleet(2, { queues: SLEEPY });
    await inspector.setBlackouts([allMonth()]);
    await producer.dispatch('work', 1);
    await asleep(prefix, 2);
    await inspector.setBlackouts([inMs(-1_000, 300)]);
    await until('it runs', () => runs().length === 1, BEFORE_NEXT_LOOK_MS);
  });

  it('takes the place of what was set before, and blackouts() tells what can be set again', async () => {
    const { inspector } = await startApp();
    expect(await inspector.blackouts()).toEqual([]);
    await inspector.setBlackouts([inMs(0, 1_000)]);
    const range = inMs(3_600_000, 7_200_000);
    const nightly = { cron: '0 22 * * *', durationMs: '8h', timeZone: 'Europe/Paris' } as const;
    await inspector.setBlackouts([
      { from: range.from.toISOString(), to: range.to.getTime() },
      nightly,
      { cron: '@yearly', durationMs: 5 },
      inMs(-2_000, -1_000),
    ]);
    const listed = await inspector.blackouts();
    expect(listed).toEqual([
      range,
      { ...nightly, durationMs: 28_800_000 },
      { cron: expect.any(String), durationMs: 5, timeZone: 'UTC' },
    ]);
    await inspector.setBlackouts(listed);
    expect(await inspector.blackouts()).toEqual(listed);
    expect(await inspector.blackouts({ queue: 'reports' })).toEqual([]);
  });

  it('writes nothing of a list that it refuses', async () => {
    const { inspector } = await startApp();
    const range = inMs(3_600_000, 7_200_000);
    await inspector.setBlackouts([range]);
    for (const list of [
      undefined,
      {},
      [range, {}],
      [range, { cron: '0 22 * *', durationMs: 1 }],
      [{ ...range, cron: 'x' }],
    ])
      await expect(inspector.setBlackouts(list as never)).rejects.toThrow(InvalidOptionsError);
    await expect(inspector.setBlackouts([], { queue: 'a b' })).rejects.toThrow(InvalidScheduleError);
    await expect(inspector.blackouts({ queues: 'a' } as never)).rejects.toThrow(InvalidScheduleError);
    expect(await inspector.blackouts()).toEqual([range]);
  });

  it('whose reply is lost sets a list once', async () => {
    const proxy = await TcpProxy.start(redisUrl());
    const redis = new Redis(redisUrl());
    try {
      const { inspector, prefix } = await startApp([], { connection: proxy.url });
      const near = await startApp([], { prefix });
      const rules = () => redis.hget(`${prefix}:{default}:gate`, 'blackoutRules');
      await inspector.setBlackouts([allMonth()]);
      const before = await rules();
      // The proxy stays closed for a while.
      const cut = proxy.cutOnce((request) => {
        const hit = request.includes(SCRIPTS['set-blackouts'].sha);
        if (hit) proxy.refuse();
        return hit;
      });
      const setting = inspector.setBlackouts([inMs(0, 60_000)]);
      await cut;
      await until('it has happened', async () => (await rules()) !== before);
      await near.inspector.setBlackouts([]);
      proxy.accept();
      await setting;
      expect(await rules()).toBeNull();
    } finally {
      redis.disconnect();
      await stopApps();
      await proxy.stop();
    }
  });
});
