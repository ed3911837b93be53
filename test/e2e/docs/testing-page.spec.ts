import { afterEach, expect, it } from '@jest/globals';
import type { Provider } from '@nestjs/common';
import { ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueTester } from 'nestjs-redis-scheduled-queue/testing';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';
import { crashes, Imports } from './testing/a-crash-in-the-middle.js';
import { Nights, throughTheYear } from './testing/a-cron-over-the-change-of-clocks.js';
import { Exports, rowsAfterLoss } from './testing/a-lost-lease.js';
import { Charges, givesUp } from './testing/a-retry-that-gives-up.js';
import { Credits, deliveredTwice } from './testing/a-second-delivery.js';
import { lastAttempt } from './testing/a-unit-test.js';
import { reminderIn30Days } from './testing/first-test.js';
import { wholeApplication } from './testing/your-own-modules.js';

// What docs/testing.md prints.

afterEach(stopTestedApps);

/** By the names of the package, as the page imports them. */
async function appOf(providers: Provider[]) {
  const { app } = await testedApp(providers);
  return { app, producer: app.get(ScheduledQueueProducer), tester: app.get(ScheduledQueueTester) };
}

it('a reminder in 30 days', async () => {
  expect(await reminderIn30Days()).toEqual(['ada@example.com']);
});

it('a whole application, whose connection is not there', async () => {
  const { app, tester } = await wholeApplication();
  expect(tester.now().toISOString()).toBe('2027-01-01T09:00:00.000Z');
  await app.close();
});

it('a retry that gives up', async () => {
  const { producer, tester } = await appOf([Charges]);
  expect(await givesUp(producer, tester)).toEqual([
    [1, 'failed', '2027-01-01T09:00:00.000Z'],
    [2, 'failed', '2027-01-01T09:01:00.000Z'],
    [3, 'dead', '2027-01-01T09:03:00.000Z'],
  ]);
});

it('a cron over both changes of the clocks', async () => {
  const { producer, tester } = await appOf([Nights]);
  await throughTheYear(producer, tester);
  expect(tester.runs('backup')).toHaveLength(364);
});

it('a handler that cannot bear a second delivery is found, and one that can is not', async () => {
  const { app, producer, tester } = await appOf([Credits]);
  expect(await deliveredTwice('credit.naive', app.get(Credits), producer, tester)).toBe(20);
  expect(await deliveredTwice('credit.once', app.get(Credits), producer, tester)).toBe(10);
});

it('a handler that ignores its signal is found, and one that heeds it is not', async () => {
  const { app, producer, tester } = await appOf([Exports]);
  expect(await rowsAfterLoss('export.careless', app.get(Exports), producer, tester)).toBe(10);
  expect(await rowsAfterLoss('export.careful', app.get(Exports), producer, tester)).toBe(0);
});

it('a crash in the middle', async () => {
  const { app, producer, tester } = await appOf([Imports]);
  await crashes(producer, tester);
  expect(app.get(Imports).attempts).toEqual([1, 2]);
});

it('a unit test of a handler', () => {
  expect(lastAttempt()).toBe('a last hello, Ada');
});
