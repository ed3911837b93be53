import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  JobOutcome,
  OnScheduledJob,
  ScheduledJob,
  ScheduledQueueInspector,
} from 'nestjs-redis-scheduled-queue';

export abstract class Crm {
  abstract push(account: string, contact: string): Promise<Response>;
}

export interface Contact {
  account: string;
  contact: string;
}

export const pushContact = defineScheduledJob<Contact>('contact.push', {
  queue: 'crm',
  group: ({ account }) => account,
});

@Injectable()
export class CrmCalls {
  constructor(
    private readonly crm: Crm,
    private readonly inspector: ScheduledQueueInspector,
  ) {}

  @OnScheduledJob(pushContact)
  async push({ account, contact }: Contact, job: ScheduledJob<Contact>) {
    const response = await this.crm.push(account, contact);
    if (response.status === 429) {
      const seconds = Number(response.headers.get('retry-after')) || 60;
      const forMs = 1_000 * seconds;
      await this.inspector.pauseGroup(job.group!, { forMs, queue: job.queue });
      return JobOutcome.snooze(forMs);
    }
    if (!response.ok) throw new Error(`Got ${response.status}`);
    return undefined;
  }
}
