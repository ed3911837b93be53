import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { RedisScheduledQueueModule } from 'nestjs-redis-scheduled-queue';
import { overrideScheduledQueue, ScheduledQueueTester } from 'nestjs-redis-scheduled-queue/testing';

@Module({
  imports: [
    RedisScheduledQueueModule.forRootAsync({
      useFactory: () => ({ connection: process.env.REDIS_URL }),
    }),
  ],
})
export class AppModule {}

export async function wholeApplication() {
  const builder = Test.createTestingModule({ imports: [AppModule] });
  const app = await overrideScheduledQueue(builder, { now: '2027-01-01T09:00:00Z' }).compile();
  await app.init();
  return { app, tester: app.get(ScheduledQueueTester) };
}
