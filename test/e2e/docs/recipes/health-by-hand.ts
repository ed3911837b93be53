import { setTimeout } from 'node:timers/promises';
import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { ScheduledQueueInspector } from 'nestjs-redis-scheduled-queue';

@Controller('health')
export class HealthController {
  constructor(private readonly inspector: ScheduledQueueInspector) {}

  /** Does the process turn? It asks nobody else. */
  @Get('live')
  live() {
    return { status: 'up' };
  }

  /** Does Redis answer? */
  @Get('ready')
  async ready() {
    await inTime(this.inspector.isPaused());
    return { status: 'up' };
  }

  /** For an alarm: does anybody work, and are jobs late? */
  @Get('queue')
  async queue() {
    const load = await inTime(this.inspector.load());
    if (load.capacity === 0) {
      throw new ServiceUnavailableException('No worker is running');
    }
    if (load.latenessMs > 60_000) {
      throw new ServiceUnavailableException(`${load.latenessMs} ms late`);
    }
    return load;
  }
}

/** A probe waits for a second; a call to the queue waits for five. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const late = Symbol('late');
  const first = await Promise.race([
    answer.catch(() => late),
    setTimeout(800, late, { ref: false }),
  ]);
  if (first === late) {
    throw new ServiceUnavailableException('Redis does not answer');
  }
  return first as T;
}
