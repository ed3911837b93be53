import type { Clock } from '../core/clock.js';
import type { JobStore, QueueOverview } from '../store/job-store.js';
import { within } from './within.js';

/** For how long what was read is shown again. */
const KEPT_MS = 5_000;

/** A reading of a source. It is shown again for 5 s, by the clock of the source's application. */
export class Kept<T> {
  private readonly untilMs: number;

  constructor(
    readonly value: T,
    readonly source: Source,
  ) {
    this.untilMs = source.clock.now() + KEPT_MS;
  }

  get isFresh(): boolean {
    return this.source.clock.now() < this.untilMs;
  }
}

/** One instance of the module in a running application, as it is read at a scrape. No method rejects. */
export class Source {
  /** How far Redis' clock was ahead when it was asked last; `undefined` before it was answered once. */
  offsetMs?: number;
  /** Whether Redis told all that it was asked for at the last scrape. */
  wasUp = false;
  private names?: Kept<readonly string[]>;

  constructor(
    private readonly store: JobStore,
    readonly clock: Clock,
    /** The queues to be read. If missing: all that somebody has used. */
    private readonly given: readonly string[] | undefined,
    /** The label `queue` of a queue. */
    readonly labelOf: (queue: string) => string,
  ) {}

  /** False where Redis does not tell its time within that time. */
  async readClock(withinMs: number): Promise<boolean> {
    const offsetMs = await within(withinMs, this.store.clockOffsetMs(withinMs));
    if (offsetMs === undefined) return false;
    this.offsetMs = offsetMs;
    return true;
  }

  /** The queues that are to be read, as far as they are known: those that Redis told last, however long ago. */
  get queues(): readonly string[] {
    return this.given ?? this.names?.value ?? [];
  }

  /** Asks which queues there are, unless it is known. False where Redis does not tell within that time. */
  async readQueues(withinMs: number): Promise<boolean> {
    if (this.given || this.names?.isFresh) return true;
    const seen = await within(withinMs, this.store.queues());
    if (!seen) return false;
    this.names = new Kept(
      seen.map(({ name }) => name),
      this,
    );
    return true;
  }

  /** `undefined` where Redis does not tell within that time. */
  overview(queue: string, withinMs: number): Promise<QueueOverview | undefined> {
    return within(withinMs, this.store.queue(queue).view.overview(withinMs));
  }
}
