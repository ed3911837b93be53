import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type INestApplicationContext, Logger, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { ScheduledQueueConsumer, ScheduledQueueInspector, ScheduledQueueProducer } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';

// The modules of the page read the environment when they are imported, so they are imported by their tests.

const secrets = mkdtempSync(join(tmpdir(), 'scheduled-queue-secrets-'));
let server: OwnRedisServer;
let redis: Redis;
const opened: INestApplicationContext[] = [];

beforeAll(async () => {
  Logger.overrideLogger(false);
  server = await startOwnServer();
  redis = new Redis(server.url);
  for (const name of ['2026', '2027']) writeFileSync(join(secrets, `queue-key-${name}`), randomBytes(32));
  Object.assign(process.env, { REDIS_URL: server.url, SECRETS: secrets });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((app) => app.close()));
  await stopApps();
});
afterAll(async () => {
  for (const name of ['REDIS_URL', 'SECRETS']) delete process.env[name];
  rmSync(secrets, { recursive: true });
  redis.disconnect();
  await server.stop();
});

async function open(module: Type) {
  const app = await Test.createTestingModule({ imports: [module] }).compile();
  await app.init();
  opened.push(app);
  return {
    producer: app.get(ScheduledQueueProducer),
    consumer: app.get(ScheduledQueueConsumer),
    inspector: app.get(ScheduledQueueInspector),
  };
}

it('MessagePack: a payload with bytes and dates arrives as it was sent', async () => {
  const { QueueModule } = await import('./codecs/message-pack.js');
  const { producer, consumer } = await open(QueueModule);
  const payload = { takenAt: new Date(0), bytes: Buffer.from([0xff, 0xd8]), size: 2n ** 60n, ratio: Number.NaN };
  await producer.schedule('photo.store', payload);
  const [job] = await consumer.pop({ waitMs: '5s' });
  expect(job!.payload).toEqual(payload);
  await job!.complete();
});

it('encryption: nothing of a payload is readable in Redis, and jobs of the last key are still read', async () => {
  const { EncryptedQueueModule, EncryptingCodec, Keys } = await import('./codecs/encryption.js');
  const { producer, consumer, inspector } = await open(EncryptedQueueModule);
  const before = await startApp([], {
    connection: server.url,
    prefix: 'sq',
    role: 'producer',
    codec: new EncryptingCodec(new Keys(), '2026'),
  });
  await before.producer.schedule('salary.pay', { iban: 'CH93' }, { id: 'old', priority: 1 });
  await producer.schedule('salary.pay', { iban: 'CH94' }, { id: 'new' });
  for (const id of ['old', 'new'])
    expect((await redis.hgetBuffer('sq:{default}:jobs', id))!.includes('CH9')).toBe(false);
  expect(await inspector.job('old')).toMatchObject({ codec: 'aes-256-gcm.2026', payload: { iban: 'CH93' } });
  expect(await inspector.job('new')).toMatchObject({ codec: 'aes-256-gcm.2027', payload: { iban: 'CH94' } });
  const jobs = await consumer.pop({ count: 2 });
  expect(jobs.map(({ payload }) => payload)).toEqual([{ iban: 'CH93' }, { iban: 'CH94' }]);
  await Promise.all(jobs.map((job) => job.complete()));
});
