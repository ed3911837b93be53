import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from 'nestjs-redis-scheduled-queue/testing';

@Injectable()
class Trials {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  @OnScheduledJob('trial.begin')
  async begin(): Promise<void> {
    const end = new Date();
    end.setUTCDate(end.getUTCDate() + 14);
    await this.producer.schedule('trial.end', null, { at: end });
  }
}

const timers = [
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
] as const;
let app: TestingModule;
let tester: ScheduledQueueTester;

beforeEach(async () => {
  app = await Test.createTestingModule({
    imports: [ScheduledQueueTestingModule.forRoot({ now: '2027-01-01T09:00:00Z' })],
    providers: [Trials],
  }).compile();
  await app.init();
  tester = app.get(ScheduledQueueTester);

  // Of all that Jest can fake, only the Date: real I/O needs the others.
  jest.useFakeTimers({ doNotFake: [...timers, 'nextTick', 'queueMicrotask', 'hrtime', 'performance'] });
  tester.onTime((now) => jest.setSystemTime(now));
});

afterEach(async () => {
  await app.close();
  jest.useRealTimers();
});

it('ends a trial after 14 days', async () => {
  await app.get(ScheduledQueueProducer).schedule('trial.begin', null, { delay: '1 day' });
  await tester.advance('2 days');
  tester.expectScheduled('trial.end', { at: '2027-01-16T09:00:00Z' });
  expect(new Date()).toEqual(tester.now());
});
