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

  // Called twice, it makes one job: an id names a job once.
  opened(order: number) {
    const id = `order.expire/${order}`;
    return this.producer.schedule(expireOrder, { order }, { id, delay: '30m' });
  }

  // The thirty minutes begin anew, with the new payload.
  changed(order: number) {
    const options = { id: `order.expire/${order}`, delay: '30m' } as const;
    return this.producer.schedule(
      expireOrder,
      { order },
      { ...options, onDuplicate: 'replace' },
    );
  }

  // false: too late, the job has started, or there is none.
  paid(order: number) {
    return this.producer.cancel(`order.expire/${order}`);
  }

  @OnScheduledJob(expireOrder)
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
