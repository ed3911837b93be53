import { Injectable } from '@nestjs/common';
import { OnScheduledJob, type ScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import type { ScheduledQueueTester } from 'nestjs-redis-scheduled-queue/testing';

@Injectable()
export class Exports {
  written = 0;

  @OnScheduledJob('export.careless')
  async careless() {
    for (let row = 0; row < 10; row++) await this.write();
  }

  @OnScheduledJob('export.careful')
  async careful(_payload: unknown, job: ScheduledJob) {
    for (let row = 0; row < 10; row++) {
      job.signal.throwIfAborted();
      await this.write();
    }
  }

  private write(): Promise<void> {
    this.written++;
    return Promise.resolve();
  }
}

/** How many rows are written under a lease that is lost before the first one. */
export async function rowsAfterLoss(
  name: string,
  exports: Exports,
  producer: ScheduledQueueProducer,
  tester: ScheduledQueueTester,
): Promise<number> {
  exports.written = 0;
  tester.loseLeaseNext(name);
  await producer.schedule(name, null);
  await tester.drain();
  return exports.written;
}
