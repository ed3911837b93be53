import { Injectable } from '@nestjs/common';
import { OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Devices {
  readonly done: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  send = (device: string, command: string) => this.producer.dispatch(`device/${device}`, command, { queue: 'devices' });

  @OnScheduledJob('device/gateway', { queue: 'devices' })
  gateway(command: string) {
    this.done.push(command);
  }
}
