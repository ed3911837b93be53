import { Controller, Get, Module } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { ScheduledQueueHealthIndicator } from 'nestjs-redis-scheduled-queue/terminus';

@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly queue: ScheduledQueueHealthIndicator,
  ) {}

  /** For the liveness probe: would a restart help? */
  @Get('live')
  @HealthCheck()
  live() {
    return this.health.check([() => this.queue.isLive('queue')]);
  }

  /** For the readiness probe: can this process schedule and work now? */
  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.queue.isHealthy('queue')]);
  }

  /** For an alarm: does somebody work, and in time? */
  @Get('jobs')
  @HealthCheck()
  jobs() {
    return this.health.check([
      () =>
        this.queue.isHealthy('jobs', {
          maxLatenessMs: '5m',
          maxDead: 100,
          minWorkers: 1,
        }),
    ]);
  }
}

@Module({
  imports: [TerminusModule],
  controllers: [HealthController],
  providers: [ScheduledQueueHealthIndicator],
})
export class HealthModule {}
