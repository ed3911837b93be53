import { Controller, Get, Header, Module } from '@nestjs/common';
import { RedisScheduledQueueModule } from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueMetricsModule } from 'nestjs-redis-scheduled-queue/prometheus';
import { register } from 'prom-client';

@Controller('metrics')
export class MetricsController {
  @Get()
  @Header('Content-Type', register.contentType)
  metrics(): Promise<string> {
    return register.metrics();
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({ connection: process.env.REDIS_URL ?? 'redis://localhost:6379' }),
    ScheduledQueueMetricsModule.forRoot(),
  ],
  controllers: [MetricsController],
})
export class MetricsAppModule {}
