import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import {
  ScheduledQueueEvents,
  type ScheduledQueueStreamedEvent,
} from 'nestjs-redis-scheduled-queue';
import { firstValueFrom, take, takeUntil, timer, toArray } from 'rxjs';

export abstract class Archive {
  /** The `eventId` of the last event that was saved. */
  abstract lastId(): Promise<string | undefined>;
  /** Saves events, and the `eventId` of the last one in the same transaction. */
  abstract save(events: ScheduledQueueStreamedEvent[]): Promise<void>;
}

@Injectable()
export class Archiver implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(Archiver.name);
  private isRunning = true;
  private loop?: Promise<void>;

  constructor(
    private readonly events: ScheduledQueueEvents,
    private readonly archive: Archive,
  ) {}

  onApplicationBootstrap() {
    this.loop = this.run();
  }

  async onModuleDestroy() {
    this.isRunning = false;
    await this.loop;
  }

  private async run() {
    while (this.isRunning) {
      try {
        const batch = await this.read(await this.archive.lastId());
        if (batch.length > 0) await this.archive.save(batch);
      } catch (error) {
        this.logger.error(`The events are read again: ${String(error)}`);
        await firstValueFrom(timer(1_000));
      }
    }
  }

  /** What comes within a second, at most 500 events. Nothing is read while they are saved. */
  private read(lastId = '0'): Promise<ScheduledQueueStreamedEvent[]> {
    return firstValueFrom(
      this.events
        .stream({ queue: 'mail', from: lastId })
        .pipe(take(500), takeUntil(timer(1_000)), toArray()),
    );
  }
}
