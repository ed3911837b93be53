import { Injectable } from '@nestjs/common';
import { ScheduledQueueProducer } from '../../../lib/index.js';
import { callWebhook } from './call-webhook.job.js';
import { sendReminder } from './reminder.job.js';

const OPENING_DELAYS_SECONDS = [0, 1, 3, 5, 10, 30];

/** What the app schedules by itself when it starts, so that there is something to watch. */
@Injectable()
export class OpeningReminders {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  async schedule(): Promise<void> {
    for (const seconds of OPENING_DELAYS_SECONDS) {
      const text = seconds === 0 ? 'Due at once' : `Due ${seconds} s after the start`;
      await this.producer.schedule(sendReminder, { text }, { delay: seconds * 1_000 });
    }
    await this.producer.schedule(callWebhook, { target: 'example.com' }, { delay: '2s' });
  }
}
