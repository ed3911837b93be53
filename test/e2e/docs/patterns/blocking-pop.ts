import { Injectable } from '@nestjs/common';
import { type PoppedJob, QueueClosedError, ScheduledQueueConsumer } from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Pages {
  constructor(private readonly consumer: ScheduledQueueConsumer) {}

  /** One page to visit after the other, until the application closes. */
  async *toVisit(): AsyncGenerator<PoppedJob<string>> {
    try {
      for (;;) yield* await this.consumer.pop<string>({ names: ['visit'], waitMs: '30s' });
    } catch (error) {
      if (!(error instanceof QueueClosedError)) throw error;
    }
  }
}
