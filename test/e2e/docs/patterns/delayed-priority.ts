import { Injectable } from '@nestjs/common';
import { OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Programme {
  readonly shown: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  plan(items: { title: string; at: Date; priority: number }[]) {
    return this.producer.scheduleMany(
      items.map(({ title, at, priority }) => ({ job: 'show', payload: title, options: { at, priority } })),
    );
  }

  @OnScheduledJob('show')
  show(title: string) {
    this.shown.push(title);
  }
}
