import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { OnScheduledJob, QueueUnavailableError, ScheduledJob } from '../../../lib/index.js';
import { SCRIPTS } from '../../../lib/store/redis/scripts/embedded.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { StreamReader } from '../../support/stream-reader.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

const STREAMING = { queues: { default: { streamEvents: { maxLength: 200_000 } } } };

let beginLoud: (() => void) | undefined;

@Injectable()
class Loud {
  /** Tells so many values, once it may. */
  @OnScheduledJob('loud')
  async loud(count: number, job: ScheduledJob): Promise<void> {
    await new Promise<void>((resolve) => {
      beginLoud = resolve;
    });
    for (let i = 0; i < count; i++) job.progress(i);
  }
}

afterEach(stopApps);

const schedule = ({ producer }: QueueApp, id: string) => producer.schedule('nobody', null, { id, delay: '1h' });

describe('a Redis that goes', () => {
  let server: OwnRedisServer;

  afterEach(async () => {
    await stopApps();
    await server.stop();
  });

  it('and comes back with its data: the stream goes on, and nothing is told twice or missing', async () => {
    server = await startOwnServer('--appendonly', 'yes', '--appendfsync', 'always');
    const options = { connection: server.url, prefix: newPrefix(), ...STREAMING };
    const app = await startApp([Work], options);
    const reading = await startApp([], { ...options, role: 'producer' });
    const reader = new StreamReader(reading.events, '0');
    const ids = Array.from({ length: 300 }, (_, i) => `job-${i}`);
    const jobs = ids.map((id, i) => ({ job: 'long', payload: 5, options: { id, delay: 300 + i } }));
    await app.producer.scheduleMany(jobs);
    await until('some have ended', () => reader.told.filter((told) => told.startsWith('completed')).length > 20);
    await server.kill();
    await server.restart();
    await until('all have ended', async () => (await app.inspector.stats()).completed === ids.length);
    await until('that is told', () => reader.told.filter((told) => told.startsWith('completed')).length >= ids.length);
    expect(reader.told).not.toContain('gap');
    expect(new Set(reader.ids).size).toBe(reader.ids.length);
    for (const type of ['scheduled', 'completed'])
      expect(reader.told.filter((told) => told.startsWith(type)).sort()).toEqual(
        ids.map((id) => `${type} ${id}`).sort(),
      );
    const again = new StreamReader(reading.events, '0');
    await until('it is read again', () => again.seen.length >= reader.seen.length);
    expect(again.seen).toEqual(reader.seen);
  });

  it('and comes back empty: a reader is told a gap, and then what comes', async () => {
    server = await startOwnServer();
    const app = await startApp([], { connection: server.url, role: 'producer', ...STREAMING });
    const reader = new StreamReader(app.events, '0');
    for (const id of ['a', 'b', 'c']) await schedule(app, id);
    await reader.saw('scheduled c');
    await server.kill();
    await server.restart();
    await schedule(app, 'd');
    await reader.saw('scheduled d');
    expect(reader.told).toEqual(['scheduled a', 'scheduled b', 'scheduled c', 'gap', 'scheduled d']);
  });

  it('is waited for by a reader that begins meanwhile, and holds up no shutdown', async () => {
    server = await startOwnServer();
    const options = { connection: server.url, prefix: newPrefix(), commandTimeoutMs: 1_000, ...STREAMING };
    const app = await startApp([], { ...options, role: 'producer' });
    const closing = await startApp([Loud], options);
    await closing.producer.dispatch('loud', 100);
    await until('it runs', () => beginLoud);
    await schedule(app, 'a');
    await server.kill();
    const reader = new StreamReader(app.events, '0');
    beginLoud?.();
    const from = performance.now();
    await closing.app.close();
    // A handler that has ended waits for its settlement as long as `shutdownTimeoutMs`.
    expect(performance.now() - from).toBeLessThan(2_000 + 1_000 + 1_000);
    await server.restart();
    await until('a job is scheduled', () => schedule(app, 'b').catch(() => undefined));
    await reader.saw('scheduled b');
    expect(reader.error).toBeUndefined();
  });
});

