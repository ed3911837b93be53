import type { EventSink, ScheduledQueueEvent } from '../core/events.js';
import type { LateJob, RecoveredJob, Settled } from '../store/job-store.js';
import { toFailure } from './failure.js';
import type { Outcome } from './processor.js';
import type { RunningJob } from './running-job.js';

/** Where lines for people go. */
export interface ReporterLog {
  log(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Tells people and listeners how runs ended. Names, ids and error messages only: never a payload. */
export class Reporter {
  private refusal: string | undefined;

  constructor(
    private readonly log: ReporterLog,
    private readonly events: EventSink,
  ) {}

  settled(queue: string, outcome: Outcome, settled: Settled): void {
    if (settled === 'counted') this.ended(queue, outcome);
    else if (settled === 'cancelled') this.cancelled(queue, outcome);
    else this.endedInVain(queue, outcome);
  }

  leaseLost(queue: string, run: RunningJob): void {
    const { id, name, attempt } = run;
    this.log.warn(`The lease of ${about(queue, id, name)} was lost while it ran; its signal is aborted.`);
    this.tell({ type: 'leaseLost', queue, id, name, attempt });
  }

  /** A lease ran out: once is an accident, and often the end of the job. */
  recovered(queue: string, jobs: readonly RecoveredJob[]): void {
    for (const { id, name, attempt, fate } of jobs) {
      const run = { queue, id, name, attempt };
      this.tell({ type: 'recovered', ...run });
      if (fate === 'cancelled') this.tell({ type: 'cancelled', queue, id });
      if (fate !== 'dead') continue;
      this.log.error(
        `${about(queue, id, name, true)} is dead after attempt ${attempt} (crashed): its lease ran out too often, so its workers died or were blocked with it.`,
      );
      this.tell({ type: 'dead', ...run, reason: 'crashed' });
    }
  }

  late(queue: string, jobs: readonly LateJob[]): void {
    for (const { id, name, latenessMs, onLate } of jobs) {
      this.tell({ type: 'late', queue, id, name, latenessMs, onLate });
      // One that runs all the same says so by its event alone.
      if (onLate === 'run') continue;
      const fate = onLate === 'discard' ? 'is discarded' : 'is dead (late)';
      this.log.warn(`${about(queue, id, name, true)} ${fate}: it could only begin ${latenessMs} ms after it was due.`);
      if (onLate === 'discard') this.tell({ type: 'discarded', queue, id, name, attempt: 0, reason: 'late' });
      else this.tell({ type: 'dead', queue, id, name, attempt: 0, reason: 'late' });
    }
  }

  /** Their deaths have been logged; that they made room is counted, and told to those who keep what must not go. */
  dropped(queue: string, jobs: readonly { id: string; name: string }[]): void {
    for (const job of jobs) this.tell({ type: 'deadDropped', queue, ...job });
  }

  /** Once, until a turn goes through again: a loop that fails every second says so once. */
  turnRefused(queue: string, error: unknown): void {
    const message = messageOf(error);
    if (this.refusal === message) return;
    this.refusal = message;
    this.log.error(`The worker of queue '${queue}' cannot go on and tries again every second: ${message}`);
  }

  turnTaken(queue: string): void {
    if (this.refusal === undefined) return;
    this.refusal = undefined;
    this.log.log(`The worker of queue '${queue}' goes on.`);
  }

  private ended(queue: string, outcome: Outcome): void {
    const { job, name, settlement, durationMs, error, reason, backoffProblem } = outcome;
    // The common case: nothing to log, and nobody listens.
    if (settlement.transition === 'complete' && !this.events.wanted) return;
    const { id, attempt } = job;
    const run = { queue, id, name, attempt };
    switch (settlement.transition) {
      case 'complete':
        this.tell({ type: 'completed', ...run, durationMs });
        break;
      case 'retry':
        if (backoffProblem) {
          this.log.warn(
            `The backoff function of job '${name}' in queue '${queue}' cannot be used, so the default is: ${backoffProblem}.`,
          );
        }
        this.log.warn(
          `${about(queue, id, name, true)} failed in attempt ${attempt}: ${messageOf(error)}; next attempt in ${settlement.delayMs} ms.`,
        );
        this.tell({ type: 'failed', ...run, error, retryAt: new Date(Date.now() + settlement.delayMs) });
        break;
      case 'dead':
        this.log.error(
          `${about(queue, id, name, true)} is dead after attempt ${attempt} (${reason}): ${messageOf(error)}`,
        );
        if (settlement.failed) this.tell({ type: 'failed', ...run, error, retryAt: null });
        this.tell({ type: 'dead', ...run, reason: reason!, error });
        break;
      case 'snooze':
        this.tell({ type: 'snoozed', ...run });
        break;
      case 'discard':
        this.tell({ type: 'discarded', ...run, reason: String(error) });
        break;
      case 'cancel':
        this.cancelled(queue, outcome);
    }
  }

  private cancelled(queue: string, { job, name }: Outcome): void {
    this.log.log(`${about(queue, job.id, name, true)} was cancelled while it ran.`);
    this.tell({ type: 'cancelled', queue, id: job.id });
  }

  private endedInVain(queue: string, { job: { id, attempt }, name }: Outcome): void {
    this.log.warn(`${about(queue, id, name, true)} ended after its lease was lost; this run does not count.`);
    this.tell({ type: 'leaseLost', queue, id, name, attempt });
  }

  private tell(event: ScheduledQueueEvent): void {
    if (this.events.wanted) this.events.tell(event);
  }
}

function about(queue: string, id: string, name: string, begins = false): string {
  return `${begins ? 'Job' : 'job'} '${name}' (${id}) of queue '${queue}'`;
}

/** Anything may be thrown, things that cannot be turned into text included. */
function messageOf(error: unknown): string {
  return toFailure(error).message;
}
