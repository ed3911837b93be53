import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import {
  type ScheduledQueueEvent,
  ScheduledQueueEvents,
} from 'nestjs-redis-scheduled-queue';
import { bufferTime, catchError, concatMap, defer, EMPTY, filter } from 'rxjs';

export abstract class AuditTable {
  abstract insert(events: readonly ScheduledQueueEvent[]): Promise<void>;
}

@Injectable()
export class Audit implements OnModuleInit {
  private readonly logger = new Logger(Audit.name);

  constructor(
    private readonly events: ScheduledQueueEvents,
    private readonly table: AuditTable,
  ) {}

  onModuleInit() {
    this.events.events$
      .pipe(
        filter(({ type }) => type === 'completed' || type === 'dead'),
        // At most 500 rows an insert, and one insert at a time.
        bufferTime(1_000, null, 500),
        filter((batch) => batch.length > 0),
        concatMap((batch) => this.insert(batch)),
      )
      .subscribe();
  }

  /** An error that is not caught here would end the subscription. */
  private insert(batch: readonly ScheduledQueueEvent[]) {
    return defer(() => this.table.insert(batch)).pipe(
      catchError((error: unknown) => {
        this.logger.error(`${batch.length} events are lost: ${String(error)}`);
        return EMPTY;
      }),
    );
  }
}
