import { RedisScheduledQueueModule } from 'nestjs-redis-scheduled-queue';

/** For the imports of the shop: `queueOf('shop')`. */
export const queueOf = (app: string) =>
  RedisScheduledQueueModule.forRoot({
    connection: process.env.REDIS_URL ?? 'redis://localhost:6379',
    prefix: `${app}-${process.env.NODE_ENV ?? 'development'}`,
  });
