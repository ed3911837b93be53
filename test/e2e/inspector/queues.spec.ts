import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { type ForecastOptions, InvalidScheduleError, OnScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';
import { until } from '../../support/wait.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

afterEach(stopTestedApps);
afterEach(stopApps);

@Injectable()
class Handlers {
  @OnScheduledJob('mail.send', { queue: 'mail' })
  send(): void {}
}

it('forecast tells how many waiting jobs are due in each of equal spans, the end of each not included', async () => {
  const { producer, inspector } = await testedApp();
  const dueAfter = [-MINUTE, 0, 20 * MINUTE - 1, 20 * MINUTE, 59 * MINUTE, HOUR];
  await producer.scheduleMany(
    dueAfter.map((ms, i) => ({
      job: `job-${i % 2}`,
      payload: null,
      options: { at: START + ms, priority: 1 + i, tags: ['told'], queue: 'mail' },
    })),
  );
  await producer.schedule('elsewhere', null, { delay: '1m' });
  const hour = { from: new Date(START), to: '2027-01-01T10:00:00Z', queue: 'mail' };
  expect(await inspector.forecast({ ...hour, buckets: 3 })).toEqual([
    { from: new Date(START), count: 2 },
    { from: new Date(START + 20 * MINUTE), count: 1 },
    { from: new Date(START + 40 * MINUTE), count: 1 },
  ]);
  expect(await inspector.forecast(hour)).toEqual([{ from: new Date(START), count: 4 }]);
  expect(await inspector.forecast({ from: START - HOUR, to: START, queue: 'mail' })).toMatchObject([{ count: 1 }]);
});

it('spans of a forecast that are no whole milliseconds still count each job once', async () => {
  const { producer, inspector } = await testedApp();
  await producer.scheduleMany(
    Array.from({ length: 10 }, (_, i) => ({ job: 'job', payload: null, options: { at: START + i } })),
  );
  expect(await inspector.forecast({ from: START, to: START + 10, buckets: 3 })).toEqual([
    { from: new Date(START), count: 4 },
    { from: new Date(START + 4), count: 3 },
    { from: new Date(START + 7), count: 3 },
  ]);
});

it('a forecast counts the armed occurrence of a recurrence, and neither later ones nor a job that runs or has been cancelled', async () => {
  const { producer, consumer, inspector } = await testedApp();
  await producer.upsertRecurrence('hourly', 'report', null, { everyMs: HOUR });
  await producer.schedule('runs', null, { id: 'runs' });
  expect(await consumer.pop({ names: ['runs'] })).toHaveLength(1);
  const cancelled = await producer.schedule('cancelled', null, { delay: '1m' });
  await producer.cancel(cancelled);
  const buckets = await inspector.forecast({ from: START, to: START + 4 * HOUR, buckets: 4 });
  expect(buckets.map(({ count }) => count)).toEqual([0, 1, 0, 0]);
});

it.each<[string, unknown, string]>([
  ['without an end', { from: START }, 'forecast: to: got undefined, expected an instant: it has no default.'],
  [
    'of less than a millisecond a bucket',
    { from: START, to: START + 9, buckets: 10 },
    'forecast: to: got 9 ms after from, expected at least a millisecond for each of the 10 buckets.',
  ],
  [
    'into more than 1 000 buckets',
    { from: START, to: START + HOUR, buckets: 1_001 },
    'forecast: buckets: got 1001, expected a whole number from 1 to 1000.',
  ],
])('a forecast %s is refused', async (_, options, message) => {
  const { inspector } = await testedApp();
  const call = inspector.forecast(options as ForecastOptions);
  await expect(call).rejects.toThrow(InvalidScheduleError);
  await expect(call).rejects.toThrow(message);
});

it('queues tells those in which somebody has scheduled, and those with workers only, and when', async () => {
  const { producer, inspector } = await startApp([Handlers]);
  await producer.schedule('report', null, { queue: 'reports', delay: '1h' });
  await inspector.counts({ queue: 'only-looked-at' });
  const names = async () => (await inspector.queues()).map(({ name }) => name);
  await until('the worker is told', async () => (await names()).length === 2);
  const queues = await inspector.queues();
  expect(queues).toEqual([
    { name: 'mail', lastSeenAt: expect.any(Date) },
    { name: 'reports', lastSeenAt: expect.any(Date) },
  ]);
  for (const { lastSeenAt } of queues) expect(Math.abs(Date.now() - lastSeenAt.getTime())).toBeLessThan(MINUTE);
  await inspector.clear({ queue: 'reports' });
  expect(await names()).toEqual(['mail', 'reports']);
});
