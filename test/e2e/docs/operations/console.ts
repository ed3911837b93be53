import { start } from 'node:repl';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  RedisScheduledQueueModule,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: process.env.REDIS_URL ?? 'redis://localhost:6379',
      prefix: process.env.QUEUE_PREFIX ?? 'sq',
      role: 'producer',
      // The same options as your workers have.
      queues: {},
    }),
  ],
})
class ConsoleModule {}

async function bootstrap() {
  const app = await NestFactory.createApplicationContext(ConsoleModule, { logger: ['error', 'warn'] });
  const repl = start('queue> ');
  repl.context.inspector = app.get(ScheduledQueueInspector);
  repl.context.producer = app.get(ScheduledQueueProducer);
  repl.once('exit', () => void app.close());
}
void bootstrap();
