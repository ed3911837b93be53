import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { OnScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';

const QUEUES = Array.from({ length: 50 }, (_, i) => `queue-${i}`);

/** A handler in each of the queues. */
class Handlers {
  static readonly runs: string[] = [];
}
for (const queue of QUEUES) {
  const method = { value: () => void Handlers.runs.push(queue), writable: true, configurable: true };
  Object.defineProperty(Handlers.prototype, queue, method);
  OnScheduledJob('work', { queue })(Handlers.prototype, queue, method);
}

let server: OwnRedisServer;
let replica: OwnRedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await startOwnServer('--repl-diskless-sync-delay', '0');
  replica = await startOwnServer('--replicaof', '127.0.0.1', String(server.port));
  admin = new Redis(server.url);
  await until('the replica follows', async () => (await admin.info('replication')).includes('state=online'));
});
afterEach(stopApps);
afterAll(async () => {
  admin.disconnect();
  await Promise.all([server.stop(), replica.stop()]);
});

/** But for those of this test and of the replica. */
async function clients(): Promise<number> {
  const lines = ((await admin.client('LIST')) as string).trim().split('\n');
  return lines.filter((line) => !line.includes(' flags=S ')).length - 1;
}

it.each([
  [3, {}],
  [4, { minReplicas: 1 }],
])('an instance with fifty queues that are all used in every way has %d connections: %p', async (count, options) => {
  Handlers.runs.length = 0;
  const streamEvents = { maxLength: 10 };
  const queues = Object.fromEntries(QUEUES.map((queue) => [queue, { streamEvents }]));
  const { producer, inspector, consumer, events } = await startApp([Handlers], {
    connection: server.url,
    queues,
    ...options,
  });
  await Promise.all(
    QUEUES.map(async (queue) => {
      events.stream({ queue }).subscribe();
      consumer.pop({ queue, names: ['popped'], waitMs: 60_000 }).catch(() => {});
      await producer.schedule('work', null, { queue });
      await inspector.counts({ queue });
    }),
  );
  await until('each has run', () => Handlers.runs.length === QUEUES.length);
  expect(await clients()).toBe(count);
});
