import { Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { RedisScheduledQueueModule } from 'nestjs-redis-scheduled-queue';

@Module({
  imports: [
    RedisScheduledQueueModule.forRootAsync({
      imports: [ConfigModule.forRoot()],
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({
        connection: config.getOrThrow<string>('REDIS_URL'),
        prefix: config.get<string>('QUEUE_PREFIX', 'shop'),
        queues: {
          default: {
            // Environment variables are strings.
            concurrency: Number(config.get('QUEUE_CONCURRENCY', 10)),
          },
        },
      }),
    }),
  ],
})
export class AppModule {}
