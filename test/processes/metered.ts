// A process for tests that works on queue `default`, schedules jobs when it is told to, and answers scrapes of its metrics.
import 'reflect-metadata';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  JobOutcome,
  OnScheduledJob,
  RedisScheduledQueueModule,
  type ScheduledJob,
  ScheduledQueueProducer,
  UnrecoverableJobError,
} from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueMetricsModule } from 'nestjs-redis-scheduled-queue/prometheus';
import { register } from 'prom-client';

const { REDIS, PREFIX } = process.env;

class Handlers {
  @OnScheduledJob('fine')
  async fine(): Promise<void> {
    // So long that the others get jobs as well.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }

  @OnScheduledJob('retries', { backoff: { type: 'fixed', delayMs: 1 } })
  retries(_: unknown, job: ScheduledJob): void {
    if (job.attempt < 3) throw new Error('twice');
  }

  @OnScheduledJob('dies')
  dies(): void {
    throw new UnrecoverableJobError('no use');
  }

  @OnScheduledJob('discards')
  discards(): JobOutcome {
    return JobOutcome.discard('no use');
  }

  @OnScheduledJob('snoozes')
  snoozes(): JobOutcome {
    return JobOutcome.snooze('1h');
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: REDIS!,
      prefix: PREFIX!,
      queues: { default: { concurrency: 2, keepCompleted: 1_000 } },
    }),
    ScheduledQueueMetricsModule.forRoot(),
  ],
  providers: [Handlers],
})
class MeteredModule {}

Logger.overrideLogger(false);
const app = await NestFactory.createApplicationContext(MeteredModule);
const producer = app.get(ScheduledQueueProducer);
process.on('message', async (message: { schedule: string[] } | 'scrape') => {
  if (message === 'scrape') process.send!(await register.metrics());
  else
    process.send!(await Promise.all(message.schedule.map((name) => producer.schedule(name, {}).then(({ id }) => id))));
});
process.send!('ready');
