import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { JobOutcome, OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import type { ScheduledQueueTester } from 'nestjs-redis-scheduled-queue/testing';

@Injectable()
export class Rows {
  readonly calls: number[][] = [];

  @OnScheduledJob('row.insert', { batch: { size: 100, waitMs: '5s' } })
  insert(rows: { id: number }[]) {
    this.calls.push(rows.map(({ id }) => id));
    return JobOutcome.each(rows.map(({ id }) => `row ${id}`));
  }
}

export async function sharesACall(
  rows: Rows,
  producer: ScheduledQueueProducer,
  tester: ScheduledQueueTester,
): Promise<void> {
  for (const id of [1, 2, 3]) await producer.schedule('row.insert', { id }, { delay: id * 1_000 });
  tester.failNext('row.insert', new Error('a bad row'));

  // The first one is claimed after a second, and waits for others until the sixth.
  await tester.advance('5s');
  assert.deepEqual(rows.calls, []);
  await tester.advance('1s');
  assert.deepEqual(rows.calls, [[2, 3]]);

  const runs = tester.runs('row.insert').map(({ outcome, result }) => [outcome, result]);
  assert.deepEqual(runs, [
    ['failed', undefined],
    ['completed', 'row 2'],
    ['completed', 'row 3'],
  ]);
}
