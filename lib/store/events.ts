import type { ScheduledQueueEvent } from '../core/job/events.js';
import type { EventPlace } from '../core/options/stream-options.js';
import type { ScheduledQueueStreamedEvent } from '../core/stream/streamed-event.js';

/** The latest events of a queue, as its processes have told them. Those of one process stand in the order in which they were told. */
export interface QueueEvents {
  /**
   * Adds an event soon, where the queue's `streamEvents` is on. Waits for nothing and never throws. Events that cannot be added are
   * told as a gap in their place.
   */
  add(event: ScheduledQueueEvent): void;
  /** Resolves once everything that was told has been added, or never can be. */
  flush(): Promise<void>;
  /** Reads the next events from a place on, as many as one step answers. A gap stands where events have been cut off. */
  read(from: EventPlace): Promise<ReadEvents>;
  /** Calls `look` whenever there may be new events, and now and then besides. Answers a function that ends it. */
  watch(look: () => void): () => void;
}

export interface ReadEvents {
  readonly events: readonly ScheduledQueueStreamedEvent[];
  /** Where the next step goes on. */
  readonly next: EventPlace;
  /** Whether there are more by now. */
  readonly more: boolean;
}
