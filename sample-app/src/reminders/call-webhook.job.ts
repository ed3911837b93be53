import { IsString } from 'class-validator';
import { defineScheduledJob } from '../../../lib/index.js';

export class CallWebhook {
  @IsString()
  target!: string;
}

/** The job that fails twice: its receiver only answers at the third attempt. */
export const callWebhook = defineScheduledJob('reminder.webhook', {
  payload: CallWebhook,
  maxAttempts: 5,
  backoff: { type: 'exponential', delayMs: 500 },
});
