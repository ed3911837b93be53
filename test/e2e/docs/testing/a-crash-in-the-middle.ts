import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, type ScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import type { ScheduledQueueTester } from 'nestjs-redis-scheduled-queue/testing';

@Injectable()
export class Imports {
  readonly attempts: number[] = [];

  @OnScheduledJob('import')
  import(_payload: unknown, job: ScheduledJob) {
    this.attempts.push(job.attempt);
  }
}

export async function crashes(
  imports: Imports,
  producer: ScheduledQueueProducer,
  tester: ScheduledQueueTester,
): Promise<void> {
  tester.crashNext('import');
  const job = await producer.schedule('import', null);

  await tester.drain();
  await tester.waitFor(job, 'active');
  assert.deepEqual(imports.attempts, [1]);

  await tester.advance('15s');
  await tester.waitFor(job, 'completed');
  assert.deepEqual(imports.attempts, [1, 2]);
}
