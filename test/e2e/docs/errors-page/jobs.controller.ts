import { Controller, Get, Param } from '@nestjs/common';
import { ScheduledQueueInspector } from 'nestjs-redis-scheduled-queue';

@Controller('jobs')
export class JobsController {
  constructor(private readonly inspector: ScheduledQueueInspector) {}

  @Get(':queue/:id')
  explain(@Param('queue') queue: string, @Param('id') id: string) {
    return this.inspector.explain({ id, queue });
  }
}
