import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { relayKey, ScheduledQueueConsumer } from 'nestjs-redis-scheduled-queue';

export const stream = relayKey('images', 'due');

@Injectable()
export class ImageRelay implements OnApplicationBootstrap {
  constructor(private readonly consumer: ScheduledQueueConsumer) {}

  onApplicationBootstrap() {
    this.consumer.relay({ queue: 'images', to: { stream } });
  }
}
