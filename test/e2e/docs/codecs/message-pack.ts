import { Module } from '@nestjs/common';
import { RedisScheduledQueueModule } from 'nestjs-redis-scheduled-queue';
import { messagePackCodec } from 'nestjs-redis-scheduled-queue/msgpack';

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: process.env.REDIS_URL!,
      codec: messagePackCodec,
    }),
  ],
})
export class QueueModule {}
