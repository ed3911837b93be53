import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { OutageLog } from '../../../lib/store/redis/checks/outage-log.js';
import { ClientFactory } from '../../../lib/store/redis/link/client.js';
import { RedisConnection } from '../../../lib/store/redis/link/connection.js';
import { WakeListener } from '../../../lib/store/redis/link/wake-listener.js';
import { audit } from '../../support/audit.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { seededRandom } from '../../support/random.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

let server: OwnRedisServer;
let admin: Redis;
let proxy: TcpProxy;

beforeEach(async () => {
  server = await startOwnServer();
  admin = new Redis(server.url);
  proxy = await TcpProxy.start(server.url);
});

afterEach(async () => {
  await stopApps();
  admin.disconnect();
  await proxy.stop();
  await server.stop();
});

async function startWorker(
  options: { connection?: string; leaseMs?: number; maxSleepMs?: number; commandTimeoutMs?: number } = {},
) {
  const { connection = proxy.url, leaseMs = 15_000, maxSleepMs = 5_000, commandTimeoutMs = 5_000 } = options;
  const log = new LogLines();
  const queues = { default: { leaseMs, maxSleepMs } };
  const app = await startApp([Work], { connection, commandTimeoutMs, queues, prefix: newPrefix() }, { log });
  const work = app.get(Work);
  await app.producer.schedule('work', 'first');
  await until('it runs', async () => (await app.inspector.stats()).completed === 1);
  return { ...app, work, log };
}

it('connections that are cut at any moment, scripts under way included, neither lose a job nor run one twice', async () => {
  const { producer, inspector, work, prefix } = await startWorker();
  const random = seededRandom(7);
  let cuts = 0;
  const cutting = (async () => {
    for (; cuts < 25; cuts++) {
      await sleep(5 + 55 * random());
      proxy.cutAll();
    }
  })();
  const ids = new Set<string>();
  while (cuts < 25) {
    const calls = Array.from({ length: 20 }, (_, i) => producer.schedule('work', i));
    for (const call of await Promise.allSettled(calls)) if (call.status === 'fulfilled') ids.add(call.value.id);
  }
  await cutting;
  const { scheduled } = await inspector.stats();
  await until('all have run', async () => (await inspector.stats()).completed === scheduled);
  expect([...ids].filter((id) => !work.has(id))).toEqual([]);
  expect(work.twice()).toEqual([]);
  expect(await inspector.stats()).toMatchObject({ started: scheduled, recovered: 0, failed: 0 });
  expect(await audit(admin, prefix)).toEqual([]);
});

it('a slow way that cuts everything into pieces makes jobs late, and nothing else', async () => {
  // The longest script still arrives whole before the silence counts as that of a dead connection.
  proxy.slow({ pieceBytes: 5_000, delayMs: 100 });
  const { producer, inspector, work, prefix, log } = await startWorker({ leaseMs: 2_000 });
  await producer.schedule('long', 3_000);
  const refs = await producer.scheduleMany(Array.from({ length: 20 }, (_, payload) => ({ job: 'work', payload })));
  await until('all have run', async () => (await inspector.stats()).completed === 22);
  expect(refs.filter(({ id }) => !work.has(id))).toEqual([]);
  expect(work.twice()).toEqual([]);
  // What arrives a lease after it was asked for goes back and is claimed again.
  expect(await inspector.stats()).toMatchObject({ recovered: 0, failed: 0 });
  expect(log.lines).toEqual([]);
  expect(await audit(admin, prefix)).toEqual([]);
});

it('CLIENT KILL in a loop fails no call', async () => {
  const { producer, inspector, work, prefix } = await startWorker({ connection: server.url });
  for (let i = 0; i < 20; i++) {
    await Promise.all([producer.schedule('work', i), admin.call('CLIENT', 'KILL', 'TYPE', 'normal')]);
  }
  await until('all have run', async () => (await inspector.stats()).completed === 21);
  expect(work.twice()).toEqual([]);
  expect(await audit(admin, prefix)).toEqual([]);
});

