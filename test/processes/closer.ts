// A process for tests that says when Redis is away, closes its application when it is told to, and ends when nothing keeps it.
import 'reflect-metadata';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledQueueConsumer,
  ScheduledQueueEvents,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const { REDIS, PREFIX } = process.env;

class Handlers {
  @OnScheduledJob('work')
  work(): void {}
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: REDIS!,
      prefix: PREFIX!,
      queues: { default: { streamEvents: { maxLength: 100 } } },
    }),
  ],
  providers: [Handlers],
})
class CloserModule {}

const say = (word: string) => process.send?.(word);
Logger.overrideLogger({ log() {}, warn: () => say('away'), error: () => say('away') });
const app = await NestFactory.createApplicationContext(CloserModule);
const consumer = app.get(ScheduledQueueConsumer);
await consumer.pop({ names: ['pulled'] });
void consumer.pop({ names: ['pulled'], waitMs: '1h' });
const events = app.get(ScheduledQueueEvents);
events.stream().subscribe().unsubscribe();
await new Promise<void>((resolve) => {
  events.stream({ from: '0' }).subscribe(() => resolve());
  void app.get(ScheduledQueueProducer).schedule('work', null, { delay: '1h' });
});
process.once('message', async () => {
  await app.close();
  say('closed');
  process.disconnect();
});
say('ready');
