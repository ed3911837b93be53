// A process for tests that relays all jobs of a queue to the key that it is told, a stream or a list.
import 'reflect-metadata';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { RedisScheduledQueueModule, ScheduledQueueConsumer } from 'nestjs-redis-scheduled-queue';

const { REDIS, PREFIX, WORKER_ID, RELAY_TO, LEASE_MS = '2000', QUEUE_OPTIONS = '{}' } = process.env;

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: REDIS!,
      prefix: PREFIX!,
      workerId: WORKER_ID!,
      queues: { default: { leaseMs: Number(LEASE_MS), ...JSON.parse(QUEUE_OPTIONS) } },
    }),
  ],
})
class RelayModule {}

Logger.overrideLogger(['error', 'warn']);
const app = await NestFactory.createApplicationContext(RelayModule);
app.enableShutdownHooks();
app.get(ScheduledQueueConsumer).relay({ to: JSON.parse(RELAY_TO!), batch: 20 });
process.send?.('ready');
