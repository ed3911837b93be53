// A producer process for tests: does what its parent asks, each batch of calls at the same time.
import 'reflect-metadata';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { RedisScheduledQueueModule, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';

type Ask = { schedule: string } | { cancel: string } | { reschedule: string; delay: number };

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: process.env.REDIS!,
      prefix: process.env.PREFIX!,
      role: 'producer',
    }),
  ],
})
class ProducerModule {}

Logger.overrideLogger(['error', 'warn']);
const app = await NestFactory.createApplicationContext(ProducerModule);
const producer = app.get(ScheduledQueueProducer);

async function answer(ask: Ask): Promise<boolean> {
  if ('schedule' in ask) return (await producer.schedule('work', null, { id: ask.schedule })).created;
  if ('cancel' in ask) return producer.cancel(ask.cancel);
  return producer.reschedule(ask.reschedule, { delay: ask.delay });
}

process.on('message', async (asks: Ask[]) => {
  process.send!(await Promise.all(asks.map(answer)));
});
process.send!('ready');
