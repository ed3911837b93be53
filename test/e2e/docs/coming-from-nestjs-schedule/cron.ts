import { Injectable } from '@nestjs/common';
import { CronExpression } from '@nestjs/schedule';
import {
  OnScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Reports {
  readonly built: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  // Was @Cron(CronExpression.EVERY_DAY_AT_MIDNIGHT, { timeZone: 'Europe/Paris' })
  @OnScheduledJob('reports.build', {
    cron: CronExpression.EVERY_DAY_AT_MIDNIGHT,
    timeZone: 'Europe/Paris',
    overlap: 'skip',
  })
  build() {
    this.built.push('daily');
  }

  // Was @Timeout(5_000), which each process ran, and ran again at each start.
  welcome(userId: string) {
    return this.producer.schedule(
      'users.welcome',
      { userId },
      { delay: '5s', id: `users.welcome/${userId}` },
    );
  }

  @OnScheduledJob('users.welcome')
  sendWelcome({ userId }: { userId: string }) {
    this.built.push(userId);
  }
}
