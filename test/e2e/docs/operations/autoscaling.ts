import { Controller, Get, Param } from '@nestjs/common';
import { ScheduledQueueInspector } from 'nestjs-redis-scheduled-queue';

@Controller('queues')
export class LoadController {
  constructor(private readonly inspector: ScheduledQueueInspector) {}

  /** How much runs, in weight, and how many jobs wait for a worker or are due within two minutes: in jobs, if none has a `weight`. */
  @Get(':queue/work')
  async work(@Param('queue') queue: string) {
    const { running, due, dueSoon, blocked } = await this.inspector.load({ queue, withinMs: '2m' });
    return { work: blocked ? running : running + due + dueSoon };
  }
}
