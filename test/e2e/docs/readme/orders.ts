import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const expireOrder = defineScheduledJob<{ order: number }>('order.expire');

@Injectable()
export class Orders {
  readonly expired: number[] = [];
  reports = 0;

  constructor(private readonly producer: ScheduledQueueProducer) {}

  // An id names a job once. Each change begins the thirty minutes anew.
  changed(order: number) {
    return this.producer.schedule(
      expireOrder,
      { order },
      {
        id: `order.expire/${order}`,
        delay: '30m',
        onDuplicate: 'replace',
      },
    );
  }

  // false: too late, the job has started, or there is none.
  paid(order: number) {
    return this.producer.cancel(`order.expire/${order}`);
  }

  @OnScheduledJob(expireOrder, { timeoutMs: '30s' })
  expire({ order }: { order: number }) {
    this.expired.push(order);
  }

  // Every night at 02:30 in Berlin, once over all processes.
  @OnScheduledJob('orders.report', {
    cron: '30 2 * * *',
    timeZone: 'Europe/Berlin',
  })
  report() {
    this.reports++;
  }
}
