// The process of a test that uses the test kit, of an application that imports the kit (HOW=kit) or the real module (HOW=override), with
// whatever might stay open: recurrences, handlers that sleep, a pop that waits, listeners, a handler that hung. At its end it prints what
// is open that was not before, and must then end by itself.
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  OnScheduledJob,
  OnScheduledJobEvent,
  RedisScheduledQueueModule,
  ScheduledQueueConsumer,
  ScheduledQueueEvents,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';
import {
  overrideScheduledQueue,
  ScheduledQueueTester,
  ScheduledQueueTestingModule,
} from 'nestjs-redis-scheduled-queue/testing';

const { HOW, CLOSES = 'yes' } = process.env;
/** Nobody listens there: a connection would be tried again and again. */
const NOWHERE = 'redis://127.0.0.1:1';
const SIGNALS = ['SIGTERM', 'SIGINT', 'exit', 'beforeExit'];

@Injectable()
class Handlers {
  constructor(readonly tester: ScheduledQueueTester) {}

  @OnScheduledJob('nightly', { cron: '0 3 * * *' })
  nightly() {}

  @OnScheduledJob('quick')
  quick() {}

  @OnScheduledJob('slow')
  slow() {
    return this.tester.sleep('5 days');
  }

  @OnScheduledJob('endless')
  endless() {
    return new Promise(() => {});
  }

  @OnScheduledJobEvent('completed')
  completed() {}
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({ connection: NOWHERE }),
    RedisScheduledQueueModule.forRootAsync({ name: 'second', useFactory: () => ({ connection: NOWHERE }) }),
  ],
  providers: [Handlers],
})
class RealModule {}

function builder() {
  if (HOW === 'override') return overrideScheduledQueue(Test.createTestingModule({ imports: [RealModule] }));
  return Test.createTestingModule({ imports: [ScheduledQueueTestingModule.forRoot()], providers: [Handlers] });
}

function opened(): string[] {
  return [
    ...process.getActiveResourcesInfo(),
    ...SIGNALS.flatMap((name) => process.listeners(name as 'exit').map(() => name)),
  ];
}

const before = opened();
const app = await builder()
  .setLogger({ log() {}, warn() {}, error() {} })
  .compile();
await app.init();
const tester = app.get(ScheduledQueueTester);
const producer = app.get(ScheduledQueueProducer);
app.get(ScheduledQueueEvents).events$.subscribe(() => {});

tester.failNext('quick', new Error('no'));
for (const name of ['quick', 'slow']) await producer.schedule(name, null, { timeoutMs: 0 });
await app.get(ScheduledQueueInspector).pause({ queue: 'other', forMs: '1h' });
const popping = app.get(ScheduledQueueConsumer).pop({ queue: 'popped', count: 1, waitMs: '20 days' });
const job = await producer.schedule('quick', null, { delay: '60 days' });
const waiting = tester.waitFor(job, 'completed').catch(({ message }) => message);
await tester.advance('3 days');
await producer.schedule('endless', null);
const hung = await tester.drain().then(
  () => 'no',
  ({ message }) => message.includes('has not ended after 5 s'),
);

const told: Record<string, unknown> = { ran: tester.runs().length, hung };
if (CLOSES === 'yes') {
  await app.close();
  told.popped = (await popping).length;
}
told.waited = await waiting;
await new Promise(setImmediate);
const left = opened();
for (const one of before) if (left.includes(one)) left.splice(left.indexOf(one), 1);
process.stdout.write(JSON.stringify({ ...told, left }));
