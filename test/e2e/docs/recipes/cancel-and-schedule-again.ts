import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const expireOrder = defineScheduledJob<{ orderId: string }>('order.expire', {
  queue: 'orders',
});
const jobOf = (orderId: string) => expireOrder.ref(`order.expire/${orderId}`);

@Injectable()
export class Orders {
  readonly expired: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  /** Also of an order that was paid or cancelled, and is opened again. */
  opened(orderId: string) {
    const { id } = jobOf(orderId);
    return this.producer.schedule(
      expireOrder,
      { orderId },
      { id, delay: '30m' },
    );
  }

  /** `false`: too late, the job has started or there is none. */
  touched(orderId: string) {
    return this.producer.reschedule(jobOf(orderId), { delay: '30m' });
  }

  /** `false`: too late, the job has started or there is none. */
  paid(orderId: string) {
    return this.producer.cancel(jobOf(orderId));
  }

  @OnScheduledJob(expireOrder)
  expire({ orderId }: { orderId: string }) {
    this.expired.push(orderId);
  }
}
