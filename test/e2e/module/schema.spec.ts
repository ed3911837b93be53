import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { QueueUnavailableError } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

let server: OwnRedisServer;
let proxy: TcpProxy;
let admin: Redis;
let log: LogLines;
let prefix: string;

beforeAll(async () => {
  server = await startOwnServer();
  proxy = await TcpProxy.start(server.url);
  admin = new Redis(server.url);
});

afterAll(async () => {
  admin.disconnect();
  await proxy.stop();
  await server.stop();
});

beforeEach(() => {
  log = new LogLines();
  prefix = newPrefix();
});

afterEach(stopApps);

const statsOf = (queue: string) => `${prefix}:{${queue}}:stats`;
const start = (role: 'producer' | 'worker') =>
  startApp(role === 'worker' ? [Work] : [], { prefix, role, connection: proxy.url }, { log });

async function refusal(call: Promise<unknown>): Promise<QueueUnavailableError> {
  const error = await call.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(QueueUnavailableError);
  return error;
}

/** Every key of the queue, with its value as Redis stores it. */
async function dump(queue: string): Promise<Record<string, string>> {
  const keys = (await admin.keys(`${prefix}:{${queue}}:*`)).sort();
  const values = await Promise.all(keys.map(async (key) => (await admin.dumpBuffer(key))!.toString('hex')));
  return Object.fromEntries(keys.map((key, i) => [key, values[i]!]));
}

const completed = async ({ inspector }: QueueApp) => (await inspector.stats()).completed;

it('a queue of a newer schema is refused by producer, inspector and worker, unchanged, until its number is one that is known', async () => {
  const before = await start('producer');
  await before.producer.schedule('work', 1, { id: 'a' });
  await admin.hset(statsOf('default'), 'schema', '3');
  await stopApps();
  const data = await dump('default');

  const { producer, inspector } = await start('producer');
  const error = await refusal(producer.schedule('work', 2, { id: 'b' }));
  expect(error).toMatchObject({ outcome: 'refused', redisCode: 'SCHEMA', jobId: 'b', queue: 'default' });
  expect(error.message).toContain(
    `${prefix}:{default} holds data of schema 3 (HGET ${statsOf('default')} schema), and this version (0.1.0) knows schema 1 to 2. Nothing was changed.`,
  );
  const calls = [
    () => producer.cancel('a'),
    () => producer.upsertRecurrence('r', 'work', null, { everyMs: 60_000 }),
    () => inspector.counts(),
    // Reads by a plain command.
    () => inspector.stats(),
    () => inspector.job('a'),
    () => inspector.pause(),
    () => inspector.clear(),
  ];
  for (const call of calls) expect((await refusal(call())).redisCode).toBe('SCHEMA');
  expect(await producer.schedule('work', 3, { queue: 'other' })).toMatchObject({ created: true });

  const worker = await start('worker');
  await until('the worker says so', () => log.starting('error').length > 0);
  // It has tried again meanwhile.
  expect((await refusal(worker.inspector.workers())).redisCode).toBe('SCHEMA');
  expect(log.starting('error')).toEqual([
    expect.stringMatching(/^error The worker of queue 'default' cannot go on and tries .*: SCHEMA .* of schema 3 /),
  ]);
  expect(await dump('default')).toEqual(data);

  await admin.hset(statsOf('default'), 'schema', '1');
  await until('the job runs', () => worker.get(Work).has('a'));
  await until('it has ended', async () => (await completed(worker)) === 1);
});

it('a queue whose number is raised while a process works there is refused from its next connection on', async () => {
  const { producer } = await start('producer');
  await producer.schedule('work', 1, { id: 'a' });
  await admin.hset(statsOf('default'), 'schema', '3');
  proxy.cutAll();
  expect((await refusal(producer.cancel('a'))).redisCode).toBe('SCHEMA');
});

it('data without a number is of the first schema, and gets it with the next connection; a queue that is only looked at gets none', async () => {
  const { producer, inspector } = await start('producer');
  await producer.schedule('work', 1);
  expect(await admin.hget(statsOf('default'), 'schema')).toBeNull();
  proxy.cutAll();
  expect(await inspector.stats()).toEqual(expect.not.objectContaining({ schema: 1 }));
  expect(await admin.hget(statsOf('default'), 'schema')).toBe('1');
  expect(await inspector.counts({ queue: 'misspelt' })).toMatchObject({ due: 0 });
  expect(await dump('misspelt')).toEqual({});
});

it('a worker that connects again while Redis is full drains a queue without a number', async () => {
  const worker = await start('worker');
  await worker.producer.schedule('work', 1, { id: 'a' });
  await until('it has ended', async () => (await completed(worker)) === 1);
  await worker.inspector.pause();
  await worker.producer.schedule('work', 2, { id: 'b' });
  await admin.hdel(statsOf('default'), 'schema');
  await admin.config('SET', 'maxmemory', '1');
  try {
    proxy.cutAll();
    await worker.inspector.resume();
    await until('the other one has ended', async () => (await completed(worker)) === 2);
    expect(await admin.hexists(statsOf('default'), 'schema')).toBe(0);
  } finally {
    await admin.config('SET', 'maxmemory', '0');
  }
});

it.each<[string, (app: QueueApp) => Promise<unknown>]>([
  ['a set', ({ producer }) => producer.openSet('s')],
  ['a chain', ({ producer }) => producer.schedule('work', 1, { delay: '1h', then: { job: 'work', payload: 2 } })],
  [
    'many jobs, one with a chain',
    ({ producer }) =>
      producer.scheduleMany([
        { job: 'work', payload: 1 },
        { job: 'work', payload: 1, options: { then: { job: 'work', payload: 2 } } },
      ]),
  ],
  [
    'a chain in the place of a job',
    async ({ producer }) => {
      const then = { job: 'work', payload: 2 };
      await producer.schedule('work', 1, { id: 'a', delay: '1h', onDuplicate: 'replace', then });
    },
  ],
  [
    "a chain in the caller's MULTI",
    async ({ producer }) => {
      const multi = admin.multi();
      await producer.in(multi).schedule('work', 1, { then: { job: 'work', payload: 2 } });
      await multi.exec();
    },
  ],
])('a queue with %s is of schema 2 from then on, and queues without stay of schema 1', async (_, use) => {
  const app = await start('producer');
  await app.producer.schedule('work', 1, { id: 'plain', tags: ['a'] });
  await app.producer.schedule('work', 1, { queue: 'other' });
  const schemas = () => Promise.all(['default', 'other'].map((queue) => admin.hget(statsOf(queue), 'schema')));
  const reconnect = async () => {
    proxy.cutAll();
    await app.inspector.stats();
    await app.inspector.stats({ queue: 'other' });
  };
  await reconnect();
  expect(await schemas()).toEqual(['1', '1']);
  await use(app);
  expect(await schemas()).toEqual(['2', '1']);
  await reconnect();
  expect(await schemas()).toEqual(['2', '1']);
});
