import { IsString, Length } from 'class-validator';
import { defineScheduledJob } from '../../../lib/index.js';

/** What a reminder carries; checked when it is scheduled and again before it is handled. */
export class SendReminder {
  @IsString()
  @Length(1, 500)
  text!: string;
}

export const sendReminder = defineScheduledJob('reminder.send', {
  payload: SendReminder,
  maxAttempts: 5,
  backoff: { type: 'exponential', delayMs: '1s' },
});
