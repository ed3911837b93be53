import { Injectable } from '@nestjs/common';
import { ScheduledQueueConsumer, ScheduledQueueInspector, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';

@Injectable()
export class PriorityQueue {
  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly consumer: ScheduledQueueConsumer,
    private readonly inspector: ScheduledQueueInspector,
  ) {}

  push = (item: unknown, priority: number) => this.producer.dispatch('item', item, { priority });
  pop = async () => (await this.consumer.pop())[0];
  peek = async () => (await this.inspector.peek())[0]?.payload;
  size = async () => (await this.inspector.counts()).due;
  clear = () => this.inspector.clear();
}
