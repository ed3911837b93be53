import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type INestApplication, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type ScheduledJobRef, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';
import { until } from '../../support/wait.js';
import { Orders } from './readme/orders.js';

// What the README prints; the spec that it prints lies beside these files.

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

it('an order that is opened twice, changed or paid expires as the README says, and the report runs at 02:30 in Berlin', async () => {
  const { app, tester } = await testedApp([Orders]);
  const orders = app.get(Orders);
  expect((await orders.opened(7)).status).toBe('created');
  expect((await orders.opened(7)).status).toBe('waiting');
  await tester.advance('20m');
  expect((await orders.changed(7)).status).toBe('replaced');
  await tester.advance('29m');
  expect(orders.expired).toEqual([]);
  await tester.advance('1m');
  expect(orders.expired).toEqual([7]);
  await orders.opened(8);
  expect(await orders.paid(8)).toBe(true);
  expect(await orders.paid(7)).toBe(false);
  await tester.advance('1 day');
  expect(orders.expired).toEqual([7]);
  expect(orders.reports).toBe(1);
  expect(tester.runs('orders.report').map(({ dueAt }) => dueAt.toISOString())).toEqual(['2027-01-02T01:30:00.000Z']);
});
