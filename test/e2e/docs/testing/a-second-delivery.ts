import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, type ScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import type { ScheduledQueueTester } from 'nestjs-redis-scheduled-queue/testing';

@Injectable()
export class Credits {
  balance = 0;
  private readonly booked = new Set<string>();

  @OnScheduledJob('credit.naive')
  naive() {
    this.balance += 10;
  }

  @OnScheduledJob('credit.once')
  once(_payload: unknown, job: ScheduledJob) {
    if (this.booked.has(job.id)) return;
    this.booked.add(job.id);
    this.balance += 10;
  }
}

export async function deliveredTwice(
  credits: Credits,
  producer: ScheduledQueueProducer,
  tester: ScheduledQueueTester,
): Promise<void> {
  tester.deliverTwice();

  await producer.schedule('credit.naive', null);
  await tester.drain();
  // The mistake: one job has booked 10 twice.
  assert.equal(credits.balance, 20);

  credits.balance = 0;
  await producer.schedule('credit.once', null);
  await tester.drain();
  assert.equal(credits.balance, 10);
}
