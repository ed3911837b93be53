import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { asTenant } from '../../support/acl.js';
import { type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';

// Tenants that share a Redis: each has a prefix, and a user that may touch nothing else. The names begin alike, as names of tenants do.
const TENANTS = ['shop', 'shop2', 'shop:eu'] as const;
const WHOLE_SERVER = [
  ...['KEYS *', 'SCAN 0', 'RANDOMKEY', 'SELECT 1', 'MONITOR', 'INFO', 'CLIENT LIST', 'PUBSUB CHANNELS', 'ACL LIST'],
  ...['CONFIG GET *', 'SCRIPT FLUSH', 'FUNCTION LIST', 'FLUSHALL', 'SHUTDOWN'],
];
const QUEUES = { default: { keepCompleted: 10, streamEvents: { maxLength: 10 } } } as const;

@Injectable()
class Handlers {
  readonly seen: unknown[] = [];

  @OnScheduledJob('work')
  work(payload: unknown, { queue }: ScheduledJob): void {
    this.seen.push(`${queue} ${payload}`);
  }
}

let server: OwnRedisServer;
let admin: Redis;
const connections = new Map<string, string>();
const clients = new Map<string, Redis>();

beforeAll(async () => {
  server = await startOwnServer();
  admin = new Redis(server.url);
  for (const prefix of TENANTS) {
    connections.set(prefix, await asTenant(server.url, prefix));
    const client = new Redis(connections.get(prefix)!, { enableReadyCheck: false, disableClientInfo: true });
    clients.set(prefix, client);
  }
});
afterEach(async () => {
  await stopApps();
  await admin.flushall();
});
afterAll(async () => {
  for (const client of clients.values()) client.disconnect();
  admin.disconnect();
  await server.stop();
});

const appOf = (prefix: string, connection = connections.get(prefix)!): Promise<QueueApp> =>
  startApp([Handlers], { connection, prefix, queues: QUEUES, commandTimeoutMs: 1_000 });

it('each runs its own jobs and sees its own queues, though queues, jobs and ids have the same names', async () => {
  const apps = await Promise.all(TENANTS.map((prefix) => appOf(prefix)));
  await Promise.all(
    apps.map(async ({ producer, inspector, prefix }, i) => {
      await producer.schedule('work', prefix, { id: 'the same' });
      await producer.schedule('work', prefix, { queue: `only-of-${i}`, delay: '1h' });
      await until('it has run', async () => (await inspector.stats()).completed === 1);
      const queues = await inspector.queues();
      expect(queues.map(({ name }) => name).sort()).toEqual(['default', `only-of-${i}`]);
    }),
  );
  expect(apps.map((app) => app.get(Handlers).seen)).toEqual(TENANTS.map((prefix) => [`default ${prefix}`]));
});

it('one whose application is set to the prefix of another can neither schedule nor ask', async () => {
  for (const other of ['shop2', 'shop:eu']) {
    const { producer, inspector } = await appOf(other, connections.get('shop'));
    const refused = expect.objectContaining({ code: 'QUEUE_UNAVAILABLE', redisCode: 'NOPERM' });
    await expect(producer.schedule('work', 1)).rejects.toEqual(refused);
    await expect(inspector.stats()).rejects.toEqual(refused);
  }
  expect(await admin.keys('*')).toEqual([]);
});

describe.each(TENANTS)('by hand, the user %s', (tenant) => {
  const others = TENANTS.filter((prefix) => prefix !== tenant);
  const client = () => clients.get(tenant)!;
  const refused = (call: Promise<unknown>) =>
    expect(call).rejects.toThrow(/NOPERM|ACL failure|can't (access|run|publish)/);
  let keys: string[];

  beforeEach(async () => {
    for (const prefix of others) await (await appOf(prefix)).producer.schedule('work', 1, { delay: '1h', tags: ['a'] });
    keys = await admin.keys('*');
    expect(keys.length).toBeGreaterThan(10);
  });

  it('reads and writes no key of another, not from a script either', async () => {
    for (const key of keys) {
      await refused(client().type(key));
      await refused(client().del(key));
      await refused(client().eval(`return redis.call('TYPE', KEYS[1])`, 1, key));
      await refused(client().eval(`return redis.call('TYPE', ARGV[1])`, 0, key));
    }
  });

  it('hears and wakes nobody else', async () => {
    for (const prefix of others)
      for (const channel of [`${prefix}:{default}:wake:w`, `${prefix}:{default}:events`]) {
        await refused(client().subscribe(channel));
        await refused(client().publish(channel, '0'));
        await refused(client().eval(`return redis.call('PUBLISH', ARGV[1], '0')`, 0, channel));
      }
    await refused(client().psubscribe('*'));
  });

  it('asks and changes nothing that is about the whole server', async () => {
    for (const call of WHOLE_SERVER) {
      const [command, ...args] = call.split(' ');
      await refused(client().call(command!, ...args));
    }
  });
});

it('a relay moves to keys of a pattern that names the tenant', async () => {
  const { consumer, producer } = await appOf('shop', await asTenant(server.url, 'shop', '~shop:out:{*'));
  await producer.schedule('row', 7);
  const relay = consumer.relay({ names: ['row'], to: { list: 'shop:out:{default}:rows' } });
  await until('it is moved', async () => (await admin.llen('shop:out:{default}:rows')) === 1);
  await relay.stop();
});
