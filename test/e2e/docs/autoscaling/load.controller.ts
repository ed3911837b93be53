import { Controller, Get, Param } from '@nestjs/common';
import { ScheduledQueueInspector } from 'nestjs-redis-scheduled-queue';

@Controller('queues')
export class LoadController {
  constructor(private readonly inspector: ScheduledQueueInspector) {}

  /** What `load` answers, and how many jobs wait or are due within two minutes: none while nothing may begin. */
  @Get(':queue/load')
  async load(@Param('queue') queue: string) {
    const load = await this.inspector.load({ queue, withinMs: '2m' });
    return { ...load, coming: load.blocked ? 0 : load.due + load.dueSoon };
  }
}
