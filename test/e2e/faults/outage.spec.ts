import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, QueueUnavailableError } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';

@Injectable()
class Handlers {
  readonly payloads: unknown[] = [];

  @OnScheduledJob('work')
  work(payload: unknown): void {
    this.payloads.push(payload);
  }
}

let proxy: TcpProxy;

afterEach(async () => {
  await stopApps();
  await proxy.stop();
});

it('a schedule while Redis is away is refused in time, and may be called again under its id', async () => {
  proxy = await TcpProxy.start(redisUrl());
  const { producer, inspector } = await startApp([], { connection: proxy.url, commandTimeoutMs: 2_000 });
  await producer.schedule('work', 0, { delay: '1h' });
  proxy.refuse();
  // The call that meets the dying connection may have been sent; the next one knows that it was not.
  await producer.schedule('work', 1, { id: 'mine', delay: '1h' }).catch(() => {});
  const started = performance.now();
  const error = await producer.schedule('work', 1, { id: 'mine', delay: '1h' }).catch((thrown: unknown) => thrown);
  expect(performance.now() - started).toBeLessThan(10_000);
  expect(error).toBeInstanceOf(QueueUnavailableError);
  expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE', outcome: 'refused' });
  proxy.accept();
  const again = await until('Redis is back', () =>
    producer.schedule('work', 1, { id: 'mine', delay: '1h' }).catch(() => undefined),
  );
  expect(again.created).toBe(true);
  expect(await inspector.counts()).toMatchObject({ scheduled: 2 });
});

