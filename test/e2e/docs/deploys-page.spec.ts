import { afterEach, expect, it } from '@jest/globals';
import { defineScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { Mails, sendMail } from './deploys/add-a-field.js';
import { Invoices, sendInvoice } from './deploys/rename-a-field.js';
import { finishOrder, Orders } from './deploys/split-a-job.js';
import { whyStepsStay } from './deploys/step-in-use.js';

afterEach(stopApps);

it('a field that may be missing needs no version', async () => {
  const { producer, get } = await startApp([Mails]);
  await producer.schedule(defineScheduledJob<{ to: string }>('mail.send'), { to: 'ada@example.com' });
  await producer.schedule(sendMail, { to: 'bob@example.com', language: 'fr' });
  await until('both are sent', () => get(Mails).sent.length === 2);
  expect(get(Mails).sent.sort()).toEqual(['ada@example.com (en)', 'bob@example.com (fr)']);
});

it('jobs of each earlier version come to the handler in its own', async () => {
  const { producer, get, inspector } = await startApp([Invoices]);
  const first = defineScheduledJob<{ total: number }>('invoice.send');
  const second = defineScheduledJob<{ cents: number }>('invoice.send', { version: 2 });
  await producer.schedule(first, { total: 19.99 });
  await producer.schedule(second, { cents: 500 });
  await producer.schedule(sendInvoice, { cents: 700, currency: 'CHF' });
  await until('all are sent', () => get(Invoices).sent.length === 3);
  expect(get(Invoices).sent.sort()).toEqual([
    '1999 EUR, of version 1',
    '500 EUR, of version 2',
    '700 CHF, of version 3',
  ]);
  await until('all have ended', async () => (await inspector.versions('invoice.send')).length === 0);
});

it('a job that is split becomes two, once', async () => {
  const { producer, get, inspector } = await startApp([Orders]);
  const ref = await producer.schedule(finishOrder, { order: 7 }, { id: 'seven' });
  await until('both are done', () => get(Orders).done.length === 2);
  expect(get(Orders).done.sort()).toEqual(['charged 7', 'shipped 7']);
  await until('the first one has ended', async () => (await inspector.job(ref)) === null);
});

it('a step may be deleted once nothing of its version is there', async () => {
  const { producer, inspector } = await startApp([], { role: 'producer' });
  const first = defineScheduledJob<{ total: number }>('invoice.send');
  const ref = await producer.schedule(first, { total: 1 }, { delay: '30 days' });
  await producer.upsertRecurrence('monthly', first, { total: 1 }, { cron: '0 0 1 * *' });
  expect(await whyStepsStay(inspector, sendInvoice, 3)).toBe('version 1: 2 jobs, 0 dead ones, 1 recurrences');
  expect(await whyStepsStay(inspector, sendInvoice, 1)).toBeUndefined();
  await producer.cancel(ref);
  await producer.removeRecurrence('monthly');
  expect(await whyStepsStay(inspector, sendInvoice, 3)).toBeUndefined();
});
