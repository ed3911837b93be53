import { Injectable, Logger } from '@nestjs/common';
import { defineScheduledJob, OnScheduledJob } from '../../../lib/index.js';
import { RemindersService } from './reminders.service.js';

export const sendDigest = defineScheduledJob('reminders.digest');

/** Once a day, however many processes of the app run, and made up for after a night in which none did. */
@Injectable()
export class DigestHandlers {
  private readonly logger = new Logger('Digest');

  constructor(private readonly reminders: RemindersService) {}

  @OnScheduledJob(sendDigest, { cron: '0 7 * * *', timeZone: process.env.DIGEST_TIME_ZONE ?? 'Europe/Paris' })
  async send(): Promise<void> {
    const waiting = await this.reminders.list();
    this.logger.log(
      `${waiting.length} reminders wait; the first ones: ${waiting
        .slice(0, 3)
        .map(({ text }) => text)
        .join(', ')}`,
    );
  }
}
