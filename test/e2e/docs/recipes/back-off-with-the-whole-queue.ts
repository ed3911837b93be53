import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  JobOutcome,
  OnScheduledJob,
  ScheduledJob,
  ScheduledQueueInspector,
  UnrecoverableJobError,
} from 'nestjs-redis-scheduled-queue';

export abstract class Partner {
  abstract post(order: string, key: string): Promise<Response>;
}

export const tellPartner = defineScheduledJob<string>('partner.tell', {
  queue: 'partner',
});

@Injectable()
export class PartnerCalls {
  constructor(
    private readonly partner: Partner,
    private readonly inspector: ScheduledQueueInspector,
  ) {}

  @OnScheduledJob(tellPartner)
  async tell(order: string, job: ScheduledJob<string>) {
    const response = await this.partner.post(order, job.id);
    if (response.status === 429) {
      const forMs = waitOf(response.headers.get('retry-after'));
      await this.inspector.pause({ forMs, queue: job.queue });
      return JobOutcome.snooze(forMs);
    }
    if (response.status >= 500) throw new Error(`Got ${response.status}`);
    if (!response.ok) throw new UnrecoverableJobError(`${response.status}`);
    return undefined;
  }
}

/** Seconds or a date, a minute if there is neither; from 1 s to 1 h. */
function waitOf(retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? 60);
  const ms = Number.isNaN(seconds)
    ? Date.parse(retryAfter ?? '') - Date.now()
    : seconds * 1_000;
  return Math.min(Math.max(ms || 60_000, 1_000), 3_600_000);
}
