import type { CallOff, Clock } from '../core/clock.js';
import { QueueClosedError, QueueUnavailableError } from '../core/errors.js';
import type { EventPlace } from '../core/options/stream-options.js';
import type { ScheduledQueueStreamedEvent } from '../core/stream/streamed-event.js';
import type { QueueEvents } from '../store/job-store.js';

/** How soon a reader tries again where Redis was away for the whole time of a call. */
const TRIED_AGAIN_MS = 1_000;

/** Who is told events, such as a subscriber of rxjs. */
export interface EventListener {
  /** Whether it wants no more. */
  readonly closed: boolean;
  next(event: ScheduledQueueStreamedEvent): void;
  error(error: unknown): void;
  complete(): void;
}

/**
 * Reads the events of one queue for one listener, step by step: the next step is only taken when the listener has had the events
 * of the last one. Goes on behind the last event that it has read, whatever happens to the connection.
 */
export class EventReader {
  private reading = false;
  /** Told while it was reading. */
  private looksAgain = false;
  private stopWatching?: () => void;
  private callOff?: CallOff;

  constructor(
    private readonly events: QueueEvents,
    private from: EventPlace,
    private readonly clock: Clock,
    private readonly listener: EventListener,
  ) {}

  begin(): void {
    this.stopWatching = this.events.watch(() => this.look());
    this.look();
  }

  end(): void {
    this.stopWatching?.();
    this.callOff?.();
  }

  private look(): void {
    this.looksAgain = true;
    if (!this.reading) void this.read();
  }

  private async read(): Promise<void> {
    this.reading = true;
    try {
      while (this.looksAgain && !this.listener.closed) {
        this.looksAgain = false;
        const isFirst = this.from === 'end';
        const { events, next, more } = await this.events.read(this.from);
        this.from = next;
        // What was added since the first look began is after the place that it has answered.
        this.looksAgain ||= more || isFirst;
        for (const event of events) {
          if (this.listener.closed) return;
          this.listener.next(event);
        }
      }
    } catch (error) {
      this.failed(error);
    } finally {
      this.reading = false;
    }
  }

  private failed(error: unknown): void {
    if (error instanceof QueueClosedError) this.listener.complete();
    else if (error instanceof QueueUnavailableError && error.redisCode === undefined) this.tryAgain();
    else this.listener.error(error);
  }

  private tryAgain(): void {
    this.callOff?.();
    this.callOff = this.clock.after(TRIED_AGAIN_MS, () => this.look(), { keepsAlive: false });
  }
}
