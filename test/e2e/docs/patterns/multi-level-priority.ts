import { Injectable } from '@nestjs/common';
import { JobPriority, OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Notices {
  readonly sent: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  page = (text: string) => this.producer.dispatch('notice', text, { priority: JobPriority.CRITICAL });
  tell = (text: string) => this.producer.dispatch('notice', text);
  advertise = (text: string) => this.producer.dispatch('notice', text, { priority: JobPriority.BACKGROUND });

  @OnScheduledJob('notice')
  send(text: string) {
    this.sent.push(text);
  }
}
