import { type Observable, Subject } from 'rxjs';
import { outsideJobs } from '../core/job/current-job.js';
import type { EventSink, ScheduledQueueEvent } from '../core/job/events.js';
import type { EventStreamOptions } from '../core/options/stream-options.js';
import type { ScheduledQueueStreamedEvent } from '../core/stream/streamed-event.js';
import type { EventStreams } from './stream/event-streams.js';

/** Tells what happens to jobs: `events$` in this process, `stream` in all. It costs nothing while nobody listens and no queue streams. */
export class ScheduledQueueEvents implements EventSink {
  private readonly subject = new Subject<ScheduledQueueEvent>();

  /** @internal */
  constructor(private readonly streams: EventStreams) {}

  /**
   * Every event of this process, after Redis has confirmed it (`progress` at once). Look at `type` to tell events apart. Completes at shutdown.
   * Nothing waits for a subscriber: one that is slower than the jobs must say by an operator what waits and what is dropped.
   *
   * @example
   * ```ts
   * events.events$.subscribe((event) => {
   *   if (event.type === 'dead') console.error(`Job ${event.id} is dead: ${event.reason}`);
   * });
   * ```
   */
  readonly events$: Observable<ScheduledQueueEvent> = this.subject.asObservable();

  /**
   * The events of one queue from all processes whose option `streamEvents` of this queue is on; from others it tells nothing. Each
   * subscription reads by itself, from `from` on, and goes on after an outage where it was; it completes at shutdown. Redis keeps the
   * latest `maxLength` events. Where others have been cut off before they were read, or a process could not add its own, a gap
   * (`{ type: 'gap', queue, eventId }`) stands in their place. Errors are told as `{ name, message, code }`.
   *
   * While Redis is away the Observable waits; without `from` it begins once Redis was reached. Where Redis refuses to be read, it ends
   * with a `QueueUnavailableError`. Throws `InvalidOptionsError` for options that cannot be used.
   *
   * @example
   * ```ts
   * let last = '0';
   * events.stream({ queue: 'mail', from: last }).subscribe((event) => {
   *   if (event.type === 'gap') console.warn('Some events are missing here.');
   *   last = event.eventId;
   * });
   * ```
   */
  stream(options?: EventStreamOptions): Observable<ScheduledQueueStreamedEvent> {
    return this.streams.read(options);
  }

  /** @internal */
  wants(queue: string): boolean {
    return this.subject.observed || this.streams.takes(queue);
  }

  /** @internal */
  tell(event: ScheduledQueueEvent): void {
    if (this.streams.takes(event.queue)) this.streams.add(event);
    if (!this.subject.observed) return;
    // A listener is below no handler, also where it is told inside a call that a handler makes.
    outsideJobs(() => this.subject.next(event));
  }

  /** @internal Resolves once all that was told is in its stream, or after so long. */
  flush(withinMs: number): Promise<void> {
    return this.streams.flush(withinMs);
  }

  /** @internal */
  complete(): void {
    this.subject.complete();
  }

  /** @internal Completes what `stream` has answered, and will answer. */
  endStreams(): void {
    this.streams.close();
  }
}
