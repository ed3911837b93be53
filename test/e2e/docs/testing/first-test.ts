import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { defineScheduledJob, OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from 'nestjs-redis-scheduled-queue/testing';

export const sendReminder = defineScheduledJob<{ to: string }>('reminder.send');

@Injectable()
export class ReminderHandlers {
  readonly sent: string[] = [];

  @OnScheduledJob(sendReminder)
  send({ to }: { to: string }) {
    this.sent.push(to);
  }
}

/** A reminder is sent 30 days after the sign-up, and not a moment before. */
export async function reminderIn30Days(): Promise<string[]> {
  const app = await Test.createTestingModule({
    imports: [ScheduledQueueTestingModule.forRoot({ now: '2027-01-01T09:00:00Z' })],
    providers: [ReminderHandlers],
  }).compile();
  await app.init();
  const tester = app.get(ScheduledQueueTester);
  const handlers = app.get(ReminderHandlers);

  await app.get(ScheduledQueueProducer).schedule(sendReminder, { to: 'ada@example.com' }, { delay: '30 days' });
  tester.expectScheduled(sendReminder, { payload: { to: 'ada@example.com' }, at: '2027-01-31T09:00:00Z' });

  await tester.advance('29 days');
  if (handlers.sent.length > 0) throw new Error('too early');
  await tester.advance('1 day');

  await app.close();
  return handlers.sent;
}
