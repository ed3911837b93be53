import { Injectable, Module } from '@nestjs/common';
import {
  InjectScheduledQueue,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Reports {
  readonly made: string[] = [];

  constructor(
    private readonly producer: ScheduledQueueProducer,
    @InjectScheduledQueue(ScheduledQueueProducer, 'reports')
    private readonly reports: ScheduledQueueProducer,
  ) {}

  order(title: string) {
    return this.reports.dispatch('report.make', title);
  }

  @OnScheduledJob('report.make', { instance: 'reports' })
  async make(title: string) {
    this.made.push(title);
    await this.producer.dispatch('report.made', title);
  }

  @OnScheduledJob('report.made')
  announce(title: string) {
    this.made.push(`${title}, announced`);
  }
}

const { REDIS_URL, REPORTS_REDIS_URL } = process.env;

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: REDIS_URL ?? 'redis://localhost:6379',
      prefix: 'shop',
    }),
    RedisScheduledQueueModule.forRoot({
      name: 'reports',
      connection: REPORTS_REDIS_URL ?? 'redis://localhost:6380',
      prefix: 'reports',
    }),
  ],
  providers: [Reports],
})
export class AppModule {}
