import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  JobTimeoutError,
  OnScheduledJob,
  ScheduledJob,
  type ScheduledQueueEvent,
} from '../../../lib/index.js';
import { CommandCount } from '../../support/command-count.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';

const obedient = defineScheduledJob<number>('obedient', { timeoutMs: 50, backoff: { type: 'fixed', delayMs: 0 } });

@Injectable()
class Handlers {
  readonly reasons: unknown[] = [];
  readonly started: string[] = [];
  private release = () => {};
  readonly held = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  @OnScheduledJob(obedient)
  async obey(ms: number, { signal }: ScheduledJob): Promise<string> {
    signal.addEventListener('abort', () => this.reasons.push(signal.reason));
    await sleep(ms, undefined, { signal });
    return 'done';
  }

  @OnScheduledJob('stubborn', { timeoutMs: 50, maxAttempts: 1 })
  async ignore(_: unknown, { id, signal }: ScheduledJob): Promise<string> {
    this.started.push(id);
    signal.addEventListener('abort', () => this.reasons.push(signal.reason));
    await this.held;
    return 'too late';
  }

  @OnScheduledJob('own', { timeoutMs: '40ms', maxAttempts: 1 })
  async own(ms: number, { signal }: ScheduledJob): Promise<void> {
    await sleep(ms, undefined, { signal });
  }

  letGo(): void {
    this.release();
  }
}

afterEach(stopApps);

async function start(options: Parameters<typeof startApp>[1] = {}) {
  const app = await startApp([Handlers], options);
  const events: ScheduledQueueEvent[] = [];
  app.events.events$.subscribe((event) => events.push(event));
  const told = (type: string) => events.filter((event) => event.type === type);
  return { ...app, told, handlers: app.get(Handlers) };
}

describe('a run that takes longer than timeoutMs', () => {
  it('is told so by its signal, and its attempt has failed, to be tried again', async () => {
    const { producer, inspector, handlers, told } = await start();
    const { id } = await producer.schedule(obedient, 60_000, { maxAttempts: 2, id: 'r7' });
    await until('it is dead', () => told('dead').length > 0);
    expect(handlers.reasons).toHaveLength(2);
    expect(handlers.reasons[0]).toBeInstanceOf(JobTimeoutError);
    expect(handlers.reasons[0]).toMatchObject({
      code: 'JOB_TIMEOUT',
      queue: 'default',
      jobName: 'obedient',
      jobId: id,
      message:
        'The run took longer than its timeoutMs of 50 ms, so the attempt has failed. Raise timeoutMs, or end the work when job.signal aborts.',
    });
    const job = await inspector.job(id);
    expect(job).toMatchObject({ state: 'dead', reason: 'attempts-exhausted', attempts: 2 });
    expect(job!.failures.map(({ name }) => name)).toEqual(['JobTimeoutError', 'JobTimeoutError']);
    // No place of this library stands there, and none of the handler is known.
    expect(job!.failures[0]!.stack).not.toContain('\n');
    expect((await inspector.explain(id)).message).toMatch(/[^.]\.$/);
    expect(await inspector.stats()).toMatchObject({ started: 2, failed: 2, retried: 1, dead: 1, completed: 0 });
  });

  it('and ignores its signal has failed at once, but its place is only free when its handler returns', async () => {
    const { producer, inspector, handlers, told } = await start({ queues: { default: { concurrency: 1 } } });
    const first = await producer.dispatch('stubborn', null);
    await until('it is dead', () => told('dead').length > 0);
    expect(await inspector.job(first)).toMatchObject({ state: 'dead' });
    const second = await producer.dispatch('stubborn', null);
    expect(await inspector.explain(second)).toMatchObject({ code: 'behind' });
    expect(handlers.started).toEqual([first.id]);
    handlers.letGo();
    await until('the second has run', () => told('completed').length === 1);
    expect(handlers.started).toEqual([first.id, second.id]);
    expect(await inspector.stats()).toMatchObject({ started: 2, completed: 1, dead: 1 });
  });

  it('and ignores its signal keeps nobody busy meanwhile', async () => {
    const server = await startOwnServer();
    const commands = new CommandCount(server.url);
    try {
      const { producer, handlers, told } = await start({
        connection: server.url,
        queues: { default: { leaseMs: 1_000 } },
      });
      await producer.dispatch('stubborn', null);
      await until('it is dead', () => told('dead').length > 0);
      const before = await commands.sent();
      await sleep(2_000);
      // A turn every third of a lease, and a few for what came before.
      expect((await commands.sent()) - before).toBeLessThan(20);
      handlers.letGo();
    } finally {
      await stopApps();
      commands.close();
      await server.stop();
    }
  });

  it('and ignores its signal is waited for by a shutdown, as it may use what is closed after that', async () => {
    const { app, producer, handlers, told } = await start({ shutdownTimeoutMs: 60_000 });
    await producer.dispatch('stubborn', null);
    await until('it is dead', () => told('dead').length > 0);
    let isClosed = false;
    const closed = app.close().then(() => (isClosed = true));
    await sleep(300);
    expect(isClosed).toBe(false);
    handlers.letGo();
    await closed;
  });

  it('is told so while Redis is away as well, and fails when it is back', async () => {
    const proxy = await TcpProxy.start(redisUrl());
    const prefix = newPrefix();
    const { producer } = await startApp([], { prefix });
    const { handlers, told } = await start({ connection: proxy.url, prefix });
    await producer.dispatch('stubborn', null);
    await until('it runs', () => handlers.started.length === 1);
    proxy.refuse();
    await until('its signal aborts', () => handlers.reasons.length === 1);
    expect(told('failed')).toEqual([]);
    proxy.accept();
    await until('it has failed', () => told('failed').length === 1);
    handlers.letGo();
    await stopApps();
    await proxy.stop();
  });
});

describe('timeoutMs', () => {
  it('of 0 is none', async () => {
    const { producer, told } = await start();
    await producer.schedule(obedient, 200, { timeoutMs: 0 });
    await until('it completes', () => told('completed').length === 1);
    expect(told('failed')).toEqual([]);
  });

  it('of the call wins over that of the jobs option, that over the handler, that over the definition', async () => {
    const { producer, inspector, told } = await start({ jobs: { own: { timeoutMs: '60ms' } } });
    const messages: string[] = [];
    for (const options of [{ timeoutMs: 70 }, {}]) {
      const { id } = await producer.dispatch('own', 60_000, { maxAttempts: 1, ...options });
      await until('it is dead', () => told('dead').some((event) => 'id' in event && event.id === id));
      messages.push((await inspector.job(id))!.failures[0]!.message!);
    }
    expect(messages).toEqual([expect.stringContaining('of 70 ms,'), expect.stringContaining('of 60 ms,')]);
    await stopApps();
    const other = await start();
    const { id } = await other.producer.dispatch('own', 60_000);
    await until('it is dead', () => other.told('dead').length === 1);
    expect((await other.inspector.job(id))!.failures[0]!.message).toContain('of 40 ms,');
  });
});
