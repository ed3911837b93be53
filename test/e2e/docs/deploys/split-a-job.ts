import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

export interface Order {
  order: number;
}

/** Nobody schedules it any more. */
export const finishOrder = defineScheduledJob<Order>('order.finish');
export const charge = defineScheduledJob<Order>('order.charge');
export const ship = defineScheduledJob<Order>('order.ship');

@Injectable()
export class Orders {
  readonly done: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  @OnScheduledJob(charge)
  charge({ order }: Order) {
    this.done.push(`charged ${order}`);
  }

  @OnScheduledJob(ship)
  ship({ order }: Order) {
    this.done.push(`shipped ${order}`);
  }

  /** Until inspector.versions tells no job of it. A second attempt makes no second jobs. */
  @OnScheduledJob(finishOrder)
  async split(order: Order, { id }: ScheduledJob<Order>) {
    await this.producer.scheduleMany([
      { job: charge, payload: order, options: { id: `${id}/charge` } },
      { job: ship, payload: order, options: { id: `${id}/ship` } },
    ]);
  }
}
