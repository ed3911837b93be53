import { Injectable } from '@nestjs/common';
import { type Duration, OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Reminders {
  readonly sent: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  remind(user: string, delay: Duration) {
    return this.producer.schedule('remind', user, { delay });
  }

  @OnScheduledJob('remind')
  send(user: string) {
    this.sent.push(user);
  }
}
