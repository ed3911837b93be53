import { Injectable, Logger } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

export interface OutboxRow {
  id: string;
  orderId: string;
}

export abstract class Database {
  /** BEGIN; INSERT INTO orders …; INSERT INTO outbox …; COMMIT */
  abstract insertOrder(orderId: string): Promise<void>;
  /** SELECT id, order_id FROM outbox ORDER BY id LIMIT 100 */
  abstract outbox(): Promise<OutboxRow[]>;
  /** DELETE FROM outbox WHERE id = ANY(:ids) */
  abstract deleteFromOutbox(ids: string[]): Promise<void>;
}

const confirmOrder = defineScheduledJob<{ orderId: string }>('order.confirm');

@Injectable()
export class Orders {
  readonly confirmed: string[] = [];

  constructor(
    private readonly database: Database,
    private readonly producer: ScheduledQueueProducer,
  ) {}

  async place(orderId: string) {
    await this.database.insertOrder(orderId);
    // At once in most cases. If it fails, the sweep does it.
    await this.sweep().catch((error: unknown) =>
      new Logger('Orders').warn(error),
    );
  }

  @OnScheduledJob('outbox.sweep', { everyMs: '10s', overlap: 'skip' })
  async sweep() {
    const rows = await this.database.outbox();
    if (rows.length === 0) return;
    await this.producer.scheduleMany(
      rows.map(({ id, orderId }) => ({
        job: confirmOrder,
        payload: { orderId },
        // A row that is handed over twice makes one job.
        options: { id: `order.confirm/${id}` },
      })),
    );
    await this.database.deleteFromOutbox(rows.map(({ id }) => id));
  }

  @OnScheduledJob(confirmOrder)
  confirm({ orderId }: { orderId: string }) {
    this.confirmed.push(orderId);
  }
}