it('whatever is called while Redis is away says in its error which queue and which job it was about', async () => {
  proxy = await TcpProxy.start(redisUrl());
  const { producer, inspector } = await startApp([], { connection: proxy.url, commandTimeoutMs: 1_500 });
  proxy.refuse();
  const ref = { id: 'r7', queue: 'mail' };
  const calls: [call: Promise<unknown>, about: object][] = [
    [inspector.counts({ queue: 'mail' }), { queue: 'mail' }],
    [inspector.stats({ queue: 'mail' }), { queue: 'mail' }],
    [inspector.latenessMs({ queue: 'mail' }), { queue: 'mail' }],
    [inspector.list('dead', { queue: 'mail' }), { queue: 'mail' }],
    [inspector.purgeDead({ queue: 'mail' }), { queue: 'mail' }],
    [inspector.replayDead('all', { queue: 'mail' }), { queue: 'mail' }],
    [inspector.job(ref), { queue: 'mail', jobId: 'r7' }],
    [inspector.explain(ref), { queue: 'mail', jobId: 'r7' }],
    [inspector.replayDead(ref), { queue: 'mail', jobId: 'r7' }],
    [inspector.cancelRunning(ref), { queue: 'mail', jobId: 'r7' }],
    [producer.cancel(ref), { queue: 'mail', jobId: 'r7' }],
    [producer.reschedule(ref, { delay: 1 }), { queue: 'mail', jobId: 'r7' }],
    ...(['keep', 'replace'] as const).map((onDuplicate): [Promise<unknown>, object] => [
      producer.schedule('work', 1, { queue: 'mail', id: 'r7', onDuplicate }),
      { queue: 'mail', jobId: 'r7', jobName: 'work' },
    ]),
  ];
  await Promise.all(
    calls.map(([call, about]) => expect(call).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE', ...about })),
  );
});

it('workers come back by themselves, with one line when Redis goes and one when it returns', async () => {
  proxy = await TcpProxy.start(redisUrl());
  const log = new LogLines();
  const { producer, get } = await startApp([Handlers], { connection: proxy.url }, { log });
  await producer.schedule('work', 'before');
  const { payloads } = get(Handlers);
  await until('it runs before the outage', () => payloads.length === 1);
  proxy.refuse();
  await until('the outage is told', () => log.lines.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  proxy.accept();
  const ref = await until('Redis is back', () => producer.schedule('work', 'after').catch(() => undefined));
  await until('it runs after the outage', () => payloads.length === 2);
  expect(payloads).toEqual(['before', 'after']);
  expect(ref.created).toBe(true);
  await until('the return is told', () => log.starting('log Redis is back').length > 0);
  expect(log.lines).toEqual([
    expect.stringMatching(/^warn Redis cannot be reached/),
    expect.stringMatching(/^log Redis is back after \d+ ms/),
  ]);
});

it('the error of a call of the producer names in its stack the function that awaits the call', async () => {
  proxy = await TcpProxy.start(redisUrl());
  const { app, producer } = await startApp([], { connection: proxy.url, commandTimeoutMs: 1_500 });
  const calls: Record<string, () => Promise<unknown>> = {
    schedule: () => producer.schedule('work', 1),
    replace: () => producer.schedule('work', 1, { id: 'mine', onDuplicate: 'replace' }),
    dispatch: () => producer.dispatch('work', 1),
    scheduleMany: () => producer.scheduleMany([{ job: 'work', payload: 1 }]),
    cancel: () => producer.cancel('mine'),
    reschedule: () => producer.reschedule('mine', { delay: '1h' }),
    runNow: () => producer.runNow('mine'),
    removeRecurrence: () => producer.removeRecurrence('nightly'),
    pauseRecurrence: () => producer.pauseRecurrence('nightly'),
    runRecurrenceNow: () => producer.runRecurrenceNow('nightly'),
  };
  const stackless = async (code: string) => {
    const places = await Promise.all(
      Object.entries(calls).map(async ([name, call]) => {
        async function placeOrder(): Promise<void> {
          await call();
        }
        const error = await placeOrder().catch((thrown: Error) => thrown);
        expect([name, error]).toEqual([name, expect.objectContaining({ code })]);
        return /\n +at (async )?placeOrder /.test((error as Error).stack!) ? [] : [name];
      }),
    );
    return places.flat();
  };
  proxy.refuse();
  expect(await stackless('QUEUE_UNAVAILABLE')).toEqual([]);
  await app.close();
  expect(await stackless('QUEUE_CLOSED')).toEqual([]);
});

it('an application starts without Redis, and works once it is there', async () => {
  proxy = await TcpProxy.start(redisUrl());
  proxy.refuse();
  const { producer, get } = await startApp([Handlers], { connection: proxy.url });
  proxy.accept();
  await until('Redis is back', () => producer.schedule('work', 1).catch(() => undefined));
  await until('it runs', () => get(Handlers).payloads.length === 1);
});

it('connections whose packets vanish without an error are replaced, and calls on them are sent again', async () => {
  proxy = await TcpProxy.start(redisUrl());
  const { producer, inspector, get } = await startApp([Handlers], { connection: proxy.url, commandTimeoutMs: 4_000 });
  await producer.schedule('work', 'before');
  await until('it runs before', () => get(Handlers).payloads.length === 1);
  proxy.blackhole();
  const ref = await producer.schedule('work', 'after');
  expect(ref.created).toBe(true);
  await until('it runs after', () => get(Handlers).payloads.length === 2);
  await until('it is settled', async () => (await inspector.stats()).completed === 2);
  expect(await inspector.stats()).toMatchObject({ scheduled: 2, started: 2, recovered: 0 });
});

it('an application that closes while Redis is away leaves nothing that keeps its process alive', async () => {
  proxy = await TcpProxy.start(redisUrl());
  const child = fork('dist-test/closer.js', {
    env: { ...process.env, REDIS: proxy.url, PREFIX: newPrefix(), NODE_OPTIONS: '' },
  });
  const says = async (word: string) => {
    for await (const [said] of on(child, 'message')) if (said === word) return;
  };
  try {
    await says('ready');
    const hearsOfIt = says('away');
    proxy.refuse();
    await hearsOfIt;
    const closed = says('closed');
    child.send('close');
    await closed;
    const closedAt = performance.now();
    await once(child, 'exit');
    expect(performance.now() - closedAt).toBeLessThan(BEFORE_NEXT_LOOK_MS);
  } finally {
    child.kill('SIGKILL');
  }
});
