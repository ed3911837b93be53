import { Injectable, Logger } from '@nestjs/common';
import { OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { CallWebhook, callWebhook } from './call-webhook.job.js';
import { SendReminder, sendReminder } from './reminder.job.js';
import { runLine } from './run-line.js';

const FAILING_ATTEMPTS = 2;

@Injectable()
export class ReminderHandlers {
  private readonly logger = new Logger('Reminders');

  @OnScheduledJob(sendReminder)
  send(payload: SendReminder, job: ScheduledJob<SendReminder>): void {
    this.logger.log(runLine(job, payload.text));
  }

  @OnScheduledJob(callWebhook)
  call(payload: CallWebhook, job: ScheduledJob<CallWebhook>): void {
    this.logger.log(runLine(job, payload.target));
    if (job.attempt <= FAILING_ATTEMPTS) throw new Error(`${payload.target} does not answer`);
  }
}
