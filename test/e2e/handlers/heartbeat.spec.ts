import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { LeaseLostError, OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { CommandCount } from '../../support/command-count.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';

const LEASE_MS = 1_000;

function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

@Injectable()
class Handlers {
  runs = 0;
  beats = 0;
  error: unknown;
  private release = () => {};
  readonly held = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  /** Computes for three leases, and never lets the event loop turn but for its heartbeats. */
  @OnScheduledJob('compute')
  async compute(_: unknown, job: ScheduledJob): Promise<void> {
    this.runs++;
    for (const end = performance.now() + 3 * LEASE_MS; performance.now() < end; ) {
      block(LEASE_MS / 10);
      await job.heartbeat();
      this.beats++;
    }
  }

  @OnScheduledJob('beat-at-the-end')
  async beatAtTheEnd(_: unknown, job: ScheduledJob): Promise<void> {
    this.runs++;
    if (this.runs > 1) return;
    await this.held;
    try {
      for (;;) await job.heartbeat();
    } catch (error) {
      this.error = error;
    }
  }

  @OnScheduledJob('beat-often')
  async beatOften(_: unknown, job: ScheduledJob): Promise<void> {
    for (; this.beats < 1_000; this.beats++) await job.heartbeat();
  }

  letGo(): void {
    this.release();
  }
}

let server: OwnRedisServer;
beforeEach(async () => {
  server = await startOwnServer();
});
afterEach(async () => {
  await stopApps();
  await server.stop();
});

const start = (prefix = newPrefix()) =>
  startApp([Handlers], { connection: server.url, prefix, queues: { default: { leaseMs: LEASE_MS } } });

describe('heartbeat', () => {
  it('keeps the lease of a handler that computes for longer than a lease', async () => {
    const { producer, inspector, get, prefix } = await start();
    const other = await startApp([], { connection: server.url, prefix });
    await producer.dispatch('compute', null);
    await until('it completes', async () => (await other.inspector.stats()).completed === 1);
    expect(get(Handlers).runs).toBe(1);
    expect(get(Handlers).beats).toBeGreaterThan(5);
    expect(await inspector.stats()).toMatchObject({ started: 1, recovered: 0 });
  });

  it('rejects with the reason where the run no longer counts', async () => {
    const { producer, prefix, get } = await start();
    const redis = new Redis(server.url);
    const job = await producer.dispatch('beat-at-the-end', null);
    await until('it runs', () => get(Handlers).runs === 1);
    // As if somebody else held the job by now.
    await redis.hset(
      `${prefix}:{default}:claims`,
      job.id,
      `9999999999999999 2 1 ${job.dueAt!.getTime()} other 5::beat-at-the-end`,
    );
    get(Handlers).letGo();
    const error = await until('it rejects', () => get(Handlers).error);
    redis.disconnect();
    expect(error).toBeInstanceOf(LeaseLostError);
    expect(error).toMatchObject({ jobId: job.id, jobName: 'beat-at-the-end' });
  });

  it('costs no call while the lease has been renewed lately', async () => {
    const { producer, get } = await start();
    const commands = new CommandCount(server.url);
    await until('the worker is there', async () => (await commands.sent()) > 0);
    const before = await commands.sent();
    await producer.dispatch('beat-often', null);
    await until('it has beaten', () => get(Handlers).beats === 1_000);
    expect((await commands.sent()) - before).toBeLessThan(100);
    commands.close();
  });
});
