import { type Observable, Subject } from 'rxjs';
import { outsideJobs } from '../core/job/current-job.js';
import type { EventSink, ScheduledQueueEvent } from '../core/job/events.js';

/** Tells what happens to jobs in this process. It costs nothing while nobody listens. */
export class ScheduledQueueEvents implements EventSink {
  private readonly subject = new Subject<ScheduledQueueEvent>();

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

  /** @internal */
  get wanted(): boolean {
    return this.subject.observed;
  }

  /** @internal */
  tell(event: ScheduledQueueEvent): void {
    // A listener is below no handler, also where it is told inside a call that a handler makes.
    outsideJobs(() => this.subject.next(event));
  }

  /** @internal */
  complete(): void {
    this.subject.complete();
  }
}
