import {
  Controller,
  Headers,
  type MessageEvent,
  Param,
  Sse,
} from '@nestjs/common';
import { ScheduledQueueEvents } from 'nestjs-redis-scheduled-queue';
import { map, type Observable } from 'rxjs';

@Controller('activity')
export class ActivityController {
  constructor(private readonly events: ScheduledQueueEvents) {}

  /** A browser that has lost its connection asks for what it has missed. */
  @Sse(':queue')
  activity(
    @Param('queue') queue: string,
    @Headers('last-event-id') from?: string,
  ): Observable<MessageEvent> {
    return this.events
      .stream({ queue, from })
      .pipe(map((event) => ({ data: event, id: event.eventId })));
  }
}
