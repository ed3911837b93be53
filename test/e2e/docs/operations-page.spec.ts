import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { LoadController } from './operations/autoscaling.js';
import { Maintenance } from './operations/maintenance.js';

afterEach(stopApps);

it('the blackouts of docs/operations.md are set, and told as they are', async () => {
  const { get, inspector } = await startApp([Maintenance]);
  await get(Maintenance).plan();
  expect(await inspector.blackouts({ queue: 'orders' })).toEqual([
    { cron: '0 22 * * *', durationMs: 8 * 3_600_000, timeZone: 'Europe/Paris' },
    { from: new Date('2032-05-08T16:00:00Z'), to: new Date('2032-05-09T04:00:00Z') },
  ]);
  expect(await inspector.blackouts()).toEqual([]);
});

it('the work of docs/operations.md is what runs, is due, and is due soon; in a pause only what runs', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  @Injectable()
  class Handlers {
    @OnScheduledJob('order', { queue: 'orders' })
    order(): Promise<void> {
      return held;
    }
  }
  const queues = { orders: { concurrency: 2 } };
  const { get, inspector, producer } = await startApp([Handlers], { queues }, { controllers: [LoadController] });
  const work = () => get(LoadController).work('orders');
  expect(await work()).toEqual({ work: 0 });
  for (const delay of [0, 0, 0, '1m', '1h'] as const)
    await producer.schedule('order', null, { queue: 'orders', delay });
  await until('two run', async () => (await inspector.counts({ queue: 'orders' })).active === 2);
  expect(await work()).toEqual({ work: 4 });
  await inspector.pause({ queue: 'orders' });
  expect(await work()).toEqual({ work: 2 });
  release();
  await until('they have ended', async () => (await work()).work === 0);
});
