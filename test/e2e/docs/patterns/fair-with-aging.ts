import { Injectable } from '@nestjs/common';
import { type Duration, OnScheduledJob, type QueueOptions, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';

/** For `forRoot({ queues: { default: aging('1m') } })`, alike in every process. */
export const aging = (msPerLevel: Duration): QueueOptions => ({ ordering: { mode: 'aging', msPerLevel } });

@Injectable()
export class Tickets {
  readonly answered: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  open = (text: string, priority: number) => this.producer.dispatch('ticket', text, { priority });

  @OnScheduledJob('ticket')
  answer(text: string) {
    this.answered.push(text);
  }
}
