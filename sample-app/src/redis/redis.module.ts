import { Global, Module } from '@nestjs/common';
import { LocalRedis } from './local-redis.js';

@Global()
@Module({
  providers: [{ provide: LocalRedis, useFactory: LocalRedis.start }],
  exports: [LocalRedis],
})
export class RedisModule {}
