import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  OnScheduledJob,
  relayKey,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const reorder = defineScheduledJob<{ article: string }>('article.reorder');

/** Of an article; in the slot of the queue. */
export const stockKey = (article: string) =>
  relayKey('default', `stock/${article}`);

@Injectable()
export class Stock {
  readonly reordered: string[] = [];

  constructor(
    private readonly redis: Redis,
    private readonly producer: ScheduledQueueProducer,
  ) {}

  /** Takes one away, and schedules the look at what is left. */
  async sell(article: string) {
    const multi = this.redis.multi().decr(stockKey(article));
    await this.producer
      .in(multi)
      .schedule(reorder, { article }, { delay: '1s' });
    const answer = await multi.exec();
    // Redis rolls nothing back: see below.
    const failed = answer?.find(([error]) => error);
    if (failed) throw failed[0];
  }

  @OnScheduledJob(reorder)
  async reorder({ article }: { article: string }) {
    if (Number(await this.redis.get(stockKey(article))) < 10)
      this.reordered.push(article);
  }
}
