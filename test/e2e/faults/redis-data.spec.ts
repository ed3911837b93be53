import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { queueKeys } from '../../../lib/store/redis/keys.js';
import { audit } from '../../support/audit.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

let admin: Redis;
let server: OwnRedisServer | undefined;
let log: LogLines;

beforeEach(() => {
  admin = new Redis(redisUrl());
  log = new LogLines();
});

afterEach(async () => {
  admin.disconnect();
  await stopApps();
  await server?.stop();
  server = undefined;
});

const refusal = (call: Promise<unknown>) => call.catch((error: unknown) => error);

async function runsOne({ producer, get }: QueueApp): Promise<void> {
  const { id } = await producer.schedule('work', 'one');
  await until('it runs', () => get(Work).has(id));
}

it('after FLUSHALL workers go on with what is scheduled then', async () => {
  server = await startOwnServer();
  const own = new Redis(server.url);
  try {
    const app = await startApp([Work], { connection: server.url }, { log });
    await runsOne(app);
    await app.producer.schedule('work', 'lost', { delay: '1h' });
    const { id } = await app.producer.schedule('long', 800);
    await until('it runs', () => app.get(Work).has(id));
    await own.flushall();
    await runsOne(app);
    await until('what ran is told not to count', () => log.lines.length > 0);
    expect(log.lines).toEqual([expect.stringContaining(`(${id})`)]);
    await until('it is settled', async () => (await app.inspector.stats()).completed === 1);
    expect(await app.inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
    expect(await audit(own, app.prefix)).toEqual([]);
  } finally {
    own.disconnect();
  }
});

it.each(['jobs', 'usedIds', 'levels', 'sleeping'] as const)(
  "a key '%s' of somebody else's kind refuses schedules, nothing is half written, and all goes on without it",
  async (name) => {
    const prefix = newPrefix();
    const keys = queueKeys(prefix, 'default');
    await admin.rpush(keys[name], 'not ours');
    const app = await startApp([Work], { prefix }, { log });
    const error = await refusal(app.producer.schedule('work', 'payload', { id: 'again' }));
    expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE', redisCode: 'WRONGTYPE', jobId: 'again' });
    await admin.del(keys[name]);
    expect(await audit(admin, prefix)).toEqual([]);
    expect(await app.producer.schedule('work', 'payload', { id: 'again' })).toMatchObject({ created: true });
    await until('it runs', () => app.get(Work).has('again'));
    await until('it is settled', async () => (await app.inspector.stats()).completed === 1);
    expect(await audit(admin, prefix)).toEqual([]);
  },
);

it.each(['jobs', 'levels', 'heads:5', 'lane:5::work'])(
  "a key '%s' of somebody else's kind refuses the job of most calls whole",
  async (name) => {
    const prefix = newPrefix();
    const key = `${queueKeys(prefix, 'default').base}${name}`;
    await admin.rpush(key, 'not ours');
    const app = await startApp([Work], { prefix }, { log });
    const error = await refusal(app.producer.schedule('work', 'refused'));
    expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE', redisCode: 'WRONGTYPE' });
    await admin.del(key);
    expect(await audit(admin, prefix)).toEqual([]);
    const { id } = await app.producer.schedule('work', 'payload');
    await until('it runs', () => app.get(Work).has(id));
    await until('it is settled', async () => (await app.inspector.stats()).completed === 1);
    expect((await app.inspector.stats()).scheduled).toBe(1);
    expect(await audit(admin, prefix)).toEqual([]);
  },
);

it.each(['active', 'dead', 'completed', 'results', 'fence', 'served'] as const)(
  "a key '%s' of somebody else's kind stops the worker with an error, nothing is half written, and all goes on without it",
  async (name) => {
    const prefix = newPrefix();
    const keys = queueKeys(prefix, 'default');
    await admin.rpush(keys[name], 'not ours');
    const producer = await startApp([], { prefix, role: 'producer' });
    await producer.producer.schedule('work', 'payload', { id: 'one' }).catch(() => {});
    const app = await startApp([Work], { prefix }, { log });
    await until('the worker says so, or has no need of it', () => log.lines.length > 0 || app.get(Work).has('one'));
    await admin.del(keys[name]);
    await producer.producer.schedule('work', 'payload', { id: 'one' });
    await until('it runs', () => app.get(Work).has('one'));
    await until('it is settled', async () => (await app.inspector.stats()).completed === 1);
    expect(app.get(Work).twice()).toEqual([]);
    expect(await audit(admin, prefix)).toEqual([]);
  },
);

it("lists of sleepers of somebody else's kind keep no job from running, once", async () => {
  const prefix = newPrefix();
  // No turn lists its session meanwhile: such a turn would tell the key.
  const app = await startApp([Work], { prefix, queues: { default: { leaseMs: '10m' } } }, { log });
  const sleepers = await until('it sleeps', async () => (await admin.keys(`${prefix}:{default}:sleepers:*`))[0]);
  const refs = [
    await app.producer.schedule('work', 1, { delay: 500 }),
    await app.producer.schedule('work', 2, { delay: 900 }),
  ];
  await admin.del(sleepers);
  await admin.rpush(sleepers, 'not ours');
  await until('both run', () => refs.every(({ id }) => app.get(Work).has(id)));
  await until('both are settled', async () => (await app.inspector.stats()).completed === 2);
  expect(await app.inspector.stats()).toMatchObject({ started: 2, completed: 2, recovered: 0 });
  expect(await admin.type(sleepers)).toBe('list');
  await admin.del(sleepers);
  expect(await audit(admin, prefix)).toEqual([]);
});

it('a job whose payload somebody deleted is told as dead, and the others run', async () => {
  const prefix = newPrefix();
  const app = await startApp([Work], { prefix }, { log });
  await app.producer.schedule('work', 1, { id: 'robbed', delay: 500 });
  const other = await app.producer.schedule('work', 2, { delay: 500 });
  await admin.hdel(queueKeys(prefix, 'default').jobs, 'robbed');
  await until('the other runs', () => app.get(Work).has(other.id));
  expect((await app.inspector.list('dead')).map(({ id }) => id)).toEqual(['robbed']);
  expect(app.get(Work).has('robbed')).toBe(false);
  await until('it is settled', async () => (await app.inspector.stats()).completed === 1);
  expect(await audit(admin, prefix)).toEqual([]);
});
