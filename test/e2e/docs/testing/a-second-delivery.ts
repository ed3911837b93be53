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

/** What one job is worth that comes twice. */
export async function deliveredTwice(
  name: string,
  credits: Credits,
  producer: ScheduledQueueProducer,
  tester: ScheduledQueueTester,
): Promise<number> {
  credits.balance = 0;
  tester.deliverTwice();
  await producer.schedule(name, null);
  await tester.drain();
  return credits.balance;
}
