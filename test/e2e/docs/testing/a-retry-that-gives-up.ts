import { Injectable } from '@nestjs/common';
import { defineScheduledJob, OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import type { ScheduledQueueTester } from 'nestjs-redis-scheduled-queue/testing';

export const charge = defineScheduledJob<{ invoice: number }>('invoice.charge', {
  maxAttempts: 3,
  backoff: { type: 'exponential', delayMs: 60_000 },
});

@Injectable()
export class Charges {
  @OnScheduledJob(charge)
  charge() {}
}

export async function givesUp(producer: ScheduledQueueProducer, tester: ScheduledQueueTester): Promise<unknown[]> {
  const job = await producer.schedule(charge, { invoice: 7 });
  for (let run = 0; run < 3; run++) tester.failNext(charge, new Error('the bank is closed'));

  await tester.advance('10m');

  await tester.waitFor(job, 'dead');
  return tester.runs(charge).map(({ attempt, outcome, startedAt }) => [attempt, outcome, startedAt.toISOString()]);
}
