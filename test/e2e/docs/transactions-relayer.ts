// A process that relays the outbox of docs/transactions.md without a pause, until it is killed.
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { RedisScheduledQueueModule } from 'nestjs-redis-scheduled-queue';
import pg from 'pg';
import { PooledDatabase } from '../../support/postgres.js';
import { Database, OutboxRelay } from './transactions/outbox.js';

const { REDIS, PREFIX, POSTGRES } = process.env;

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: REDIS!,
      prefix: PREFIX!,
      role: 'producer',
      commandTimeoutMs: 1_000,
    }),
  ],
  providers: [
    OutboxRelay,
    { provide: Database, useValue: new PooledDatabase(new pg.Pool({ connectionString: POSTGRES })) },
  ],
})
class RelayModule {}

Logger.overrideLogger(false);
const app = await NestFactory.createApplicationContext(RelayModule);
const relay = app.get(OutboxRelay);
process.send!('ready');
// While Redis is away a relay fails, and its rows stay.
for (;;) if ((await relay.relay().catch(() => 0)) === 0) await sleep(10);
