import { Injectable } from '@nestjs/common';
import { ScheduledQueueConsumer } from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Printer {
  constructor(private readonly consumer: ScheduledQueueConsumer) {}

  /** Whether there was something to print, and it is settled. */
  async next(print: (page: string) => Promise<void>): Promise<boolean> {
    const [job] = await this.consumer.pop<string>({ queue: 'print' });
    if (!job) return false;
    try {
      await print(job.payload);
    } catch (error) {
      return job.fail(error);
    }
    return job.complete();
  }
}
