import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { type INestApplicationContext, Logger, type LoggerService, type ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  getScheduledQueueToken,
  InvalidPayloadError,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';
import { ShopIndex, Shops } from './recipes/at-most-once-a-minute.js';
import { type Click, Clicks, ClickTable } from './recipes/bulk-insert.js';
import { Orders } from './recipes/cancel-and-schedule-again.js';
import { Documents, SearchIndex } from './recipes/debounce.js';
import { Bank, Orders as PaidOrders, Payments } from './recipes/idempotent-handlers.js';
import { Cache } from './recipes/jobs-without-a-payload.js';
import { PinoLogger } from './recipes/log-lines-with-pino.js';
import { JobLogger, Mailer, Reminders } from './recipes/log-lines-with-the-job.js';
import { NightlyCleanUp, Sessions } from './recipes/once-a-night.js';
import { Invitations } from './recipes/payloads-with-a-class.js';
import { type Draft, DraftStore, Drafts } from './recipes/save-while-somebody-types.js';

// Recipes that are modules read the environment when they are imported, so they are imported by their tests.

let server: OwnRedisServer;
const opened: INestApplicationContext[] = [];

beforeAll(async () => {
  Logger.overrideLogger(false);
  server = await startOwnServer();
  Object.assign(process.env, { REDIS_URL: server.url, REPORTS_REDIS_URL: server.url, PORT: '0' });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((app) => app.close()));
  await stopApps();
});
afterAll(async () => {
  for (const name of ['REDIS_URL', 'REPORTS_REDIS_URL', 'PORT', 'QUEUE_PREFIX']) delete process.env[name];
  await server.stop();
});

it('debounce: the last change runs, also one that comes while the handler runs', async () => {
  const updated: string[] = [];
  let finish = () => {};
  const index: SearchIndex = {
    update: (id) => {
      updated.push(id);
      return new Promise((resolve) => (finish = resolve));
    },
  };
  const { get, producer, inspector } = await startApp([Documents, { provide: SearchIndex, useValue: index }]);
  const documents = get(Documents);
  expect((await documents.changed('7')).status).toBe('created');
  const job = await documents.changed('7');
  expect(job.status).toBe('replaced');
  await producer.runNow(job);
  await until('the index is updated', () => updated.length === 1);
  expect((await documents.changed('7')).status).toBe('queued');
  finish();
  await until('the last change waits', async () => (await inspector.job(job))?.state === 'scheduled');
  await producer.runNow(job);
  await until('the index is updated again', () => updated.length === 2);
  finish();
  await until('nothing is left', async () => (await inspector.job(job)) === null);
});

it('save while somebody types: three seconds after the last key, and thirty after the first', async () => {
  const saved: Draft[] = [];
  const store: DraftStore = { save: async (draft) => void saved.push(draft) };
  const { get, producer, inspector } = await startApp([Drafts, { provide: DraftStore, useValue: store }]);
  const drafts = get(Drafts);
  const job = await drafts.typed({ userId: '7', text: 'a' });
  const { createdAt } = (await inspector.job(job))!;
  expect(job.dueAt!.getTime() - createdAt!.getTime()).toBe(3_000);
  // As if somebody had typed for half a minute.
  await producer.reschedule(job, { delay: '30s' });
  const later = await drafts.typed({ userId: '7', text: 'ab' });
  expect(later).toMatchObject({ status: 'replaced' });
  expect(later.dueAt!.getTime()).toBeLessThanOrEqual(createdAt!.getTime() + 30_000);
  expect((await inspector.job(job))!.createdAt).toEqual(createdAt);
  await producer.runNow(job);
  await until('the draft is saved', () => saved.length === 1);
  expect(saved).toEqual([{ userId: '7', text: 'ab' }]);
});

