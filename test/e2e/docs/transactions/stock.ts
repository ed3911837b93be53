import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  OnScheduledJob,
  relayKey,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const reorder = defineScheduledJob<{ article: string }>('article.reorder');

@Injectable()
export class Stock {
  readonly reordered: string[] = [];

  constructor(
    private readonly redis: Redis,
    private readonly producer: ScheduledQueueProducer,
  ) {}

  /** Takes one away and, with it or not at all, schedules the look at what is left. */
  async sell(article: string) {
    const multi = this.redis.multi().decr(relayKey('default', article));
    await this.producer
      .in(multi)
      .schedule(
        reorder,
        { article },
        { id: `reorder/${article}`, delay: '1s' },
      );
    await multi.exec();
  }

  @OnScheduledJob(reorder)
  async reorder({ article }: { article: string }) {
    if (Number(await this.redis.get(relayKey('default', article))) < 10)
      this.reordered.push(article);
  }
}
