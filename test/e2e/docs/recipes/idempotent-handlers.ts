import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledJob,
} from 'nestjs-redis-scheduled-queue';

export abstract class Orders {
  abstract find(id: string): Promise<{ cents: number; isPaid: boolean }>;
  /** UPDATE orders SET paid_at = now() WHERE id = :id AND paid_at IS NULL */
  abstract markPaid(id: string): Promise<void>;
}

export abstract class Bank {
  /** Charges only once for the same key. */
  abstract charge(cents: number, idempotencyKey: string): Promise<void>;
}

const chargeOrder = defineScheduledJob<{ orderId: string }>('order.charge');

@Injectable()
export class Payments {
  constructor(
    private readonly orders: Orders,
    private readonly bank: Bank,
  ) {}

  @OnScheduledJob(chargeOrder)
  async charge({ orderId }: { orderId: string }, job: ScheduledJob) {
    const { cents, isPaid } = await this.orders.find(orderId);
    if (isPaid) return;
    await this.bank.charge(cents, job.id);
    await this.orders.markPaid(orderId);
  }
}