it('at most once a minute: the first change at once, and all others as one when the minute is over', async () => {
  const updated: string[] = [];
  const index: ShopIndex = { update: async (id) => void updated.push(id) };
  const { get, inspector } = await startApp([Shops, { provide: ShopIndex, useValue: index }]);
  const shops = get(Shops);
  const first = await shops.changed('7');
  await until('it is indexed', () => updated.length === 1);
  await until('nothing is left', async () => (await inspector.job(first)) === null);
  const second = await shops.changed('7');
  expect(second).toMatchObject({ status: 'created', dueAt: new Date(first.dueAt!.getTime() + 60_000) });
  expect(await shops.changed('7')).toMatchObject({ status: 'replaced', dueAt: second.dueAt });
  expect((await shops.changed('8')).dueAt!.getTime()).toBeLessThan(second.dueAt!.getTime());
});

it('bulk insert: one statement for many, and one for each where that fails', async () => {
  const statements: string[][] = [];
  const table: ClickTable = {
    insert: async (clicks: Click[]) => {
      statements.push(clicks.map(({ id }) => id));
      if (clicks.some(({ page }) => page === 'bad')) throw new Error('a bad row');
    },
  };
  const { get, inspector } = await startApp([Clicks, { provide: ClickTable, useValue: table }]);
  const clicks = get(Clicks);
  await Promise.all(['1', '2', '3'].map((id) => clicks.clicked({ id, page: '/' })));
  await until('all are inserted', async () => (await inspector.stats()).completed === 3);
  expect(statements.splice(0).map((ids) => ids.toSorted())).toEqual([['1', '2', '3']]);
  const [, bad] = await Promise.all([
    clicks.clicked({ id: '4', page: '/' }),
    clicks.clicked({ id: '5', page: 'bad' }),
    clicks.clicked({ id: '6', page: '/' }),
  ]);
  await until('the good ones are inserted', async () => (await inspector.stats()).completed === 5);
  expect(statements.map((ids) => ids.toSorted())).toEqual([['4', '5', '6'], ['4'], ['5'], ['6']]);
  const failed = await until('the bad one has failed', async () => {
    const job = await inspector.job(bad!);
    return job!.failures.length > 0 && job;
  });
  expect(failed).toMatchObject({ state: 'scheduled', failures: [{ message: 'a bad row', attempt: 1 }] });
});

it('cancel and schedule again: an order that is paid and opened again expires once', async () => {
  const { get, producer } = await startApp([Orders]);
  const orders = get(Orders);
  expect((await orders.opened('7')).status).toBe('created');
  expect(await orders.touched('7')).toBe(true);
  expect(await orders.paid('7')).toBe(true);
  expect(await orders.touched('7')).toBe(false);
  const again = await orders.opened('7');
  expect(again.status).toBe('created');
  await producer.runNow(again);
  await until('it expires', () => orders.expired.length === 1);
  expect(await orders.paid('7')).toBe(false);
  await until('its id is remembered', async () => (await orders.opened('7')).status === 'ended');
  expect(orders.expired).toEqual(['7']);
});

it('API and workers apart: the API schedules, and only the worker runs', async () => {
  const { startApi, startWorker, ReportHandlers } = await import('./recipes/api-and-workers-apart.js');
  const api = await startApi();
  opened.push(api);
  const response = await fetch(`${await api.getUrl()}/reports/ada`, { method: 'POST' });
  const job = (await response.json()) as { id: string };
  expect((await api.get(ScheduledQueueInspector).explain(job.id)).code).toBe('no-handler');
  const worker = await startWorker();
  opened.push(worker);
  await until('the worker makes it', () => worker.get(ReportHandlers).made.length === 1);
});

it('options from ConfigService: they come from the environment, and a missing one is told at start', async () => {
  process.env.QUEUE_PREFIX = 'from-the-environment';
  const { AppModule } = await import('./recipes/options-from-configservice.js');
  const app = await start({ imports: [AppModule] });
  await app.get(ScheduledQueueProducer).dispatch('job', null);
  const { inspector } = await startApp([], { connection: server.url, prefix: 'from-the-environment' });
  expect(await inspector.counts()).toMatchObject({ due: 1 });
  delete process.env.REDIS_URL;
  try {
    await expect(start({ imports: [AppModule] })).rejects.toThrow('"REDIS_URL"');
  } finally {
    process.env.REDIS_URL = server.url;
  }
});

