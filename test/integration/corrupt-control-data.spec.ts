import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { OnScheduledJob } from '../../lib/index.js';
import { audit } from '../support/audit.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../support/queue-app.js';
import { until } from '../support/wait.js';

const ran: string[] = [];

class Handlers {
  @OnScheduledJob('work')
  work(payload: string): void {
    if (payload === 'damaged') throw new Error('no');
    ran.push(payload);
  }
}

let redis: Redis;
let app: QueueApp;
let base: string;

beforeEach(async () => {
  ran.length = 0;
  redis = new Redis(redisUrl());
  app = await startApp([Handlers], { autoStart: false, queues: { default: { leaseMs: 1_000 } } });
  base = `${app.prefix}:{default}:`;
});

afterEach(async () => {
  await stopApps();
  redis.disconnect();
});

describe('others run when somebody has damaged', () => {
  const DAMAGE: [string, (id: string) => Promise<unknown>][] = [
    ['the claim record of a waiting job', (id) => redis.hset(`${base}claims`, id, 'rubbish')],
    [
      'the claim record of a job whose lease has run out',
      async (id) => {
        await redis.zadd(`${base}active`, 1, id);
        await redis.hset(`${base}claims`, id, 'rubbish');
      },
    ],
    [
      'the envelope of a job whose lease has run out, and its claim record',
      async (id) => {
        await redis.zadd(`${base}active`, 1, id);
        await redis.hset(`${base}jobs`, id, 'rubbish');
      },
    ],
    [
      'the note of when the queue was last served',
      async () => {
        await redis.zadd(`${base}active`, 1, 'ghost');
        await redis.set(`${base}served`, 'rubbish');
      },
    ],
    ['the counter of fences', () => redis.set(`${base}fence`, 'rubbish')],
  ];

  it.each(DAMAGE)('%s', async (_, damage) => {
    await app.producer.schedule('work', 'before');
    const ref = await app.producer.schedule('work', 'damaged', { maxAttempts: 2 });
    await app.producer.schedule('work', 'after');
    await damage(ref.id);
    await app.consumer.start();
    await until('the others have run', () => ran.length === 2);
    await app.producer.schedule('work', 'later');
    await until('a later one has run', () => ran.length === 3);
    await until('all are settled', async () => (await app.inspector.stats()).completed === 3);
  });
});

it('a job whose stored backoff cannot be used is in some state afterwards, and its neighbours count', async () => {
  const told: string[] = [];
  app.events.events$.subscribe(({ type }) => told.push(type));
  await app.producer.schedule('work', 'before');
  const ref = await app.producer.schedule('work', 'damaged', { maxAttempts: 2 });
  const settings = '{"backoff":{"type":"fixed","delayMs":"soon"}}';
  await redis.hset(`${base}jobs`, ref.id, `5::work\n1700000000000 \n${settings}\n"damaged"`);
  await app.consumer.start();
  await until('the other has run', () => told.includes('completed') || told.includes('leaseLost'));
  expect(told).not.toContain('leaseLost');
  expect(await audit(redis, app.prefix)).toEqual([]);
});
