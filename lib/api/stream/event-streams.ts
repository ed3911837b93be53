import { Observable, ReplaySubject, takeUntil } from 'rxjs';
import type { Clock } from '../../core/clock.js';
import { outsideJobs } from '../../core/job/current-job.js';
import type { ScheduledQueueEvent } from '../../core/job/events.js';
import { type EventStreamOptions, readStream } from '../../core/options/stream-options.js';
import type { ScheduledQueueStreamedEvent } from '../../core/stream/streamed-event.js';
import type { JobStore } from '../../store/job-store.js';
import { EventReader } from './event-reader.js';

/** The streams of events of all queues: this process adds to those that are `streamed`, and reads any. */
export class EventStreams {
  private readonly closed = new ReplaySubject<void>(1);

  constructor(
    private readonly store: JobStore,
    private readonly clock: Clock,
    /** The queues whose `streamEvents` is on in this process. */
    private readonly streamed: ReadonlySet<string>,
  ) {}

  takes(queue: string): boolean {
    return this.streamed.size > 0 && this.streamed.has(queue);
  }

  add(event: ScheduledQueueEvent): void {
    this.store.queue(event.queue).events.add(event);
  }

  /** Throws `InvalidOptionsError`. */
  read(options: EventStreamOptions | undefined): Observable<ScheduledQueueStreamedEvent> {
    const { queue, from } = readStream(options);
    return new Observable<ScheduledQueueStreamedEvent>((subscriber) => {
      const reader = new EventReader(this.store.queue(queue).events, from, this.clock, subscriber);
      // A listener is below no handler, also where a handler has subscribed.
      outsideJobs(() => reader.begin());
      return () => reader.end();
    }).pipe(takeUntil(this.closed));
  }

  /** Resolves once all that was told has been added, or after so long. */
  async flush(withinMs: number): Promise<void> {
    const flushed = Promise.all([...this.streamed].map((queue) => this.store.queue(queue).events.flush()));
    let callOff = () => {};
    const timeIsOver = new Promise<void>((resolve) => {
      callOff = this.clock.after(withinMs, resolve);
    });
    await Promise.race([flushed, timeIsOver]);
    callOff();
  }

  /** Completes all that `read` has answered. */
  close(): void {
    this.closed.next();
  }
}