it.each([
  { name: 'CLIENT PAUSE', begin: () => admin.client('PAUSE', 2_000), end: async () => {} },
  {
    name: 'a frozen server',
    begin: async () => server.freeze(),
    end: async () => {
      await sleep(2_000);
      server.thaw();
    },
  },
])('$name of two seconds makes calls late, and fails none', async ({ begin, end }) => {
  const { producer, inspector, work, prefix } = await startWorker({ connection: server.url });
  const running = await producer.schedule('long', 500);
  await until('it runs', () => work.has(running.id));
  await begin();
  const calls = [producer.schedule('work', 1), producer.schedule('work', 2, { id: 'mine' })];
  await end();
  for (const { id, created } of await Promise.all(calls)) {
    expect(created).toBe(true);
    await until('it runs', () => work.has(id));
  }
  await until('all are settled', async () => (await inspector.stats()).completed === 4);
  expect(work.twice()).toEqual([]);
  expect(await audit(admin, prefix)).toEqual([]);
});

it('a worker over whose connections nothing comes back any more runs what is due after at most commandTimeoutMs, maxSleepMs and 2 s', async () => {
  const commandTimeoutMs = 3_000;
  const maxSleepMs = 2_000;
  const { work, prefix } = await startWorker({ commandTimeoutMs, maxSleepMs });
  // By a way that is sound: the server answers others.
  const { producer } = await startApp([], { connection: server.url, prefix, role: 'producer' });
  for (let round = 1; round <= 3; round++) {
    proxy.blackhole();
    const { id } = await producer.schedule('work', round);
    const scheduledAt = performance.now();
    await until('it runs', () => work.has(id), commandTimeoutMs + maxSleepMs + 2_000);
    process.stdout.write(`${Math.round(performance.now() - scheduledAt)} ms late\n`);
  }
  expect(work.twice()).toEqual([]);
});

it('messages that are lost without a word make a job late by no more than maxSleepMs', async () => {
  const { producer, work } = await startWorker({ maxSleepMs: 1_500 });
  proxy.blackhole((request) => request.toLowerCase().includes('subscribe'));
  const calledAt = performance.now();
  const { id } = await producer.schedule('work', 'unheard');
  await until('it runs', () => work.has(id));
  expect(performance.now() - calledAt).toBeLessThan(1_500 + 1_000);
});

it('a subscriber over which nothing comes back any more is replaced after 15 s, and hears again', async () => {
  const { producer, work } = await startWorker({ leaseMs: 180_000, maxSleepMs: 60_000 });
  const before = proxy.connections;
  proxy.blackhole((request) => request.toLowerCase().includes('subscribe'));
  // Asked every 10 s, and given 5 s.
  await until('it connects anew', () => proxy.connections > before, 17_000);
  // It looks once it hears again.
  const { id } = await producer.schedule('work', 'heard');
  await until('it runs', () => work.has(id), 5_000);
});

it('a subscriber that is connected and gets no answer is replaced until it gets one', async () => {
  const clients = new ClientFactory(proxy.url, 1_000);
  const listener = new WakeListener(clients.subscriber(), new OutageLog(new LogLines()), 100, 300);
  try {
    proxy.swallowNew(true);
    listener.listen('channel', () => {});
    await until('it is replaced', () => proxy.connections >= 3);
    expect(listener.hears('channel')).toBe(false);
    proxy.swallowNew(false);
    await until('it hears', () => listener.hears('channel'));
  } finally {
    listener.close();
  }
});

it('a connection that is accepted and gets no answer is replaced, however little time each call has', async () => {
  const SILENCE_MS = 500;
  const client = new ClientFactory(proxy.url, SILENCE_MS).commands();
  const connection = new RedisConnection(client, new OutageLog(new LogLines()), SILENCE_MS);
  // Less than a connection may take until it counts as dead.
  const call = () =>
    connection.read('count', (redis) => redis.exists('key'), performance.now() + SILENCE_MS).catch(() => undefined);
  try {
    proxy.swallowNew(true);
    await call();
    proxy.swallowNew(false);
    await until('it is answered', async () => (await call()) === 0, 10 * SILENCE_MS);
    expect(proxy.connections).toBe(2);
  } finally {
    connection.close();
  }
});

