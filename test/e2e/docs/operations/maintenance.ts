import { Injectable } from '@nestjs/common';
import { ScheduledQueueInspector } from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Maintenance {
  constructor(private readonly inspector: ScheduledQueueInspector) {}

  /** Every night from 22:00 to 6:00 in Paris, and while the shop moves. */
  plan() {
    return this.inspector.setBlackouts(
      [
        { cron: '0 22 * * *', durationMs: '8h', timeZone: 'Europe/Paris' },
        { from: '2032-05-08T16:00:00Z', to: '2032-05-09T04:00:00Z' },
      ],
      { queue: 'orders' },
    );
  }
}
