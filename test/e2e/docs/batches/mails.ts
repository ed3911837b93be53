import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  JobOutcome,
  OnScheduledJob,
  ScheduledJob,
} from 'nestjs-redis-scheduled-queue';

export interface Mail {
  to: string;
  text: string;
}

export abstract class MailService {
  /** One request for many mails; answers an error for each that was refused. */
  abstract send(mails: Mail[]): Promise<(Error | undefined)[]>;
}

export const sendMail = defineScheduledJob<Mail>('mail.send');

@Injectable()
export class Mails {
  constructor(private readonly service: MailService) {}

  @OnScheduledJob(sendMail, { batch: { size: 100, waitMs: '500ms' } })
  async send(mails: Mail[], jobs: ScheduledJob<Mail>[]) {
    const errors = await this.service.send(mails);
    return JobOutcome.each(
      jobs.map(({ attempt }, i) => errors[i] ?? `sent at attempt ${attempt}`),
    );
  }
}
