import { Injectable } from '@nestjs/common';
import { OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Orders {
  readonly expired: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  placed = (id: string, lines: string[]) => this.producer.schedule('expire', { id, lines }, { id, delay: '30m' });
  touched = (id: string) => this.producer.reschedule(id, { delay: '30m' });
  paid = (id: string) => this.producer.cancel(id);

  @OnScheduledJob('expire')
  expire({ id, lines }: { id: string; lines: string[] }) {
    this.expired.push(`${id}: ${lines.join()}`);
  }
}
