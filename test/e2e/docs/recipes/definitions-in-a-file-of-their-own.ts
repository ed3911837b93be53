// orders.jobs.ts
import { defineScheduledJob } from 'nestjs-redis-scheduled-queue';

export interface OrderJob {
  orderId: string;
}

export const expireOrder = defineScheduledJob<OrderJob>('order.expire', {
  queue: 'orders',
});
export const shipOrder = defineScheduledJob<OrderJob>('order.ship', {
  queue: 'orders',
  maxAttempts: 10,
});

/** For those who cancel or move the job: `producer.cancel(expiryOf('7'))`. */
export const expiryOf = (orderId: string) =>
  expireOrder.ref(`order.expire/${orderId}`);
