import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type INestApplication, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type ScheduledJobRef, ScheduledQueueInspector, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import type { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';
import { until } from '../../support/wait.js';
import { Orders } from './readme/orders.js';

// What the README prints.

let server: OwnRedisServer;

beforeAll(async () => {
  server = await startOwnServer();
  Object.assign(process.env, { REDIS_URL: server.url, PORT: '0' });
});
afterAll(async () => {
  for (const name of ['REDIS_URL', 'PORT']) delete process.env[name];
  await stopTestedApps();
  await server.stop();
});

it('main.ts starts the application, and ten seconds later the reminder is logged', async () => {
  const lines: string[] = [];
  const create = jest.spyOn(NestFactory, 'create');
  Logger.overrideLogger({ log: (message: string) => lines.push(message), warn() {}, error() {} });
  // Not before: they read the environment.
  const { Reminders } = await import('./readme/reminders.js');
  const { AppModule } = await import('./readme/app.module.js');
  const remind = jest.spyOn(Reminders.prototype, 'remind');
  await import('./readme/main.js');
  const app = await until(
    'the application is created',
    () => create.mock.results[0]?.value as Promise<INestApplication>,
  );
  try {
    expect(create.mock.calls[0]?.[0]).toBe(AppModule);
    const job = await until('a reminder is scheduled', () => remind.mock.results[0]?.value as Promise<ScheduledJobRef>);
    const delayMs = job.dueAt!.getTime() - Date.now();
    expect(delayMs).toBeGreaterThan(7_000);
    expect(delayMs).toBeLessThan(12_000);
    expect(await app.get(ScheduledQueueProducer).runNow(job)).toBe(true);
    await until('it is logged', () => lines.includes('A reminder for ada@example.com'));
  } finally {
    await app.close();
  }
});

it('an order that is changed or paid expires as the README says, and the report runs at 02:30 in Berlin', async () => {
  const { app, tester } = await testedApp([Orders]);
  const orders = app.get(Orders);
  expect((await orders.changed(7)).status).toBe('created');
  await tester.advance('20m');
  expect((await orders.changed(7)).status).toBe('replaced');
  await tester.advance('29m');
  expect(orders.expired).toEqual([]);
  await tester.advance('1m');
  expect(orders.expired).toEqual([7]);
  await orders.changed(8);
  expect(await orders.paid(8)).toBe(true);
  expect(await orders.paid(7)).toBe(false);
  await tester.advance('1 day');
  expect(orders.expired).toEqual([7]);
  expect(orders.reports).toBe(1);
  expect(dueTimes(tester)).toEqual(['2027-01-02T01:30:00.000Z']);
});

it.each([
  ['at noon', '2027-01-03T11:00:00Z', ['2027-01-03T01:30:00.000Z']],
  ['at 02:30 sharp', '2027-01-04T01:30:00Z', ['2027-01-03T01:30:00.000Z', '2027-01-04T01:30:00.000Z']],
])('a report of which nights were missed is made up for by one when a worker is back %s', async (_, backAt, due) => {
  const { app, tester } = await testedApp([Orders]);
  const inspector = app.get(ScheduledQueueInspector);
  await inspector.pause();
  await tester.advance(new Date(backAt).getTime() - tester.now().getTime());
  expect(app.get(Orders).reports).toBe(0);
  await inspector.resume();
  await tester.advance('1m');
  expect(dueTimes(tester)).toEqual(due);
});

const dueTimes = (tester: ScheduledQueueTester) => tester.runs('orders.report').map(({ dueAt }) => dueAt.toISOString());
