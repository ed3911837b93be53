import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { OnScheduledJob, ScheduledQueueEvents, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
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

let app: TestingModule;
let tester: ScheduledQueueTester;

beforeEach(async () => {
  app = await Test.createTestingModule({
    imports: [ScheduledQueueTestingModule.forRoot({ now: '2027-01-01T09:00:00Z' })],
    providers: [Trials],
  }).compile();
  await app.init();
  tester = app.get(ScheduledQueueTester);

  fakeDate();
  setDate();
  // `started` is told just before the handler is called.
  app.get(ScheduledQueueEvents).events$.subscribe(setDate);
});

afterEach(async () => {
  await app.close();
  realDate();
});

it('ends a trial after 14 days', async () => {
  await app.get(ScheduledQueueProducer).schedule('trial.begin', null, { delay: '1 day' });
  await tester.advance('2 days');
  tester.expectScheduled('trial.end', { at: '2027-01-16T09:00:00Z' });

  // After `advance` and `tester.sleep`, no event may have told the time.
  setDate();
  expect(new Date()).toEqual(tester.now());
});

/** Of all that Jest can fake, only the Date: real I/O needs the others. */
function fakeDate(): void {
  jest.useFakeTimers({
    doNotFake: [
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'setImmediate',
      'clearImmediate',
      'nextTick',
      'queueMicrotask',
      'hrtime',
      'performance',
    ],
  });
}

function setDate(): void {
  jest.setSystemTime(tester.now());
}

function realDate(): void {
  jest.useRealTimers();
}
