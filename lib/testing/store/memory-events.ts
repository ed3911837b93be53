import type { ScheduledQueueEvent } from '../../core/job/events.js';
import type { EventPlace } from '../../core/options/stream-options.js';
import { type StreamGap, type ToldEvent, toToldEvent } from '../../core/stream/streamed-event.js';
import type { QueueEvents, ReadEvents } from '../../store/job-store.js';
import type { MemoryQueue } from './memory-queue.js';

interface KeptEvent {
  /** From 1, in the order in which they were added. */
  readonly number: number;
  readonly atMs: number;
  readonly told: ToldEvent;
}

const MOST_A_STEP = 1_000;

/** The latest events of a queue, as a list. An event's id is "<epoch ms>-<its number>". */
export class MemoryEvents implements QueueEvents {
  private readonly kept: KeptEvent[] = [];
  private total = 0;
  private lastMs = 0;
  /** When the last one of those that have been cut off was added. */
  private cutMs = Number.NEGATIVE_INFINITY;
  private readonly watchers = new Set<() => void>();

  constructor(private readonly queue: MemoryQueue) {}

  add(event: ScheduledQueueEvent): void {
    const { streamEvents } = this.queue.settings;
    if (!streamEvents) return;
    this.lastMs = Math.max(this.lastMs, this.queue.nowMs());
    this.kept.push({ number: ++this.total, atMs: this.lastMs, told: toToldEvent(event) });
    if (this.kept.length > streamEvents.maxLength) this.cutMs = this.kept.shift()!.atMs;
    for (const look of this.watchers) look();
  }

  async flush(): Promise<void> {}

  read(from: EventPlace): Promise<ReadEvents> {
    return this.queue.answer(() => this.step(from));
  }

  watch(look: () => void): () => void {
    this.watchers.add(look);
    return () => {
      this.watchers.delete(look);
    };
  }

  private step(from: EventPlace): ReadEvents {
    const wanted = this.after(from);
    const told = wanted.slice(0, MOST_A_STEP);
    const last = told.at(-1);
    const events = told.map((kept) => ({ ...kept.told, eventId: idOf(kept) }));
    return {
      events: told[0] && this.isCutOff(from, told[0]) ? [this.gapBefore(told[0]), ...events] : events,
      next: last ? { after: idOf(last) } : this.placeAfterNone(from),
      more: told.length < wanted.length,
    };
  }

  private after(from: EventPlace): KeptEvent[] {
    if (from === 'end') return [];
    if (from === 'start') return this.kept;
    if ('sinceMs' in from) return this.kept.filter(({ atMs }) => atMs >= from.sinceMs);
    const [afterMs, after] = numbersOf(from.after);
    return this.kept.filter(({ atMs, number }) => atMs > afterMs || (atMs === afterMs && number > after));
  }

  /** Whether events are missing between a place and the first event after it. */
  private isCutOff(from: EventPlace, first: KeptEvent): boolean {
    if (typeof from === 'string') return false;
    if ('sinceMs' in from) return first === this.kept[0] && this.cutMs >= from.sinceMs;
    return first.number !== numbersOf(from.after)[1] + 1;
  }

  /** Its id is the place right before the event. */
  private gapBefore({ atMs, number }: KeptEvent): StreamGap {
    return { type: 'gap', queue: this.queue.name, eventId: idOf({ atMs, number: number - 1 }) };
  }

  private placeAfterNone(from: EventPlace): EventPlace {
    return typeof from === 'string' ? { after: `${this.lastMs}-${this.total}` } : from;
  }
}

const idOf = ({ atMs, number }: Pick<KeptEvent, 'atMs' | 'number'>) => `${atMs}-${number}`;

const numbersOf = (id: string) => id.split('-').map(Number) as [ms: number, number: number];
