import { Inject, type OnModuleInit } from '@nestjs/common';
import type { ScheduledQueueEvents } from '../../api/scheduled-queue.events.js';
import { describeError, errorLine } from '../../core/error-description.js';
import { withinJob } from '../../core/job/current-job.js';
import type { ScheduledQueueEvent, ScheduledQueueEventType } from '../../core/job/events.js';
import { ReportedJob } from '../../core/job/reported-job.js';
import { isThenable } from '../../core/thenable.js';
import type { ModuleSettings } from '../module-options.js';
import { LOG } from '../safe-log.js';
import { EVENTS, SETTINGS } from '../tokens.js';
import { EventExplorer, type JobEventListener } from './event.explorer.js';

/** Tells the methods that carry `@OnScheduledJobEvent`. Where there are none, nobody listens, and events are not even made. */
export class JobEventListeners implements OnModuleInit {
  private readonly byType = new Map<ScheduledQueueEventType, JobEventListener[]>();

  constructor(
    @Inject(EventExplorer) private readonly explorer: EventExplorer,
    @Inject(EVENTS) private readonly events: ScheduledQueueEvents,
    @Inject(SETTINGS) private readonly settings: ModuleSettings,
  ) {}

  onModuleInit(): void {
    const { listeners, overridden } = this.explorer.explore();
    for (const sentence of overridden) LOG.warn(sentence);
    if (listeners.length === 0) return;
    for (const listener of listeners) for (const type of listener.types) this.add(type, listener);
    // Ends with the events, when the application shuts down.
    this.events.events$.subscribe((event) => this.tell(event));
  }

  private add(type: ScheduledQueueEventType, listener: JobEventListener): void {
    const others = this.byType.get(type);
    if (others) others.push(listener);
    else this.byType.set(type, [listener]);
  }

  private tell(event: ScheduledQueueEvent): void {
    for (const listener of this.byType.get(event.type) ?? []) {
      if (listener.queue !== undefined && listener.queue !== event.queue) continue;
      this.call(listener, event);
    }
  }

  private call(listener: JobEventListener, event: ScheduledQueueEvent): void {
    const failed = (error: unknown) => this.logFailure(listener, event, error);
    try {
      const result = listener.call(event);
      // Not `result.then`: a foreign thenable may throw there.
      if (isThenable(result)) Promise.resolve(result).then(undefined, failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Written while the job of the event is the current one, as all lines about a job are. */
  private logFailure({ place }: JobEventListener, event: ScheduledQueueEvent, error: unknown): void {
    const { type, queue, id } = event;
    const description = describeError(error);
    const line = `${place} failed with the event '${type}' of job (${id}) of queue '${queue}', which harms neither the job nor other listeners: ${errorLine(description)}`;
    const write = () => LOG.error(line, description.stack);
    // Not every event has the job's name.
    if (this.settings.trackCurrentJob) withinJob(new ReportedJob({ name: '', ...event }), write);
    else write();
  }
}
