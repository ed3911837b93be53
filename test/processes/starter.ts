// A process for tests that starts an application which never uses Redis, closes it at once, and ends when nothing keeps it.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { RedisScheduledQueueModule } from 'nestjs-redis-scheduled-queue';

@Module({ imports: [RedisScheduledQueueModule.forRoot({ connection: JSON.parse(process.env.CONNECTION!) })] })
class StarterModule {}

const app = await NestFactory.createApplicationContext(StarterModule, { logger: false });
// Until the client is in the middle of it.
await new Promise((resolve) => setTimeout(resolve, Number(process.env.CLOSE_AFTER_MS)));
await app.close();
process.send?.('closed');
