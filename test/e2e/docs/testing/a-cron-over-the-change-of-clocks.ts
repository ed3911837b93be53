import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import type { ScheduledQueueTester } from 'nestjs-redis-scheduled-queue/testing';

@Injectable()
export class Nights {
  @OnScheduledJob('backup', { cron: '30 2 * * *', timeZone: 'Europe/Berlin' })
  backup() {}

  @OnScheduledJob('meter.read')
  readMeter() {}
}

/** An application with this handler, at the beginning of 2027. In Berlin the clocks change on 28 March and on 31 October. */
export async function throughTheYear(producer: ScheduledQueueProducer, tester: ScheduledQueueTester): Promise<void> {
  const timeZone = 'Europe/Berlin';
  // Each hour of these two days.
  await producer.upsertRecurrence('spring', 'meter.read', null, { cron: '0 * 28 3 *', timeZone });
  await producer.upsertRecurrence('autumn', 'meter.read', null, { cron: '0 * 31 10 *', timeZone });

  await tester.drain({ until: '2027-12-31T12:00:00Z' });

  // 02:30 does not exist: the backup runs at 03:30 by the clock on the wall.
  assert.deepEqual(startsOf('backup', '28/03/2027', tester), ['2027-03-28T01:30:00.000Z']);
  // 02:30 comes twice: the backup runs at the first.
  assert.deepEqual(startsOf('backup', '31/10/2027', tester), ['2027-10-31T00:30:00.000Z']);

  // The first day has 23 hours, and the second one has 25.
  assert.equal(startsOf('meter.read', '28/03/2027', tester).length, 23);
  assert.equal(startsOf('meter.read', '31/10/2027', tester).length, 25);
}

const inBerlin = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin' });

/** When the runs of a day of Berlin began. */
function startsOf(job: string, day: string, tester: ScheduledQueueTester): string[] {
  const starts = tester.runs(job).map(({ startedAt }) => startedAt);
  return starts.filter((at) => inBerlin.format(at) === day).map((at) => at.toISOString());
}
