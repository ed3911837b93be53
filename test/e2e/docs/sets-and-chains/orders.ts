import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  JobOutcome,
  type JobSetDone,
  OnScheduledJob,
  ScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

interface Order {
  order: number;
}

export abstract class Bank {
  abstract charge(order: number): Promise<boolean>;
}

const charge = defineScheduledJob<Order>('order.charge');
const pack = defineScheduledJob<Order>('order.pack');
const report = defineScheduledJob('orders.report');

@Injectable()
export class Orders {
  readonly packed: number[] = [];
  readonly reports: JobSetDone[] = [];

  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly bank: Bank,
  ) {}

  async workOff(day: string, orders: number[]) {
    const set = `orders/${day}`;
    await this.producer.openSet(set, { done: { job: report } });
    await this.producer.scheduleMany(
      orders.map((order) => ({
        job: charge,
        payload: { order },
        options: { set, then: { job: pack, payload: { order } } },
      })),
    );
    await this.producer.closeSet(set);
  }

  @OnScheduledJob(charge)
  async charge({ order }: Order) {
    const isPaid = await this.bank.charge(order);
    return isPaid ? undefined : JobOutcome.discard('the card was refused');
  }

  @OnScheduledJob(pack)
  pack({ order }: Order) {
    this.packed.push(order);
  }

  @OnScheduledJob(report)
  report(_: unknown, job: ScheduledJob) {
    this.reports.push(job.setDone!);
  }
}
