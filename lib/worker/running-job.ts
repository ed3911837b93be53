import type { EventSink } from '../core/events.js';
import { ScheduledJob } from '../core/scheduled-job.js';
import type { Envelope } from '../store/envelope.js';
import type { ClaimedJob } from '../store/job-store.js';

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** One run of a job in this process, from claim to settlement. */
export class RunningJob extends ScheduledJob {
  readonly startedAt = performance.now();
  payload: unknown;
  /** Nobody waits for this run's outcome any more: its lease is lost, or its job went back at shutdown. */
  abandoned = false;
  private controller?: AbortController;

  constructor(
    readonly queue: string,
    readonly claim: ClaimedJob,
    readonly envelope: Envelope,
    readonly maxAttempts: number,
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

  get priority(): number {
    return this.envelope.priority;
  }

  get latenessMs(): number {
    return this.claim.claimedAtMs - this.claim.dueAtMs;
  }

  get fence(): number {
    return Number(this.claim.fence);
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
}
