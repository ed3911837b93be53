import assert from 'node:assert/strict';
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

export async function givesUp(producer: ScheduledQueueProducer, tester: ScheduledQueueTester): Promise<void> {
  const job = await producer.schedule(charge, { invoice: 7 });
  for (let run = 0; run < 3; run++) tester.failNext(charge, new Error('the bank is closed'));

  await tester.advance('10m');

  await tester.waitFor(job, 'dead');
  const runs = tester.runs(charge).map(({ outcome, startedAt }) => [outcome, startedAt.toISOString()]);
  assert.deepEqual(runs, [
    ['failed', '2027-01-01T09:00:00.000Z'],
    ['failed', '2027-01-01T09:01:00.000Z'],
    ['dead', '2027-01-01T09:03:00.000Z'],
  ]);
}