describe('a way to Redis that is cut', () => {
  let proxy: TcpProxy;

  beforeEach(async () => {
    proxy = await TcpProxy.start(redisUrl());
  });

  afterEach(async () => {
    await stopApps();
    await proxy.stop();
  });

  it('after a write whose reply is lost: its events are there once', async () => {
    const app = await startApp([], { connection: proxy.url, role: 'producer', ...STREAMING });
    const reader = new StreamReader((await startApp([], { prefix: app.prefix })).events, '0');
    await schedule(app, 'a');
    await reader.saw('scheduled a');
    const cut = proxy.cutOnce((request, reply) => request.includes(SCRIPTS['add-events'].sha) && reply !== '');
    await schedule(app, 'b');
    await cut;
    await schedule(app, 'c');
    await reader.saw('scheduled c');
    expect(reader.told).toEqual(['scheduled a', 'scheduled b', 'scheduled c']);
  });

  it('again and again while somebody reads: the reader goes on where it was', async () => {
    const app = await startApp([], { role: 'producer', ...STREAMING });
    const reading = await startApp([], { connection: proxy.url, prefix: app.prefix, role: 'producer' });
    const reader = new StreamReader(reading.events, '0');
    const ids = Array.from({ length: 50 }, (_, i) => `job-${i}`);
    for (const id of ids) {
      await schedule(app, id);
      if (id.endsWith('5')) await reader.saw(`scheduled ${id}`);
      if (id.endsWith('7')) proxy.cutAll();
    }
    await reader.saw('scheduled job-49');
    expect(reader.told).toEqual(ids.map((id) => `scheduled ${id}`));
  });

  it('for so long that events have to be dropped: the first ones are told, and a gap where those are missing', async () => {
    const app = await startApp([Loud], { connection: proxy.url, ...STREAMING });
    const reader = new StreamReader((await startApp([], { prefix: app.prefix })).events, '0');
    const count = 60_000;
    await app.producer.dispatch('loud', count, { id: 'loud' });
    await reader.saw('started loud');
    proxy.refuse();
    beginLoud?.();
    await app.inspector.counts().catch(() => {});
    proxy.accept();
    await reader.saw('gap');
    await schedule(app, 'after');
    await reader.saw('scheduled after');
    const values = reader.seen.flatMap((event) => (event.type === 'progress' ? [event.value] : []));
    expect(values).toEqual(Array.from({ length: values.length }, (_, i) => i));
    expect(values.length).toBeLessThan(count);
    expect(values.length).toBeGreaterThanOrEqual(50_000);
    // Whether its end lies in the gap depends on when the handler returned.
    const ofLoud = ['progress loud', 'completed loud'];
    expect(reader.told.filter((told) => !ofLoud.includes(told)).slice(2)).toEqual(['gap', 'scheduled after']);
  });
});

it('a Redis that will not take events is named in the log, jobs run all the same, and events wait until it does', async () => {
  const prefix = newPrefix();
  const key = `${prefix}:{default}:events`;
  const redis = new Redis(redisUrl());
  await redis.set(key, 'of another type');
  const log = new LogLines();
  const app = await startApp([Work], { prefix, ...STREAMING }, { log });
  const refused = new StreamReader(app.events);
  await app.producer.dispatch('work', null, { id: 'a' });
  await until('it has run', async () => (await app.inspector.stats()).completed === 1);
  await until('it is told', () => log.starting('error').length > 0);
  await until('the reader is told', () => refused.error);
  expect(refused.error).toBeInstanceOf(QueueUnavailableError);
  expect(refused.error).toMatchObject({ redisCode: 'WRONGTYPE', queue: 'default' });
  await redis.del(key);
  redis.disconnect();
  const reader = new StreamReader(app.events, '0');
  await reader.saw('completed a');
  await reader.saw('scheduled a');
  // The worker may begin before the answer to the schedule has been read.
  expect(reader.told.filter((line) => line !== 'scheduled a')).toEqual(['started a', 'completed a']);
  expect(reader.told).toHaveLength(3);
  expect(reader.told).toContain('scheduled a');
  expect(log.starting('error')).toEqual([
    expect.stringMatching(
      /^error The events of queue 'default' cannot be added to its stream, which is tried again every second: .*WRONGTYPE/,
    ),
  ]);
  expect(log.starting('log The events')).toEqual([`log The events of queue 'default' are added to its stream again.`]);
});
