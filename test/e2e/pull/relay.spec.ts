import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  InvalidOptionsError,
  OnScheduledJob,
  QueueClosedError,
  relayKey,
  ScheduledJob,
} from '../../../lib/index.js';
import { SCRIPTS } from '../../../lib/store/redis/scripts/embedded.js';
import { audit } from '../../support/audit.js';
import { CommandCount } from '../../support/command-count.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { listElements, streamEntries, toRecord } from '../../support/relayed.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';

@Injectable()
class Handlers {
  readonly handled: string[] = [];

  @OnScheduledJob('mail')
  mail(_payload: unknown, { id }: ScheduledJob): void {
    this.handled.push(id);
  }
}

let redis: Redis;
/** A target of this test alone. */
let key: string;
const cleanups: (() => unknown)[] = [];

beforeEach(() => {
  redis = new Redis(redisUrl());
  key = relayKey('default', newPrefix());
});

afterEach(async () => {
  await stopApps();
  for (const cleanup of cleanups.splice(0)) await cleanup();
  await redis.del(key);
  redis.disconnect();
});

const entries = async (count: number) => {
  await until(`${count} entries are there`, async () => (await redis.xlen(key)) >= count);
  return await streamEntries(redis, key);
};

/** What JSON text can go wrong at. */
const ping = defineScheduledJob<void>('ping');
const AWKWARD = {
  text: 'a "quoted" \\ back\nnew\tline \u2028 \u0000 é 日本 🎉 </script> %d %s',
  '{"payload":': [null, 1.5e300],
};

