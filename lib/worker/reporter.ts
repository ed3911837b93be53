import type { EventSink } from '../core/events.js';
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

  settled(queue: string, { job, name, settlement, durationMs, error, reason }: Outcome, held: boolean): void {
    const run = { queue, id: job.id, name, attempt: job.attempt };
    if (!held) {
      this.log.warn(
        `Job '${name}' (${job.id}) of queue '${queue}' ended after its lease was lost; this run does not count.`,
      );
      if (this.events.wanted) this.events.tell({ type: 'leaseLost', ...run });
      return;
    }
    if (settlement.transition === 'retry') {
      this.log.warn(
        `Job '${name}' (${job.id}) of queue '${queue}' failed in attempt ${job.attempt}: ${messageOf(error)}; next attempt in ${settlement.delayMs} ms.`,
      );
    } else if (settlement.transition === 'dead') {
      this.log.error(
        `Job '${name}' (${job.id}) of queue '${queue}' is dead after attempt ${job.attempt} (${reason}): ${messageOf(error)}`,
      );
    }
    if (!this.events.wanted) return;
    if (settlement.transition === 'complete') this.events.tell({ type: 'completed', ...run, durationMs });
    else if (settlement.transition === 'snooze') this.events.tell({ type: 'snoozed', ...run });
    else if (settlement.transition === 'discard')
      this.events.tell({ type: 'discarded', ...run, reason: String(error) });
    else if (settlement.transition === 'retry') {
      this.events.tell({ type: 'failed', ...run, error, retryAt: new Date(Date.now() + settlement.delayMs) });
    } else if (settlement.transition === 'dead') {
      if (settlement.failed) this.events.tell({ type: 'failed', ...run, error, retryAt: null });
      this.events.tell({ type: 'dead', ...run, reason: reason!, error });
    }
  }

  leaseLost(queue: string, run: RunningJob): void {
    this.log.warn(
      `The lease of job '${run.name}' (${run.id}) of queue '${queue}' was lost while it ran; its signal is aborted.`,
    );
    const { id, name, attempt } = run;
    if (this.events.wanted) this.events.tell({ type: 'leaseLost', queue, id, name, attempt });
  }

  recovered(queue: string, ids: readonly string[]): void {
    if (this.events.wanted) for (const id of ids) this.events.tell({ type: 'recovered', queue, id });
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
}

/** Anything may be thrown, things that cannot be turned into text included. */
function messageOf(error: unknown): string {
  return toFailure(error).message;
}
