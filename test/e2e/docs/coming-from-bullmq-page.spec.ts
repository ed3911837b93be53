import { afterEach, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { overrideScheduledQueue, ScheduledQueueTester } from 'nestjs-redis-scheduled-queue/testing';
import { startApp, stopApps } from '../../support/queue-app.js';
import { MailModule, Mails } from './coming-from-bullmq/mails.js';
import { moveDelayed } from './coming-from-bullmq/move-delayed.js';

afterEach(stopApps);

it('mails that were jobs of BullMQ are sent when they are due', async () => {
  const builder = Test.createTestingModule({ imports: [MailModule] });
  const app = await overrideScheduledQueue(builder).compile();
  await app.init();
  const mails = app.get(Mails);
  await mails.signedUp('ada@example.com');
  await mails.left('bob@example.com');
  await app.get(ScheduledQueueTester).advance('1m');
  expect(mails.sent).toEqual(['Goodbye, bob@example.com', 'Welcome, ada@example.com (attempt 1)']);
  await app.close();
});

it('delayed jobs of an old queue are moved once, also where the move began twice', async () => {
  const { app, inspector } = await startApp();
  // By the name of the package, as the page imports it.
  const producer = app.get(ScheduledQueueProducer);
  const hour = 3_600_000;
  const left = new Set(['1', 'mail.welcome/ada', '3']);
  const jobs = [...left].map((id, i) => ({
    id,
    name: 'mail.welcome',
    data: { i },
    timestamp: Date.now(),
    delay: (i + 1) * hour,
    remove: async () => left.delete(id),
  }));
  const old = { name: 'mail', getDelayed: async () => jobs.filter(({ id }) => left.has(id)).slice(0, 2) };
  // As by a move that died before it removed the first.
  const { name, data, id, timestamp } = jobs[0]!;
  await producer.schedule(name, data, { queue: 'mail', id, at: timestamp + hour });
  await moveDelayed(old, producer);
  const moved = await inspector.list('scheduled', { queue: 'mail' });
  expect(moved.map((job) => [job.id, job.payload, job.dueAt.getTime()])).toEqual(
    jobs.map((job) => [job.id, job.data, job.timestamp + job.delay]),
  );
  expect(left.size).toBe(0);
});
