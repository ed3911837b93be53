import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  JobOutcome,
  OnScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

export interface Click {
  id: string;
  page: string;
}

export abstract class ClickTable {
  /** One statement: all of them, or none. An id that is there is skipped. */
  abstract insert(clicks: Click[]): Promise<void>;
}

const insertClick = defineScheduledJob<Click>('click.insert');

@Injectable()
export class Clicks {
  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly table: ClickTable,
  ) {}

  clicked(click: Click) {
    return this.producer.schedule(insertClick, click);
  }

  @OnScheduledJob(insertClick, { batch: { size: 100, waitMs: '1s' } })
  async insert(clicks: Click[]) {
    try {
      await this.table.insert(clicks);
      return undefined;
    } catch {
      const inserts = clicks.map((click) => this.table.insert([click]));
      return JobOutcome.each(await Promise.allSettled(inserts));
    }
  }
}
