import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, ScheduledQueueProducer } from '../../../lib/index.js';
import { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

// Redis away on demand: nothing runs, each call is refused at once, and all goes on afterwards.

afterEach(stopTestedApps);

const HOUR = 3_600_000;
const REFUSED = { code: 'QUEUE_UNAVAILABLE', outcome: 'refused' };

@Injectable()
class Handlers {
  outcome?: unknown;

  constructor(
    readonly tester: ScheduledQueueTester,
    readonly producer: ScheduledQueueProducer,
  ) {}

  @OnScheduledJob('work')
  work() {}

  @OnScheduledJob('sleeps')
  async sleeps() {
    await this.tester.sleep('1h');
  }

  @OnScheduledJob('next')
  async next() {
    await this.producer.schedule('work', null);
  }
}

it('every call that would ask Redis is refused at once, with the ids that the caller has chosen', async () => {
  const { tester, producer, consumer, inspector } = await testedApp([Handlers]);
  const job = await producer.schedule('work', null, { delay: '1h' });
  await producer.schedule('elsewhere', null);
  const [popped] = await consumer.pop({ names: ['elsewhere'] });
  tester.redisAway();
  const calls: Record<string, () => Promise<unknown>> = {
    schedule: () => producer.schedule('work', null),
    scheduleMany: () => producer.scheduleMany([{ job: 'work', payload: null }]),
    cancel: () => producer.cancel(job),
    reschedule: () => producer.reschedule(job, { delay: '2h' }),
    upsertRecurrence: () => producer.upsertRecurrence('r', 'work', null, { everyMs: '1h' }),
    counts: () => inspector.counts(),
    queues: () => inspector.queues(),
    explain: () => inspector.explain(job),
    find: () => inspector.find({ names: ['work'] }),
    pause: () => inspector.pause(),
    pop: () => consumer.pop(),
    complete: () => popped!.complete(),
    extend: () => popped!.extend('1h'),
  };
  for (const [name, call] of Object.entries(calls)) {
    const said = await call().then(
      () => 'answered',
      (error: { code: string; outcome: string }) => ({ code: error.code, outcome: error.outcome }),
    );
    expect([name, said]).toEqual([name, REFUSED]);
  }
  await expect(producer.schedule('work', null, { id: 'mine' })).rejects.toMatchObject({
    ...REFUSED,
    queue: 'default',
    jobIds: ['mine'],
    message: 'Redis is unavailable (the test has called tester.redisAway()); the call has not happened.',
  });
  await expect(producer.scheduleMany([{ job: 'work', payload: null, options: { id: 'many' } }])).rejects.toMatchObject({
    ...REFUSED,
    jobIds: ['many'],
  });

  tester.redisAway(false);
  expect(await popped!.complete()).toBe(true);
  expect(await consumer.pop({ names: ['elsewhere'] })).toEqual([]);
  expect((await producer.schedule('work', null, { id: 'mine' })).created).toBe(true);
});

it('nothing runs until Redis is back, and then what became due meanwhile; the kit can still be asked', async () => {
  const { tester, producer } = await testedApp([Handlers]);
  const job = await producer.schedule('work', null, { delay: '1h' });
  tester.redisAway();
  await tester.advance('90 days');
  expect(tester.runs()).toEqual([]);
  expect(tester.scheduled('work')).toHaveLength(1);
  await tester.waitFor(job, 'due');
  tester.redisAway(false);
  expect(tester.runs()).toEqual([]);
  await tester.drain();
  expect(tester.runs('work')).toMatchObject([{ outcome: 'completed', startedAt: new Date(START + 90 * 24 * HOUR) }]);
});

it('a handler that runs meanwhile keeps its job: its end is told once Redis is back', async () => {
  const { tester, producer, inspector } = await testedApp([Handlers]);
  const job = await producer.schedule('sleeps', null, { timeoutMs: 0 });
  await tester.drain();
  tester.redisAway();
  await tester.advance('1 day');
  tester.redisAway(false);
  await tester.drain();
  await tester.waitFor(job, 'completed');
  expect(tester.runs('sleeps')).toMatchObject([{ outcome: 'completed', endedAt: new Date(START + HOUR) }]);
  expect(await inspector.stats()).toMatchObject({ recovered: 0, completed: 1 });
});

it('time passes in one step, though somebody holds a popped job and waits for another', async () => {
  const { tester, producer, consumer } = await testedApp();
  await producer.schedule('elsewhere', null);
  const [popped] = await consumer.pop();
  const waiting = consumer.pop({ waitMs: '20 days' });
  await tester.drain();
  const stops: number[] = [];
  tester.onTime((now) => stops.push(now.getTime() - START));
  tester.redisAway();
  await tester.advance('10 days');
  expect(stops.length).toBeLessThan(10);
  tester.redisAway(false);
  expect(await popped!.complete()).toBe(true);
  await producer.schedule('elsewhere', null);
  await tester.drain();
  expect(await waiting).toHaveLength(1);
});

it('run calls a handler whose own calls are refused', async () => {
  const { tester } = await testedApp([Handlers]);
  tester.redisAway();
  expect(await tester.run('next', null)).toMatchObject({ outcome: 'failed', error: REFUSED });
  expect(() => tester.redisAway('yes' as never)).toThrow('redisAway: got "yes", expected true or false.');
});

it('an application starts and closes while Redis is away', async () => {
  const { app, tester, producer, consumer } = await testedApp([Handlers], { autoStart: false });
  await producer.schedule('elsewhere', null);
  await producer.schedule('work', null);
  expect(await consumer.pop({ names: ['elsewhere'] })).toHaveLength(1);
  tester.redisAway();
  await consumer.start();
  await tester.advance('1h');
  expect(tester.runs()).toEqual([]);
  tester.redisAway(false);
  await tester.drain();
  expect(tester.runs('work')).toHaveLength(1);
  const waiting = consumer.pop({ names: ['elsewhere'], waitMs: '1 day' });
  tester.redisAway();
  await tester.advance('20s');
  await app.close();
  expect(await waiting).toEqual([]);
  expect(() => tester.redisAway(false)).toThrow('got an application that was closed');
});