describe('a relay to a stream', () => {
  it('is read by a consumer group with plain commands, most urgent first', async () => {
    const { consumer, producer, inspector } = await startApp();
    const at = new Date(Date.now() - 60_000);
    const options = { at, group: 'tenant:7;1', tags: ['user:7', 'a"b'], headers: { trace: 'a"b', 'x-tenant': '7' } };
    const low = await producer.schedule('mail.send', { user: 7 }, { ...options, id: 'low', priority: 10 });
    await producer.schedule('mail.send', AWKWARD, { id: 'high', priority: 1 });
    await producer.schedule(ping);
    await redis.xgroup('CREATE', key, 'mailers', '0', 'MKSTREAM');
    const relay = consumer.relay({ to: { stream: key } });
    await entries(3);

    type Reply = [string, [string, string[]][]][];
    const [[stream, read]] = (await redis.xreadgroup(
      'GROUP',
      'mailers',
      'mailer-1',
      'COUNT',
      10,
      'STREAMS',
      key,
      '>',
    )) as [Reply[number]];
    expect(stream).toBe(key);
    const [first, second, third] = read.map(([, fields]) => toRecord(fields));
    expect(first).toMatchObject({ id: 'high', priority: '1' });
    expect(first!.payload).toBe(JSON.stringify(AWKWARD));
    expect(second).toEqual({
      id: expect.any(String),
      name: 'ping',
      queue: 'default',
      dueAt: expect.stringMatching(/^\d{13}$/),
      createdAt: expect.stringMatching(/^\d{13}$/),
      attempt: '1',
      priority: '5',
    });
    expect(third).toEqual({
      id: 'low',
      name: 'mail.send',
      queue: 'default',
      dueAt: String(low.dueAt!.getTime()),
      createdAt: expect.stringMatching(/^\d{13}$/),
      attempt: '1',
      priority: '10',
      group: 'tenant:7;1',
      tags: JSON.stringify(options.tags),
      headers: JSON.stringify(options.headers),
      payload: '{"user":7}',
    });
    for (const [entry] of read) expect(await redis.xack(key, 'mailers', entry)).toBe(1);
    expect((await redis.xpending(key, 'mailers'))[0]).toBe(0);
    expect(await inspector.stats()).toMatchObject({ scheduled: 3, started: 3, completed: 3 });
    expect(await inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
    await relay.stop();
  });

  it('keeps about as many entries as it is told', async () => {
    const { consumer, producer } = await startApp();
    await producer.scheduleMany(Array.from({ length: 2_000 }, (_, i) => ({ job: 'mail', payload: i })));
    consumer.relay({ to: { stream: key }, maxLength: 100, batch: 1_000 });
    await until('the last is there', async () => {
      const [last] = await redis.xrevrange(key, '+', '-', 'COUNT', 1);
      return last && toRecord(last[1]).payload === '1999';
    });
    expect(await redis.xlen(key)).toBeGreaterThanOrEqual(100);
    expect(await redis.xlen(key)).toBeLessThan(400);
  });
});

describe('a relay to a list', () => {
  it('is read with LPOP, one JSON text a job, its payload to the byte', async () => {
    const { consumer, producer } = await startApp();
    const large = { text: '"é\n'.repeat(170_000) };
    const name = 'say "hi"\\/now';
    const { dueAt } = await producer.schedule(name, AWKWARD, {
      id: 'a"1\\',
      priority: 1,
      group: '@"🎉"',
      tags: ['t"', '🎉'],
      headers: { 'a"': 'b\\\n🎉' },
    });
    await producer.schedule('large', large, { priority: 2 });
    await producer.schedule(ping, undefined, { priority: 3 });
    consumer.relay({ to: { list: key } });
    await until('all are there', async () => (await redis.llen(key)) === 3);

    const first = (await redis.lpop(key))!;
    const created = JSON.parse(first).createdAt;
    expect(JSON.parse(first)).toEqual({
      id: 'a"1\\',
      name,
      queue: 'default',
      dueAt: dueAt!.getTime(),
      createdAt: expect.any(Number),
      attempt: 1,
      priority: 1,
      group: '@"🎉"',
      tags: ['t"', '🎉'],
      headers: { 'a"': 'b\\\n🎉' },
      payload: AWKWARD,
    });
    expect(Math.abs(created - Date.now())).toBeLessThan(60_000);
    expect(first.endsWith(`,"payload":${JSON.stringify(AWKWARD)}}`)).toBe(true);
    const second = (await redis.lpop(key))!;
    expect(second.endsWith(`,"payload":${JSON.stringify(large)}}`)).toBe(true);
    expect(JSON.parse((await redis.lpop(key))!)).not.toHaveProperty('payload');
    expect(await redis.lpop(key)).toBeNull();
  });

  it('passes on what is due when it is, in order, and the rest later', async () => {
    const { consumer, producer, inspector } = await startApp();
    consumer.relay({ to: { list: key } });
    const refs = await producer.scheduleMany([
      { job: 'b', payload: 2, options: { delay: 400 } },
      { job: 'a', payload: 1, options: { delay: 200 } },
      { job: 'c', payload: 3, options: { delay: '1h' } },
    ]);
    await until('two are there', async () => (await redis.llen(key)) === 2);
    expect(Date.now()).toBeGreaterThanOrEqual(refs[0]!.dueAt!.getTime() - 1);
    expect((await listElements(redis, key)).map(({ payload }) => payload)).toEqual([1, 2]);
    expect(await inspector.counts()).toMatchObject({ scheduled: 1, due: 0 });
  });
});

describe('a relay', () => {
  it('takes only the names that it is told, and another one the rest', async () => {
    const { consumer, producer, prefix } = await startApp();
    const other = relayKey('default', `${prefix}-others`);
    cleanups.push(() => redis.del(other));
    consumer.relay({ names: ['b', 'c'], to: { stream: key } });
    await producer.scheduleMany(['a', 'b', 'c', 'd'].map((job) => ({ job, payload: null })));
    expect((await entries(2)).map(({ name }) => name).sort()).toEqual(['b', 'c']);
    consumer.relay({ to: { list: other } });
    await until('the others are there', async () => (await redis.llen(other)) === 2);
    expect((await listElements(redis, other)).map(({ name }) => name).sort()).toEqual(['a', 'd']);
    expect(await redis.xlen(key)).toBe(2);
  });

  it('shares with handlers and pops of the same queue: each job goes to one of them', async () => {
    const { consumer, producer, inspector, get, prefix } = await startApp([Handlers]);
    consumer.relay({ to: { stream: key }, batch: 3 });
    const refs = await producer.scheduleMany(Array.from({ length: 500 }, (_, i) => ({ job: 'mail', payload: i })));
    const popped: string[] = [];
    for (let jobs = await consumer.pop({ count: 5 }); jobs.length > 0; jobs = await consumer.pop({ count: 5 })) {
      popped.push(...jobs.map(({ id }) => id));
      await Promise.all(jobs.map((job) => job.complete()));
    }
    await until('all are done', async () => (await inspector.stats()).completed === 500);
    const relayed = (await streamEntries(redis, key)).map(({ id }) => id!);
    expect(relayed.length).toBeGreaterThan(0);
    expect([...get(Handlers).handled, ...popped, ...relayed].sort()).toEqual(refs.map(({ id }) => id).sort());
    expect(await audit(redis, prefix)).toEqual([]);
  });

  it('moves nothing after stop, and another one may be started', async () => {
    const { consumer, producer, inspector } = await startApp();
    const relay = consumer.relay({ to: { stream: key } });
    await producer.schedule('mail', 1);
    await entries(1);
    const started = performance.now();
    await relay.stop();
    await relay.stop();
    expect(performance.now() - started).toBeLessThan(BEFORE_NEXT_LOOK_MS);
    const { id } = await producer.schedule('mail', 2);
    expect((await inspector.explain(id)).code).toBe('no-handler');
    await sleep(200);
    expect(await redis.xlen(key)).toBe(1);
    consumer.relay({ to: { stream: key } });
    expect((await entries(2)).map(({ payload }) => payload)).toEqual(['1', '2']);
  });

  it('ends with the application', async () => {
    const { consumer, producer, app, prefix } = await startApp();
    const other = await startApp([], { prefix, role: 'producer' });
    consumer.relay({ to: { stream: key } });
    await producer.schedule('mail', 1);
    await entries(1);
    const started = performance.now();
    await app.close();
    expect(performance.now() - started).toBeLessThan(BEFORE_NEXT_LOOK_MS);
    expect(() => consumer.relay({ to: { stream: key } })).toThrow(QueueClosedError);
    const { id } = await other.producer.schedule('mail', 2);
    await sleep(200);
    expect((await other.inspector.explain(id)).code).toBe('no-handler');
    expect(await redis.xlen(key)).toBe(1);
  });

  it('hands over to the next one when it stops: what is due then is not late', async () => {
    const { consumer, producer } = await startApp();
    const first = consumer.relay({ to: { stream: key } });
    await producer.schedule('mail', 1);
    await entries(1);
    consumer.relay({ to: { stream: key } });
    const { dueAt } = await producer.schedule('mail', 2, { delay: 300 });
    await sleep(50);
    await first.stop();
    await entries(2);
    const [last] = await redis.xrevrange(key, '+', '-', 'COUNT', 1);
    // A deputy who is not told looks half a second later.
    expect(Number(last![0].split('-')[0]) - dueAt!.getTime()).toBeLessThan(450);
  });

  it('waits while its target is of another type, says so once, and goes on when that is mended', async () => {
    const log = new LogLines();
    const { consumer, producer, inspector } = await startApp([], {}, { log });
    await redis.set(key, 'mine');
    const relay = consumer.relay({ to: { list: key } });
    await producer.schedule('mail', 1);
    await until('it is told', () => log.starting('error').length > 0);
    expect(log.starting('error')).toEqual([
      `error The relay to list '${key}' of queue 'default' cannot go on and tries again every second: relay: the key '${key}' is a string, expected a list or nothing. No job has been moved.`,
    ]);
    expect(await inspector.counts()).toMatchObject({ due: 1 });
    expect(await redis.get(key)).toBe('mine');
    await redis.del(key);
    await until('it goes on', async () => (await redis.llen(key)) === 1);
    // Redis has moved the job before the relay hears of it.
    await until('that is told', () => log.starting('log The relay').length > 0);
    expect(log.starting('log The relay')).toEqual([`log The relay to list '${key}' of queue 'default' goes on.`]);
    await relay.stop();
    await redis.del(key);
    await redis.set(key, 'mine');
    const stuck = consumer.relay({ to: { list: key } });
    await until('it is told', () => log.starting('error').length > 1);
    const started = performance.now();
    await stuck.stop();
    expect(performance.now() - started).toBeLessThan(BEFORE_NEXT_LOOK_MS);
  });

  it('tells nothing by events, and kept completed jobs have none of its', async () => {
    const { consumer, producer, inspector, events } = await startApp([], { queues: { default: { keepCompleted: 5 } } });
    const told: string[] = [];
    events.events$.subscribe(({ type }) => told.push(type));
    await producer.schedule('mail', 1, { id: 'one' });
    consumer.relay({ to: { stream: key } });
    await entries(1);
    expect(told).toEqual(['scheduled']);
    expect(await inspector.counts()).toMatchObject({ completed: 0 });
    expect(await inspector.job('one')).toBeNull();
    expect(await producer.schedule('mail', 1, { id: 'one' })).toMatchObject({ created: false });
  });

  it.each(['stream', 'list'] as const)('writes nothing to a %s twice where a reply is lost', async (type) => {
    const proxy = await TcpProxy.start(redisUrl());
    cleanups.push(() => proxy.stop());
    const { producer, inspector, prefix } = await startApp();
    const { consumer } = await startApp([], { connection: proxy.url, prefix });
    await producer.schedule('mail', 0);
    consumer.relay({ to: type === 'stream' ? { stream: key } : { list: key }, batch: 10 });
    await until('the first is there', async () => (await inspector.stats()).completed === 1);
    let turns = 0;
    const cut = proxy.cutOnce((request) => request.includes(SCRIPTS.relay.sha) && ++turns === 3);
    const refs = await producer.scheduleMany(Array.from({ length: 50 }, (_, i) => ({ job: 'mail', payload: i + 1 })));
    await cut;
    await until('all are moved', async () => (await inspector.stats()).completed === 51);
    const out = type === 'stream' ? await streamEntries(redis, key) : await listElements(redis, key);
    expect(out.slice(1).map(({ id }) => id)).toEqual(refs.map(({ id }) => id));
    expect(await inspector.stats()).toMatchObject({ scheduled: 51, started: 51, completed: 51 });
  });

  it('stops within commandTimeoutMs where Redis is away', async () => {
    const proxy = await TcpProxy.start(redisUrl());
    cleanups.push(() => proxy.stop());
    const { consumer } = await startApp([], { connection: proxy.url, commandTimeoutMs: 2_000 });
    const relay = consumer.relay({ to: { stream: key } });
    proxy.refuse();
    proxy.cutAll();
    const started = performance.now();
    await relay.stop();
    expect(performance.now() - started).toBeLessThan(BEFORE_NEXT_LOOK_MS);
  });

  it('costs less than one command a second while nothing is due, and is woken at once', async () => {
    const server = await startOwnServer();
    cleanups.push(() => server.stop());
    const own = new Redis(server.url);
    cleanups.push(() => own.disconnect());
    const prefix = newPrefix();
    const { consumer } = await startApp([], { connection: server.url, prefix });
    const { producer } = await startApp([], { connection: server.url, prefix, role: 'producer' });
    await producer.schedule('mail', null, { delay: '1h' });
    consumer.relay({ to: { stream: key } });
    const count = new CommandCount(server.url);
    cleanups.push(() => count.close());
    await until('it sleeps', async () => (await own.exists(`${prefix}:{default}:sleepers:*`)) === 1);
    await sleep(300);
    const before = await count.sent();
    await sleep(4_000);
    const sent = (await count.sent()) - before;
    process.stdout.write(`an idle relay, 4 s: ${sent} commands\n`);
    expect(sent).toBeLessThan(4);

    const late: number[] = [];
    for (let round = 0; round < 41; round++) {
      const { dueAt } = await producer.schedule('mail', null, { delay: round % 2 === 0 ? 0 : 60 });
      await until('it is there', async () => (await own.xlen(key)) === round + 1);
      const [last] = await own.xrevrange(key, '+', '-', 'COUNT', 1);
      late.push(Number(last![0].split('-')[0]) - dueAt!.getTime());
    }
    late.sort((a, b) => a - b);
    process.stdout.write(`relayed after ${late[20]} ms (median), ${late.at(-1)} ms (worst of 41)\n`);
    expect(late[0]).toBeGreaterThanOrEqual(0);
    expect(late[20]).toBeLessThan(300);
  });

  it.each([
    [undefined, 'relay: to: got none, expected { stream: key } or { list: key }.'],
    [{ to: {} }, 'relay: to: got neither, expected'],
    [{ to: { stream: 'a', list: 'b' } }, 'relay: to: got both, expected'],
    [{ to: { stream: '' } }, 'relay: to: stream: got ""'],
    [{ to: 'out' }, 'relay: to: got "out", expected { stream: key } or { list: key }.'],
    [{ to: { lst: 'a' } }, `relay: to: unknown option "lst", did you mean 'list'?`],
    [{ to: { list: 'a' }, batch: 0 }, 'relay: batch: got 0, expected a whole number from 1 to 1000'],
    [{ to: { list: 'a' }, batch: 1_001 }, 'relay: batch: got 1001'],
    [{ to: { stream: 'a' }, maxLength: 0 }, 'relay: maxLength: got 0'],
    [{ to: { list: 'a' }, maxLength: 5 }, 'relay: maxLength: got 5 for a list, expected it for a stream only'],
    [{ to: { list: 'a' }, names: [] }, 'relay: names: got none'],
    [{ to: { list: 'a' }, queue: 'a b' }, 'relay: queue: got "a b"'],
    [{ to: { list: 'p1:{default}:dead' } }, "relay: to: got 'p1:{default}:dead', expected a key that does not begin"],
  ])('refuses %j', async (options, message) => {
    const { consumer } = await startApp([], { prefix: 'p1' });
    const relay = () => consumer.relay(options as never);
    expect(relay).toThrow(InvalidOptionsError);
    expect(relay).toThrow(message);
  });

  it('is refused in a process that is a producer only', async () => {
    const { consumer } = await startApp([], { role: 'producer' });
    expect(() => consumer.relay({ to: { list: key } })).toThrow(
      "relay: this process has role 'producer', which never claims",
    );
  });
});

describe('relayKey', () => {
  it('makes a key of the slot of the queue, which no prefix makes a key of the queue', () => {
    expect(relayKey('mail', 'out')).toBe('{mail}:relay:out');
  });

  it.each([
    ['a b', 'out', 'relayKey: queue: got "a b"'],
    ['mail', '', 'relayKey: name: got ""'],
  ])('refuses %j and %j', (queue, name, message) => {
    expect(() => relayKey(queue, name)).toThrow(InvalidOptionsError);
    expect(() => relayKey(queue, name)).toThrow(message);
  });
});
