import { Observable, ReplaySubject, Subject, takeUntil } from 'rxjs';
import type { Clock } from '../core/clock.js';
import { outsideJobs } from '../core/job/current-job.js';
import type { ScheduledQueueEvent } from '../core/job/events.js';
import { type EventStreamOptions, readStream } from '../core/options/stream-options.js';
import type { ScheduledQueueStreamedEvent } from '../core/stream/streamed-event.js';
import type { JobStore } from '../store/job-store.js';
import { EventReader } from './event-reader.js';

/** Tells what happens to jobs: `events$` in this process, `stream` in all. It costs nothing while nobody listens and no queue streams. */
export class ScheduledQueueEvents {
  private readonly subject = new Subject<ScheduledQueueEvent>();
  private readonly streamsEnd = new ReplaySubject<void>(1);

  /** @internal The module makes it. */
  constructor(
    private readonly store: JobStore,
    private readonly clock: Clock,
    /** The queues whose `streamEvents` is on in this process. */
    private readonly streamed: ReadonlySet<string>,
  ) {
    store.hearCompletions((queue, { id, name, dueAtMs }) => {
      if (this.wants(queue)) this.tell({ type: 'scheduled', queue, id, name, dueAt: new Date(dueAtMs) });
    });
  }

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
    const { queue, from } = readStream(options);
    return new Observable<ScheduledQueueStreamedEvent>((subscriber) => {
      const reader = new EventReader(this.store.queue(queue).events, from, this.clock, subscriber);
      // A listener is below no handler, also where a handler has subscribed.
      outsideJobs(() => reader.begin());
      return () => reader.end();
    }).pipe(takeUntil(this.streamsEnd));
  }

  /** @internal */
  wants(queue: string): boolean {
    return this.subject.observed || this.streams(queue);
  }

  /** @internal */
  tell(event: ScheduledQueueEvent): void {
    if (this.streams(event.queue)) this.store.queue(event.queue).events.add(event);
    if (!this.subject.observed) return;
    // A listener is below no handler, also where it is told inside a call that a handler makes.
    outsideJobs(() => this.subject.next(event));
  }

  /** @internal Resolves once all that was told is in its stream, or after so long. */
  async flush(withinMs: number): Promise<void> {
    const flushed = Promise.all([...this.streamed].map((queue) => this.store.queue(queue).events.flush()));
    let callOff = () => {};
    const timeIsOver = new Promise<void>((resolve) => {
      callOff = this.clock.after(withinMs, resolve);
    });
    await Promise.race([flushed, timeIsOver]);
    callOff();
  }

  /** @internal */
  complete(): void {
    this.subject.complete();
  }

  /** @internal Completes what `stream` has answered, and will answer. */
  endStreams(): void {
    this.streamsEnd.next();
  }

  private streams(queue: string): boolean {
    return this.streamed.size > 0 && this.streamed.has(queue);
  }
}
