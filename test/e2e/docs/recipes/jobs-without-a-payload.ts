import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const clearCache = defineScheduledJob('cache.clear');

@Injectable()
export class Cache {
  readonly entries = new Map<string, string>();

  constructor(private readonly producer: ScheduledQueueProducer) {}

  clearIn(delay: number) {
    return this.producer.schedule(clearCache, undefined, { delay });
  }

  @OnScheduledJob(clearCache)
  clear() {
    this.entries.clear();
  }
}
