import { Module } from '@nestjs/common';
import { RedisScheduledQueueModule } from '../../lib/index.js';
import { DashboardModule } from './dashboard/dashboard.module.js';
import { LocalRedis } from './redis/local-redis.js';
import { RedisModule } from './redis/redis.module.js';
import { RemindersModule } from './reminders/reminders.module.js';

@Module({
  imports: [
    // First, so that it is shut down last: the queue still needs Redis while it drains.
    RedisModule,
    RedisScheduledQueueModule.forRootAsync({
      inject: [LocalRedis],
      useFactory: (redis: LocalRedis) => ({
        connection: redis.url,
        prefix: process.env.SAMPLE_PREFIX ?? 'sample',
        shutdownTimeoutMs: '5s',
        // Kept only so that GET /reminders/:id still knows a reminder that was sent.
        queues: { default: { keepCompleted: 100 } },
      }),
    }),
    RemindersModule,
    DashboardModule,
  ],
})
export class AppModule {}
