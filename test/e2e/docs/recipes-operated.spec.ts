import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type INestApplication, type ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  RedisScheduledQueueModule,
  ScheduledQueueConsumer,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
  UnrecoverableJobError,
} from 'nestjs-redis-scheduled-queue';
import { overrideScheduledQueue, ScheduledQueueTester } from 'nestjs-redis-scheduled-queue/testing';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';
import { MailModule, Mails, sendMail } from './recipes/a-rate-limited-sender.js';
import { Partner, PartnerCalls, tellPartner } from './recipes/back-off-with-the-whole-queue.js';
import { DeadLettersController } from './recipes/dead-letters-with-an-endpoint.js';
import { expireOrder, expiryOf, shipOrder } from './recipes/definitions-in-a-file-of-their-own.js';
import { ReportsModule } from './recipes/the-result-of-a-job.js';

// The recipes that look at a queue, hold it back or hand jobs over. The others: recipes.spec.ts.

let server: OwnRedisServer;
const opened: INestApplication[] = [];

beforeAll(async () => {
  server = await startOwnServer();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((app) => app.close()));
  await stopTestedApps();
});
afterAll(() => server.stop());

it('back off with the whole queue: a 429 holds all jobs of the queue for as long as it says', async () => {
  const answers = [429, 200, 200, 404].map(
    (status) => new Response(null, { status, headers: { 'retry-after': '120' } }),
  );
  const partner: Partner = { post: async () => answers.shift()! };
  const { producer, inspector, tester } = await testedApp([PartnerCalls, { provide: Partner, useValue: partner }]);
  const jobs = [];
  for (const order of ['a', 'b', 'c']) jobs.push(await producer.dispatch(tellPartner, order));
  await tester.advance('119s');
  expect(answers).toHaveLength(3);
  await tester.advance('2s');
  expect(tester.runs(tellPartner).map(({ payload, outcome }) => `${payload} ${outcome}`)).toEqual([
    'a snoozed',
    'b completed',
    'c completed',
    'a dead',
  ]);
  expect(await inspector.job(jobs[0]!)).toMatchObject({ state: 'dead', attempts: 1, reason: 'unrecoverable' });
});

it('a rate-limited sender: ten mails start a second, and a password goes first', async () => {
  const builder = Test.createTestingModule({ imports: [MailModule] });
  const app = await overrideScheduledQueue(builder).compile();
  await app.init();
  const [mails, tester] = [app.get(Mails), app.get(ScheduledQueueTester)];
  await mails.newsletter(Array.from({ length: 25 }, (_, i) => `reader-${i}`));
  await mails.password('ada');
  await tester.advance('5s');
  expect(mails.sent).toHaveLength(26);
  expect(mails.sent[0]).toBe('ada');
  const startedMs = tester.runs(sendMail).map(({ startedAt }) => startedAt.getTime());
  for (const [i, ms] of startedMs.entries()) {
    expect(startedMs.filter((each) => each >= ms && each < ms + 1_000).length).toBeLessThanOrEqual(10);
    if (i >= 10) expect(ms - startedMs[i - 10]!).toBeGreaterThanOrEqual(1_000);
  }
  await app.close();
});

it('dead letters with an endpoint: they are listed, replayed and removed', async () => {
  const app = await listening({ controllers: [DeadLettersController], imports: [queue({ role: 'producer' })] });
  const url = `${await app.getUrl()}/admin/queues/mail/dead`;
  const [inspector, producer] = [app.get(ScheduledQueueInspector), app.get(ScheduledQueueProducer)];
  const consumer = await listening({ imports: [queue()] });
  for (const id of ['mail/1', 'mail/2', 'mail/3']) {
    await producer.dispatch('mail.send', null, { queue: 'mail', id });
    const [job] = await popFrom(consumer);
    await job!.fail(new UnrecoverableJobError('no mailbox'));
  }
  const listed = (await (await fetch(url)).json()) as { id: string; error: { message: string } }[];
  expect(listed.map(({ id }) => id)).toEqual(['mail/3', 'mail/2', 'mail/1']);
  expect(listed[0]).toMatchObject({ name: 'mail.send', reason: 'unrecoverable', error: { message: 'no mailbox' } });
  const one = `${url}/${encodeURIComponent('mail/1')}`;
  expect((await fetch(`${one}/replay`, { method: 'POST' })).status).toBe(201);
  expect((await fetch(`${one}/replay`, { method: 'POST' })).status).toBe(404);
  // It waits now, so it is no dead letter to be removed.
  expect((await fetch(one, { method: 'DELETE' })).status).toBe(404);
  expect((await fetch(`${url}/${encodeURIComponent('mail/2')}`, { method: 'DELETE' })).status).toBe(200);
  const headers = { 'content-type': 'application/json' };
  const replayed = await fetch(`${url}/replay`, { method: 'POST', headers, body: '{"name":"mail.send"}' });
  expect(await replayed.json()).toEqual({ replayed: 1 });
  expect(await inspector.counts({ queue: 'mail' })).toMatchObject({ due: 2, dead: 0 });
});

it('definitions in a file of their own: whoever cancels names the job as whoever schedules it', async () => {
  const { producer, tester } = await testedApp();
  const { id, queue } = expiryOf('7');
  await producer.schedule(expireOrder, { orderId: '7' }, { id, delay: '30m' });
  await producer.schedule(shipOrder, { orderId: '7' }, { delay: '1h' });
  expect(queue).toBe('orders');
  expect(await producer.cancel(expiryOf('7'))).toBe(true);
  expect(tester.scheduled().map(({ name }) => name)).toEqual(['order.ship']);
});

it('the result of a job: the API answers progress and result', async () => {
  const builder = Test.createTestingModule({ imports: [ReportsModule] });
  const module = await overrideScheduledQueue(builder).compile();
  const app = await opens(module.createNestApplication());
  const url = `${await app.getUrl()}/reports`;
  const { id } = (await (await fetch(`${url}/2026`, { method: 'POST' })).json()) as { id: string };
  expect(await (await fetch(`${url}/${id}`)).json()).toEqual({ state: 'due' });
  await app.get(ScheduledQueueTester).drain();
  expect(await (await fetch(`${url}/${id}`)).json()).toEqual({
    state: 'completed',
    progress: { done: 1, of: 2 },
    result: { url: 'https://example.com/reports/2026.pdf' },
  });
  expect((await fetch(`${url}/unknown`)).status).toBe(404);
});

function queue(options: { role?: 'producer' } = {}) {
  return RedisScheduledQueueModule.forRoot({
    connection: server.url,
    prefix: 'shop',
    commandTimeoutMs: '30s',
    ...options,
  });
}

function popFrom(app: INestApplication) {
  return app.get(ScheduledQueueConsumer).pop({ queue: 'mail', waitMs: '10s' });
}

async function listening(metadata: ModuleMetadata): Promise<INestApplication> {
  const module = await Test.createTestingModule(metadata)
    .setLogger({ log() {}, warn() {}, error() {} })
    .compile();
  return opens(module.createNestApplication());
}

async function opens(app: INestApplication): Promise<INestApplication> {
  opened.push(app);
  await app.listen(0);
  return app;
}
