import { Injectable, Logger } from '@nestjs/common';
import {
  OnScheduledJobEvent,
  type ScheduledQueueEventOf,
} from 'nestjs-redis-scheduled-queue';

export abstract class Pager {
  abstract page(message: string): Promise<void>;
}

@Injectable()
export class Alerts {
  private readonly logger = new Logger(Alerts.name);

  constructor(private readonly pager: Pager) {}

  @OnScheduledJobEvent('dead')
  async onDead({ queue, name, id, reason }: ScheduledQueueEventOf<'dead'>) {
    await this.pager.page(`Job ${name} (${id}) of ${queue} is dead: ${reason}`);
  }

  @OnScheduledJobEvent(['late', 'recovered'], { queue: 'mail' })
  onTrouble(event: ScheduledQueueEventOf<'late' | 'recovered'>) {
    this.logger.warn(`Job ${event.name} (${event.id}): ${event.type}`);
  }
}
