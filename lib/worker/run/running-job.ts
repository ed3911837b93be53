import type { Clock } from '../../core/clock.js';
import { JobTimeoutError, LeaseLostError } from '../../core/errors.js';
import type { EventSink } from '../../core/job/events.js';
import { FIRST_VERSION } from '../../core/job/job-versions.js';
import { recurrenceOf } from '../../core/job/occurrence-id.js';
import { type JobRecurrence, ScheduledJob } from '../../core/job/scheduled-job.js';
import type { RunSpan } from '../../core/observe/tracer.js';
import type { UnorderedItem } from '../../core/unordered-set.js';
import type { Envelope } from '../../store/envelope.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { ProgressReports, ReportingRun } from './progress-reports.js';
import type { RunLimits } from './run-limits.js';

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** Whoever holds the leases of a queue in this process. */
export interface LeaseKeeper {
  /** Resolves with the next renewal; `undefined` where they have been renewed lately. */
  renewal(): Promise<void> | undefined;
  /** Until when a lease holds that was asked for at `askedAt`, both times of `clock.now()`. */
  heldUntil(askedAt: number): number;
}

/** What all runs of a queue have in common. */
export interface RunContext {
  readonly queue: string;
  readonly leases: LeaseKeeper;
  readonly events: EventSink;
  readonly clock: Clock;
  /** Missing where nobody can report progress. */
  readonly progress?: ProgressReports;
}

/** The failure of a call: the attempts of all its jobs have failed by one error. */
export interface FailureOfCall {
  readonly jobs: number;
  /** The log has a line about it, which stands for all jobs that are tried again. */
  isTold?: boolean;
  /** The log has the error's stack, which dead letters of this call do not repeat. */
  hasToldStack?: boolean;
}

/** A call of a batch handler, for the runs that share it. */
export interface SharedCall {
  /** How many of them have an outcome that still counts. */
  held: number;
  failure?: FailureOfCall;
}

/** One run of a job in this process, from claim to settlement. */
export class RunningJob extends ScheduledJob implements UnorderedItem, ReportingRun {
  /** A time of `clock.now()`. */
  private readonly startedAt: number;
  payload: unknown;
  index = -1;
  /** Nobody waits for this run's outcome any more: it is settled already, or its lease is lost. */
  abandoned = false;
  /** Missing where nobody traces. */
  span: RunSpan | undefined;
  /** Missing where the handler runs it alone. */
  call: SharedCall | undefined;
  private controller?: AbortController;
  /** What its handler has reported last, if it has. */
  reported: unknown;
  private hasReported = false;
  /** Its outcome is decided: what it reports from then on is kept no more. */
  private hasEnded = false;
  /** Made when first asked for; one listener, however often the handler beats. */
  private aborted?: Promise<void>;

  constructor(
    private readonly context: RunContext,
    readonly claim: ClaimedJob,
    private readonly askedAt: number,
    readonly envelope: Envelope,
    private readonly limits: RunLimits,
  ) {
    super();
    this.startedAt = context.clock.now();
  }

  get queue(): string {
    return this.context.queue;
  }

  get id(): string {
    return this.claim.id;
  }

  get name(): string {
    return this.envelope.name;
  }

  get version(): number {
    return this.envelope.version ?? FIRST_VERSION;
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

  get group(): string | undefined {
    return this.envelope.group;
  }

  get latenessMs(): number {
    return this.claim.claimedAtMs - this.claim.dueAtMs;
  }

  get fence(): number {
    return Number(this.claim.fence);
  }

  get recurrence(): JobRecurrence | undefined {
    return recurrenceOf(this.id, this.envelope.occurrence);
  }

  get timeoutMs(): number {
    return this.limits.timeoutMs;
  }

  /** When its time is over, a time of `clock.now()`. */
  get timeoutAt(): number {
    return this.limits.timeoutMs > 0 ? this.startedAt + this.limits.timeoutMs : Number.POSITIVE_INFINITY;
  }

  /** How old its job was when it was claimed, by Redis' clock. */
  get ageMs(): number {
    return this.claim.claimedAtMs - this.envelope.createdAtMs;
  }

  /** How long it has run so far. */
  get durationMs(): number {
    return this.context.clock.now() - this.startedAt;
  }

  /** Whether another worker may have the job by now. */
  leaseIsOver(): boolean {
    const { clock, leases } = this.context;
    return clock.now() >= leases.heldUntil(this.askedAt);
  }

  /** Made when first asked for: most handlers never do. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    return this.controller.signal;
  }

  /** Ends the run's claim to be heard, and tells its handler why. */
  abandon(reason: Error): void {
    this.abandoned = true;
    this.endProgress(false);
    // Its handler may never return. A run that is cancelled, or that goes back, has not failed.
    if (reason instanceof JobTimeoutError || reason instanceof LeaseLostError) this.span?.fail(reason);
    else this.span?.end();
    this.controller ??= new AbortController();
    this.controller.abort(reason);
  }

  progress(value: unknown): void {
    const { events, progress } = this.context;
    const { queue, id, name, attempt } = this;
    if (events.wants(queue)) events.tell({ type: 'progress', queue, id, name, attempt, value });
    if (this.hasEnded) return;
    this.reported = value;
    this.hasReported = true;
    progress?.note(this);
  }

  /** Its outcome is decided. Answers, where it is asked for, the progress that it has reported last, as JSON. */
  endProgress(isAsked: boolean): string | undefined {
    this.hasEnded = true;
    if (!this.hasReported) return undefined;
    const { progress } = this.context;
    progress?.leave(this);
    return isAsked ? progress?.read(this) : undefined;
  }

  async heartbeat(): Promise<void> {
    // A handler that only awaits what is done already never lets timers and answers through.
    await new Promise<void>((resolve) => this.context.clock.soon(resolve));
    this.signal.throwIfAborted();
    // Mostly there is none to wait for; what a race leaves at a promise that lives as long as the run adds up.
    const renewal = this.context.leases.renewal();
    if (!renewal) return;
    this.aborted ??= new Promise((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([renewal, this.aborted]);
    this.signal.throwIfAborted();
  }
}

/** Tells those who listen that the handler of a run is called now. */
export function tellStart({ events }: RunContext, run: RunningJob): void {
  if (!events.wants(run.queue)) return;
  const { queue, id, name, attempt, latenessMs } = run;
  events.tell({ type: 'started', queue, id, name, attempt, latenessMs });
}
