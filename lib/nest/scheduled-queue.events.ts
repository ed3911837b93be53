import { type Observable, Subject } from 'rxjs';
import type { EventSink, ScheduledQueueEvent } from '../core/events.js';

/** What happens to jobs in this process. Nothing is made of it while nobody listens. */
export class ScheduledQueueEvents implements EventSink {
  private readonly subject = new Subject<ScheduledQueueEvent>();

  /** Every event of this process, told apart by `type`, after Redis has confirmed it. Completes at shutdown. */
  readonly events$: Observable<ScheduledQueueEvent> = this.subject.asObservable();

  /** @internal */
  get wanted(): boolean {
    return this.subject.observed;
  }

  /** @internal */
  tell(event: ScheduledQueueEvent): void {
    this.subject.next(event);
  }

  /** @internal */
  complete(): void {
    this.subject.complete();
  }
}
