import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { relayKey, ScheduledQueueConsumer } from 'nestjs-redis-scheduled-queue';

export const list = relayKey('faxes', 'ready');

@Injectable()
export class FaxRelay implements OnApplicationBootstrap {
  constructor(private readonly consumer: ScheduledQueueConsumer) {}

  onApplicationBootstrap() {
    this.consumer.relay({ queue: 'faxes', names: ['fax'], to: { list } });
  }
}
