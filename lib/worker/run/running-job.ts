import type { BagItem } from '../../core/bag.js';
import type { EventSink } from '../../core/job/events.js';
import { ScheduledJob } from '../../core/job/scheduled-job.js';
import type { Envelope } from '../../store/envelope.js';
import type { ClaimedJob } from '../../store/job-store.js';

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** What of a run its envelope and its handler say together. */
export interface RunLimits {
  maxAttempts: number;
  /** 0 for none. */
  timeoutMs: number;
}

/** Whoever holds the leases of a queue in this process. */
export interface LeaseKeeper {
  /** Resolves with the next renewal; `undefined` where they have been renewed lately. */
  renewal(): Promise<void> | undefined;
  /** Until when a lease holds that was asked for at `askedAt`, both times of `performance.now()`. */
  heldUntil(askedAt: number): number;
}

/** One run of a job in this process, from claim to settlement. */
export class RunningJob extends ScheduledJob implements BagItem {
  readonly startedAt = performance.now();
  payload: unknown;
  place = -1;
  /** Nobody waits for this run's outcome any more: it is settled already, or its lease is lost. */
  abandoned = false;
  private controller?: AbortController;
  /** Made when first asked for; one listener, however often the handler beats. */
  private aborted?: Promise<void>;

  constructor(
    readonly queue: string,
    readonly claim: ClaimedJob,
    private readonly askedAt: number,
    readonly envelope: Envelope,
    private readonly limits: RunLimits,
    private readonly keeper: LeaseKeeper,
    private readonly events: EventSink,
  ) {
    super();
  }

  get id(): string {
    return this.claim.id;
  }

  get name(): string {
    return this.envelope.name;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.envelope.settings.headers ?? NO_HEADERS;
  }

  get dueAt(): Date {
    return new Date(this.claim.dueAtMs);
  }

  get createdAt(): Date {
    return new Date(this.envelope.createdAtMs);
  }

  get attempt(): number {
    return this.claim.attempt;
  }

  get maxAttempts(): number {
    return this.limits.maxAttempts;
  }

  get priority(): number {
    return this.envelope.priority;
  }

  get latenessMs(): number {
    return this.claim.claimedAtMs - this.claim.dueAtMs;
  }

  get fence(): number {
    return Number(this.claim.fence);
  }

  get timeoutMs(): number {
    return this.limits.timeoutMs;
  }

  /** When its time is over, a time of `performance.now()`. */
  get timeoutAt(): number {
    return this.limits.timeoutMs > 0 ? this.startedAt + this.limits.timeoutMs : Number.POSITIVE_INFINITY;
  }

  /** Whether another worker may have the job by now. */
  leaseIsOver(): boolean {
    return performance.now() >= this.keeper.heldUntil(this.askedAt);
  }

  /** Made when first asked for: most handlers never do. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    return this.controller.signal;
  }

  /** Ends the run's claim to be heard, and tells its handler why. */
  abandon(reason: Error): void {
    this.abandoned = true;
    this.controller ??= new AbortController();
    this.controller.abort(reason);
  }

  progress(value: unknown): void {
    if (!this.events.wanted) return;
    this.events.tell({
      type: 'progress',
      queue: this.queue,
      id: this.id,
      name: this.name,
      attempt: this.attempt,
      value,
    });
  }

  async heartbeat(): Promise<void> {
    // A handler that only awaits what is done already never lets timers and answers through.
    await new Promise((resolve) => setImmediate(resolve));
    this.signal.throwIfAborted();
    // Mostly there is none to wait for; what a race leaves at a promise that lives as long as the run adds up.
    const renewal = this.keeper.renewal();
    if (!renewal) return;
    this.aborted ??= new Promise((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([renewal, this.aborted]);
    this.signal.throwIfAborted();
  }
}
