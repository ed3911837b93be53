import { Injectable } from '@nestjs/common';
import { type JobRef, OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Mails {
  readonly sent: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  now = (to: string) => this.producer.dispatch('mail', to);
  later = (to: string, at: Date) => this.producer.schedule('mail', to, { at });
  undo = (mail: JobRef) => this.producer.cancel(mail);

  @OnScheduledJob('mail')
  send(to: string) {
    this.sent.push(to);
  }
}
