import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import type { Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from 'nestjs-redis-scheduled-queue/testing';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';
import { Rows, sharesACall } from './testing/a-batch.js';
import { crashes, Imports } from './testing/a-crash-in-the-middle.js';
import { Nights, throughTheYear } from './testing/a-cron-over-the-change-of-clocks.js';
import { Exports, losesItsLease } from './testing/a-lost-lease.js';
import { Charges, givesUp } from './testing/a-retry-that-gives-up.js';
import { Credits, deliveredTwice } from './testing/a-second-delivery.js';
import { lastAttempt } from './testing/a-unit-test.js';
import { Mails, withoutTheLimit } from './testing/options-of-a-test.js';
import { answers503, OrdersModule } from './testing/redis-is-away.js';
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

it('options of a test over those of the application', async () => {
  const app = await withoutTheLimit();
  const producer = app.get(ScheduledQueueProducer);
  for (let i = 0; i < 3; i++) await producer.schedule('mail.send', null, { queue: 'mail' });
  await app.get(ScheduledQueueTester).drain();
  expect(app.get(Mails).sent).toBe(3);
  await app.close();
});

it('the answer 503 while Redis is away', async () => {
  const testing = ScheduledQueueTestingModule.forRoot({ now: '2027-01-01T09:00:00Z' });
  const module = await Test.createTestingModule({ imports: [testing, OrdersModule] })
    .setLogger({ log() {}, warn() {}, error() {} })
    .compile();
  const app = module.createNestApplication();
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  await answers503(`http://127.0.0.1:${port}`, app.get(ScheduledQueueTester));
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

it('a handler that cannot tolerate a second delivery is found, and one that can is not', async () => {
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

it('a handler that gets many jobs a call', async () => {
  const { app, producer, tester } = await appOf([Rows]);
  await sharesACall(app.get(Rows), producer, tester);
});

it('a unit test of a handler', () => lastAttempt());
