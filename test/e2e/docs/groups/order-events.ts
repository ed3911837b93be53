import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  type QueueOptions,
} from 'nestjs-redis-scheduled-queue';

export interface OrderEvent {
  order: string;
  what: 'placed' | 'paid' | 'sent';
}

export abstract class Ledger {
  abstract write(event: OrderEvent): Promise<void>;
}

export const orderEvent = defineScheduledJob<OrderEvent>('order.event', {
  queue: 'orders',
  group: ({ order }) => order,
  backoff: { type: 'exponential', delayMs: 100, maxDelayMs: 60_000 },
});

export const queues: Record<string, QueueOptions> = {
  orders: { concurrency: 50, groups: { order: 'fifo' } },
};

@Injectable()
export class OrderEvents {
  constructor(private readonly ledger: Ledger) {}

  @OnScheduledJob(orderEvent)
  handle(event: OrderEvent) {
    return this.ledger.write(event);
  }
}