it('named instances: each runs the handlers that name it', async () => {
  const { AppModule, Reports } = await import('./recipes/named-instances.js');
  const app = await start({ imports: [AppModule] });
  const reports = app.get(Reports);
  await reports.order('sales');
  await until('it is made and announced', () => reports.made.length === 2);
  expect(reports.made).toEqual(['sales', 'sales, announced']);
  const inspector = app.get<ScheduledQueueInspector>(getScheduledQueueToken(ScheduledQueueInspector, 'reports'));
  await until('it is counted there', async () => (await inspector.stats()).completed === 1);
});

it('jobs without a payload: the handler is called with none', async () => {
  const { get } = await startApp([Cache]);
  get(Cache).entries.set('key', 'value');
  const { dueAt } = await get(Cache).clearIn(50);
  expect(dueAt).toBeInstanceOf(Date);
  await until('it is cleared', () => get(Cache).entries.size === 0);
});

it('payloads with a class: a date arrives as a date, and what does not fit is refused', async () => {
  const { get } = await startApp([Invitations]);
  const until2027 = new Date('2027-01-01T00:00:00Z');
  await expect(get(Invitations).send('nobody', until2027)).rejects.toThrow(InvalidPayloadError);
  await get(Invitations).send('ada@example.com', until2027);
  await until('it is sent', () => get(Invitations).sent.length === 1);
  expect(get(Invitations).sent).toEqual(['ada@example.com until 2027-01-01T00:00:00.000Z']);
});

it('idempotent handlers: a run that dies after charging charges once in the end', async () => {
  const keys: string[] = [];
  let isPaid = false;
  let fails = true;
  const orders: PaidOrders = {
    find: async () => ({ cents: 100, isPaid }),
    markPaid: async () => {
      if (fails) throw new Error('The database is gone');
      isPaid = true;
    },
  };
  const bank: Bank = { charge: async (_cents, key) => void keys.push(key) };
  const { producer, inspector } = await startApp([
    Payments,
    { provide: PaidOrders, useValue: orders },
    { provide: Bank, useValue: bank },
  ]);
  const job = await producer.dispatch('order.charge', { orderId: '7' });
  await until('it has failed', async () => (await inspector.job(job))?.state === 'scheduled');
  fails = false;
  await producer.runNow(job);
  await until('it is paid', () => isPaid);
  expect(keys).toEqual([job.id, job.id]);
  await producer.dispatch('order.charge', { orderId: '7' });
  await until('a second job has run', async () => (await inspector.stats()).completed === 2);
  expect(keys).toHaveLength(2);
});

it('log lines with the job: a service that knows nothing of the job logs its name and id', async () => {
  const lines: string[] = [];
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  try {
    const log = new JobLogger({ json: true });
    const { get, producer, inspector } = await startApp([Mailer, Reminders], {}, { log });
    await producer.dispatch('reminder.send', { email: 'ada@example.com' }, { id: 'r7' });
    await until('it is sent', async () => (await inspector.stats()).completed === 1);
    get(Mailer).send('elsewhere');
  } finally {
    write.mockRestore();
  }
  const sent = lines.filter((line) => line.includes('"Sent to')).map((line) => JSON.parse(line));
  expect(sent).toEqual([
    expect.objectContaining({ context: 'Mailer', jobName: 'reminder.send', jobId: 'r7' }),
    expect.not.objectContaining({ jobId: expect.anything() }),
  ]);
});

