import { Injectable } from '@nestjs/common';
import { OnScheduledJob, ScheduledJob } from 'nestjs-redis-scheduled-queue';

export abstract class Reports {
  abstract render(name: string, signal: AbortSignal): Promise<string>;
  /** UPDATE reports SET text = :text, fence = :fence WHERE name = :name AND fence < :fence */
  abstract save(name: string, text: string, fence: number): Promise<void>;
}

@Injectable()
export class ReportHandler {
  constructor(private readonly reports: Reports) {}

  @OnScheduledJob('report')
  async write(name: string, job: ScheduledJob<string>) {
    const text = await this.reports.render(name, job.signal);
    await this.reports.save(name, text, job.fence);
  }
}
