import assert from 'node:assert/strict';
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

export async function losesItsLease(
  exports: Exports,
  producer: ScheduledQueueProducer,
  tester: ScheduledQueueTester,
): Promise<void> {
  tester.loseLeaseNext('export.careless');
  await producer.schedule('export.careless', null);
  await tester.drain();
  // The mistake: the lease was lost before the first row, and all ten are written.
  assert.equal(exports.written, 10);

  exports.written = 0;
  tester.loseLeaseNext('export.careful');
  await producer.schedule('export.careful', null);
  await tester.drain();
  assert.equal(exports.written, 0);
}
