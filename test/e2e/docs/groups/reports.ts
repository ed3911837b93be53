import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  type QueueOptions,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

export interface Report {
  tenant: string;
  month: string;
}

export const makeReport = defineScheduledJob<Report>('report.make', {
  queue: 'reports',
  group: ({ tenant }) => tenant,
});

/** For forRoot({ queues }): of each tenant at most four reports at once. */
export const queues: Record<string, QueueOptions> = {
  reports: { concurrency: 20, groups: { concurrency: 4 } },
};

@Injectable()
export class Reports {
  readonly made: string[] = [];

  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly inspector: ScheduledQueueInspector,
  ) {}

  order(reports: Report[]) {
    return this.producer.scheduleMany(
      reports.map((payload) => ({ job: makeReport, payload })),
    );
  }

  /** Three times the turns of the others, and ten at once. */
  upgrade(tenant: string) {
    const settings = { weight: 3, concurrency: 10 };
    return this.inspector.setGroup(tenant, settings, { queue: 'reports' });
  }

  @OnScheduledJob(makeReport)
  make({ tenant, month }: Report) {
    this.made.push(`${tenant} ${month}`);
  }
}
