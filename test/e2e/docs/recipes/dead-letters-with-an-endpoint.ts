import {
  Body,
  Controller,
  Delete,
  Get,
  NotFoundException,
  Param,
  Post,
  Query,
} from '@nestjs/common';
import { ScheduledQueueInspector } from 'nestjs-redis-scheduled-queue';

/** Put a guard on it: who may replay a job may run it. */
@Controller('admin/queues/:queue/dead')
export class DeadLettersController {
  constructor(private readonly inspector: ScheduledQueueInspector) {}

  @Get()
  async list(@Param('queue') queue: string, @Query('offset') offset = '0') {
    const options = { queue, offset: Number(offset), limit: 50 };
    const jobs = await this.inspector.list('dead', options);
    return jobs.map(({ id, name, reason, endedAt, attempts, failures }) => {
      return { id, name, reason, endedAt, attempts, error: failures.at(-1) };
    });
  }

  /** All of a name, ten a second. */
  @Post('replay')
  async replay(@Param('queue') queue: string, @Body('name') name: string) {
    const filter = { queue, names: [name] };
    const options = { perSecond: 10 };
    return { replayed: await this.inspector.replayDead(filter, options) };
  }

  @Post(':id/replay')
  async replayOne(@Param('queue') queue: string, @Param('id') id: string) {
    const replayed = await this.inspector.replayDead({ id, queue });
    if (replayed === 0) throw new NotFoundException();
    return { replayed };
  }

  @Delete(':id')
  async remove(@Param('queue') queue: string, @Param('id') id: string) {
    const job = await this.inspector.job({ id, queue });
    if (job?.state !== 'dead') throw new NotFoundException();
    return { removed: await this.inspector.remove({ id, queue }) };
  }
}
