import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const sendReport = defineScheduledJob<{ userId: number }>('report.send');

@Injectable()
export class Reports {
  readonly sent: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  subscribe(userId: number, timeZone: string) {
    const rule = { cron: '0 8 * * MON', timeZone, overlap: 'skip' } as const;
    return this.producer.upsertRecurrence(
      `report/${userId}`,
      sendReport,
      { userId },
      rule,
    );
  }

  holiday(userId: number) {
    return this.producer.pauseRecurrence(`report/${userId}`, {
      reason: 'on holiday',
    });
  }

  unsubscribe(userId: number) {
    return this.producer.removeRecurrence(`report/${userId}`);
  }

  @OnScheduledJob(sendReport)
  send({ userId }: { userId: number }, { recurrence }: ScheduledJob) {
    const week = recurrence?.at.toISOString().slice(0, 10);
    this.sent.push(
      `report of ${week} to ${userId}${recurrence?.missed ? ', late' : ''}`,
    );
  }
}