it('log lines with the job: those about failures have its name and id too', async () => {
  const lines: string[] = [];
  const write = (text: unknown) => lines.push(String(text)) > 0;
  const spies = [process.stdout, process.stderr].map((stream) => jest.spyOn(stream, 'write').mockImplementation(write));
  try {
    await failTwice(new JobLogger({ json: true }), lines);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  expect(aboutFailures(lines)).toEqual(failureLines('message'));
});

it('log lines with pino: those about failures have its name and id', async () => {
  const lines: string[] = [];
  await failTwice(new PinoLogger({ write: (line) => void lines.push(line) }), lines);
  expect(aboutFailures(lines)).toEqual(failureLines('msg'));
});

/** Runs a job that fails, is tried again and is dead. */
async function failTwice(log: LoggerService, lines: string[]): Promise<void> {
  const send = () => {
    throw new Error('refused');
  };
  const { producer } = await startApp([{ provide: Mailer, useValue: { send } }, Reminders], {}, { log });
  const options = { id: 'r7', maxAttempts: 2, backoff: { type: 'fixed', delayMs: 1 } } as const;
  await producer.dispatch('reminder.send', { email: 'ada@example.com' }, options);
  await until('both failures are logged', () => aboutFailures(lines).length === 2);
}

function aboutFailures(lines: string[]): unknown[] {
  return lines.filter((line) => line.includes('(r7)')).map((line) => JSON.parse(line));
}

function failureLines(message: string): unknown[] {
  const job = { context: 'ScheduledQueue', jobName: 'reminder.send', jobId: 'r7' };
  return ['failed in attempt 1', 'is dead after attempt 2'].map((text) =>
    expect.objectContaining({ ...job, [message]: expect.stringContaining(text) }),
  );
}

it('shutdown: a job that is interrupted goes back, and no attempt is used', async () => {
  const { bootstrap, RowExport } = await import('./recipes/shutdown.js');
  const app = await bootstrap();
  opened.push(app);
  const { inspector, producer } = await startApp([], { connection: server.url, prefix: 'shop', role: 'producer' });
  const job = await producer.dispatch('rows.export', 1_000_000);
  await until('it runs', () => app.get(RowExport).exported > 0);
  await app.close();
  expect(await inspector.job(job)).toMatchObject({ state: 'due', attempts: 0, crashes: 0 });
  await producer.cancel(job);
});

it('a prefix for each app: one does not see the jobs of the other', async () => {
  const { queueOf } = await import('./recipes/a-prefix-for-each-app.js');
  const shop = await start({ imports: [queueOf('shop')] });
  const blog = await start({ imports: [queueOf('blog')] });
  const job = await shop.get(ScheduledQueueProducer).dispatch('job', null);
  expect(await shop.get(ScheduledQueueInspector).job(job)).toMatchObject({ state: 'due' });
  expect(await blog.get(ScheduledQueueInspector).job(job)).toBeNull();
});

it('once a night: two processes arm one job, and its run arms the next night', async () => {
  let runs = 0;
  const sessions: Sessions = { deleteExpired: async () => void runs++ };
  const providers = [NightlyCleanUp, { provide: Sessions, useValue: sessions }];
  const prefix = newPrefix();
  const { inspector, producer } = await startApp(providers, { prefix });
  await startApp(providers, { prefix });
  const tonight = await until('the night is armed', async () => (await inspector.list('scheduled'))[0]);
  expect(tonight.dueAt.toLocaleTimeString('en-GB', { timeZone: 'Europe/Paris' })).toBe('03:00:00');
  await producer.runNow(tonight);
  await until('it has run', async () => runs === 1 && (await inspector.counts()).active === 0);
  const [tomorrow, ...others] = await inspector.list('scheduled');
  expect(others).toEqual([]);
  expect(Math.round((tomorrow!.dueAt.getTime() - tonight.dueAt.getTime()) / 3_600_000)).toBeGreaterThanOrEqual(23);
});

async function start(metadata: ModuleMetadata): Promise<INestApplicationContext> {
  const module = await Test.createTestingModule(metadata)
    .setLogger({ log() {}, warn() {}, error() {} })
    .compile();
  opened.push(module);
  await module.init();
  return module;
}
