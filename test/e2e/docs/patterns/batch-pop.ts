import { Injectable } from '@nestjs/common';
import { ScheduledQueueConsumer } from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Rows {
  constructor(private readonly consumer: ScheduledQueueConsumer) {}

  /** Inserts what is due, a hundred at most, and answers how many that were. */
  async flush(insert: (rows: number[]) => Promise<void>): Promise<number> {
    const jobs = await this.consumer.pop<number>({ names: ['row'], count: 100 });
    if (jobs.length === 0) return 0;
    try {
      await insert(jobs.map(({ payload }) => payload));
    } catch (error) {
      await Promise.all(jobs.map((job) => job.fail(error)));
      throw error;
    }
    return (await Promise.all(jobs.map((job) => job.complete()))).filter(Boolean).length;
  }
}
