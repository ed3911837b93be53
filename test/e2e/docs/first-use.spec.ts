import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { IsEmail, IsInt } from 'class-validator';
import { defineScheduledJob, OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

class SendReminder {
  @IsInt() userId!: number;
  @IsEmail() email!: string;
}

const sendReminder = defineScheduledJob('reminder.send', { payload: SendReminder, maxAttempts: 5 });

@Injectable()
class ReminderHandlers {
  readonly handled: { payload: SendReminder; job: ScheduledJob<SendReminder> }[] = [];

  @OnScheduledJob(sendReminder)
  async send(payload: SendReminder, job: ScheduledJob<SendReminder>): Promise<void> {
    this.handled.push({ payload, job });
  }
}

afterEach(stopApps);

it('runs a job that is due now, with the instance of its payload class', async () => {
  const { producer, get } = await startApp([ReminderHandlers]);
  const ref = await producer.schedule(sendReminder, { userId: 7, email: 'a@b.co' });
  const { handled } = get(ReminderHandlers);
  await until('the job is handled', () => handled.length === 1);
  expect(handled[0]!.payload).toBeInstanceOf(SendReminder);
  expect(handled[0]!.payload).toEqual({ userId: 7, email: 'a@b.co' });
  expect(handled[0]!.job).toMatchObject({
    id: ref.id,
    queue: 'default',
    name: 'reminder.send',
    attempt: 1,
    maxAttempts: 5,
  });
});
