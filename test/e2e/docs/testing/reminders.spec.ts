import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { defineScheduledJob, OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from 'nestjs-redis-scheduled-queue/testing';

// What is tested; yours lies in files of its own.

const remind = defineScheduledJob<{ to: string }>('reminder.send');

@Injectable()
class SignUps {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  async signUp(email: string): Promise<void> {
    await this.producer.schedule(remind, { to: email }, { delay: '30 days' });
  }
}

@Injectable()
class Reminders {
  readonly sent: string[] = [];

  @OnScheduledJob(remind)
  send({ to }: { to: string }): void {
    this.sent.push(to);
  }
}

// The test.

let app: TestingModule;
let tester: ScheduledQueueTester;

beforeEach(async () => {
  app = await Test.createTestingModule({
    imports: [ScheduledQueueTestingModule.forRoot({ now: '2027-01-01T09:00:00Z' })],
    providers: [SignUps, Reminders],
  }).compile();
  // Without init, no handler is found.
  await app.init();
  tester = app.get(ScheduledQueueTester);
});

afterEach(() => app.close());

it('reminds a user 30 days after the sign-up, and not before', async () => {
  await app.get(SignUps).signUp('ada@example.com');
  tester.expectScheduled(remind, { payload: { to: 'ada@example.com' }, at: '2027-01-31T09:00:00Z' });

  await tester.advance('29 days');
  expect(app.get(Reminders).sent).toEqual([]);

  await tester.advance('1 day');
  expect(app.get(Reminders).sent).toEqual(['ada@example.com']);
});
