import type { Subscription } from 'rxjs';
import type { EventStreamOptions, ScheduledQueueEvents, ScheduledQueueStreamedEvent } from '../../lib/index.js';
import { until } from './wait.js';

/** A subscription to a stream of events, and what it was told. */
export class StreamReader {
  readonly seen: ScheduledQueueStreamedEvent[] = [];
  isComplete = false;
  error?: unknown;
  private readonly subscription: Subscription;

  constructor(events: ScheduledQueueEvents, from?: EventStreamOptions['from']) {
    this.subscription = events.stream({ queue: 'default', from }).subscribe({
      next: (event) => this.seen.push(event),
      complete: () => {
        this.isComplete = true;
      },
      error: (error) => {
        this.error = error;
      },
    });
  }

  /** Type and id of each event. */
  get told(): string[] {
    return this.seen.map((event) => (event.type === 'gap' ? 'gap' : `${event.type} ${event.id}`));
  }

  get ids(): string[] {
    return this.seen.flatMap((event) => (event.type === 'gap' ? [] : [event.eventId]));
  }

  /** What it was told of one job. */
  of(id: string): string[] {
    return this.told.filter((told) => told.endsWith(` ${id}`)).map((told) => told.slice(0, -id.length - 1));
  }

  saw(...told: string[]): Promise<unknown> {
    return until(told.join(', '), () => told.every((each) => this.told.includes(each))).catch((error) => {
      throw new Error(`${error.message}; it was told ${this.seen.length}, at last ${this.told.slice(-20)}`);
    });
  }

  stop(): void {
    this.subscription.unsubscribe();
  }
}