it('a call that meets a connection which was accepted and gets no answer has time for another one', async () => {
  const SILENCE_MS = 1_000;
  const client = new ClientFactory(proxy.url, SILENCE_MS).commands();
  const connection = new RedisConnection(client, new OutageLog(new LogLines()), SILENCE_MS);
  try {
    proxy.swallowNew(true);
    connection.connect();
    await until('it is accepted', () => client.status === 'connect');
    proxy.swallowNew(false);
    // As many silences as there are in `commandTimeoutMs`.
    const giveUpAt = performance.now() + 2 * SILENCE_MS;
    expect(await connection.read('count', (redis) => redis.exists('key'), giveUpAt)).toBe(0);
  } finally {
    connection.close();
  }
});

it('a dead connection is replaced in time for a call, however many others are sent over it meanwhile', async () => {
  const SILENCE_MS = 1_000;
  const client = new ClientFactory(proxy.url, SILENCE_MS).commands();
  const connection = new RedisConnection(client, new OutageLog(new LogLines()), SILENCE_MS);
  const call = () => connection.read('count', (redis) => redis.exists('key'), performance.now() + 2 * SILENCE_MS);
  let isOver = false;
  try {
    expect(await call()).toBe(0);
    proxy.blackhole();
    const first = call().finally(() => {
      isOver = true;
    });
    const others: Promise<unknown>[] = [];
    while (!isOver) {
      others.push(call().catch(() => {}));
      await sleep(50);
    }
    expect(await first).toBe(0);
    expect(others.length).toBeGreaterThan(1);
    await Promise.all(others);
  } finally {
    connection.close();
  }
});

it('a process that stood still does not take its connection for dead: what came meanwhile lies there unread', async () => {
  const SILENCE_MS = 500;
  const client = new ClientFactory(proxy.url, SILENCE_MS).commands();
  const connection = new RedisConnection(client, new OutageLog(new LogLines()), SILENCE_MS);
  const call = () => connection.read('count', (redis) => redis.exists('key'), performance.now() + 20 * SILENCE_MS);
  try {
    expect(await call()).toBe(0);
    const answer = call();
    await sleep(0);
    for (const until = performance.now() + 3 * SILENCE_MS; performance.now() < until; );
    expect(await answer).toBe(0);
    expect(proxy.connections).toBe(1);
  } finally {
    connection.close();
  }
});

it('the first schedule after a time in which a proxy has swallowed everything has time for another connection', async () => {
  const commandTimeoutMs = 6_000;
  const { producer } = await startWorker({ commandTimeoutMs });
  proxy.blackhole();
  proxy.swallowNew(true);
  // The worker's turns go on over connections of their own, all of which are swallowed.
  const before = proxy.connections;
  await until('several connections have been tried', () => proxy.connections >= before + 3);
  proxy.swallowNew(false);
  expect(await producer.schedule('work', 1, { delay: '1h' })).toMatchObject({ created: true });
});

it('a subscriber that Redis cuts off, being killed or too slow for its messages, hears again by itself', async () => {
  const { producer, work, prefix } = await startWorker({ connection: server.url, maxSleepMs: 60_000 });
  const channels = async () => (await admin.pubsub('CHANNELS', `${prefix}:*`)) as string[];
  const [channel] = await until('it hears', async () => (await channels()).length === 1 && (await channels()));
  const subscriber = async () =>
    ((await admin.call('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string).match(/^id=(\d+)/)?.[1];
  await admin.config('SET', 'client-output-buffer-limit', 'pubsub 1mb 0 0');
  const cutOffs = [
    () => admin.publish(channel!, 'x'.repeat(8 * 1024 * 1024)),
    () => admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub'),
  ];
  for (const cutOff of cutOffs) {
    const before = await subscriber();
    await cutOff();
    await until('it hears anew', async () => (await channels()).length === 1 && (await subscriber()) !== before);
    const calledAt = performance.now();
    const { id } = await producer.schedule('work', 'heard');
    await until('it runs', () => work.has(id));
    expect(performance.now() - calledAt).toBeLessThan(2_000);
  }
});

it('a message that is no time harms nobody', async () => {
  const { producer, work, prefix } = await startWorker({ connection: server.url });
  const { id } = await producer.schedule('work', 'later', { delay: 500 });
  for (const channel of (await admin.pubsub('CHANNELS', `${prefix}:*`)) as string[]) {
    await admin.publish(channel, 'nonsense');
  }
  await until('it runs', () => work.has(id), BEFORE_NEXT_LOOK_MS);
});
