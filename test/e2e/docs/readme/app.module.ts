import { Module } from '@nestjs/common';
import { RedisScheduledQueueModule } from 'nestjs-redis-scheduled-queue';
import { Reminders } from './reminders.js';

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: process.env.REDIS_URL ?? 'redis://localhost:6379',
      prefix: 'shop',
    }),
  ],
  providers: [Reminders],
})
export class AppModule {}
