import { afterEach, it } from '@jest/globals';
import type { Provider } from '@nestjs/common';
import { ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueTester } from 'nestjs-redis-scheduled-queue/testing';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';
import { crashes, Imports } from './testing/a-crash-in-the-middle.js';
import { Nights, throughTheYear } from './testing/a-cron-over-the-change-of-clocks.js';
import { Exports, losesItsLease } from './testing/a-lost-lease.js';
import { Charges, givesUp } from './testing/a-retry-that-gives-up.js';
import { Credits, deliveredTwice } from './testing/a-second-delivery.js';
import { lastAttempt } from './testing/a-unit-test.js';
import { wholeApplication } from './testing/your-own-modules.js';

// What docs/testing.md prints, each of which fails by itself where it is not true. The specs that it prints lie beside these files.

afterEach(stopTestedApps);

/** By the names of the package, as the page imports them. */
async function appOf(providers: Provider[]) {
  const { app } = await testedApp(providers);
  return { app, producer: app.get(ScheduledQueueProducer), tester: app.get(ScheduledQueueTester) };
}

it('a whole application, whose connection is not there', async () => {
  const { app } = await wholeApplication();
  await app.close();
});

it('a retry that gives up', async () => {
  const { producer, tester } = await appOf([Charges]);
  await givesUp(producer, tester);
});

it('a cron over both changes of the clocks', async () => {
  const { producer, tester } = await appOf([Nights]);
  await throughTheYear(producer, tester);
});

it('a handler that cannot bear a second delivery is found, and one that can is not', async () => {
  const { app, producer, tester } = await appOf([Credits]);
  await deliveredTwice(app.get(Credits), producer, tester);
});

it('a handler that ignores its signal is found, and one that heeds it is not', async () => {
  const { app, producer, tester } = await appOf([Exports]);
  await losesItsLease(app.get(Exports), producer, tester);
});

it('a crash in the middle', async () => {
  const { app, producer, tester } = await appOf([Imports]);
  await crashes(app.get(Imports), producer, tester);
});

it('a unit test of a handler', () => lastAttempt());
