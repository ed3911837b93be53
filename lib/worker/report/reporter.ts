import type { Clock } from '../../core/clock.js';
import { describeError, errorLine, placeIn } from '../../core/error-description.js';
import { withinJob } from '../../core/job/current-job.js';
import type { EventSink, ScheduledQueueEvent } from '../../core/job/events.js';
import { type KnownOfJob, ReportedJob, titleOf } from '../../core/job/reported-job.js';
import { ScheduledJob } from '../../core/job/scheduled-job.js';
import type { Log } from '../../core/log.js';
import { isReadable } from '../../store/envelope.js';
import type { ClaimedJob, NextJob, Settled, TurnAnswer } from '../../store/job-store.js';
import type { RunningJob } from '../run/running-job.js';
import type { EndedRun } from '../run/settlement-builder.js';
import type { SentTurn } from '../session/turns-in-flight.js';
import { FoundReporter } from './found-in-queue.js';
import { RecoveryLog } from './recovery-log.js';

/** Names may be made up at run time. Beyond this many no warning follows, so that the set cannot grow for ever. */
const NAMES_REMEMBERED = 1_000;

export interface ReporterOptions {
  /** Whose turns these are, as the log says; `'worker'` where it is missing. */
  readonly who?: string;
  /** True if the lines about a job are written while `currentScheduledJob` answers it. */
  readonly trackCurrentJob: boolean;
}

/**
 * Tells people and listeners how runs ended. Names, ids and error messages only: never a payload. A line about one job is written while
 * it is the current one, so that a logger can add its fields to failures too; listeners are told outside of it.
 */
export class Reporter {
  private refusal: string | undefined;
  private readonly namesWithoutResult = new Set<string>();
  private readonly namesWithReturnedError = new Set<string>();
  private readonly namesWithoutProgress = new Set<string>();
  private readonly foundInQueue: FoundReporter;

  constructor(
    private readonly log: Log,
    private readonly events: EventSink,
    private readonly clock: Clock,
    private readonly options: ReporterOptions,
  ) {
    this.foundInQueue = new FoundReporter(
      log,
      this,
      new RecoveryLog(log, clock, (job, write) => this.about(job, write)),
    );
  }

  /** Reports the settlements of one turn: first ended runs, then released jobs. */
  settled(queue: string, { turn, ended }: SentTurn, settled: readonly Settled[]): void {
    for (const [i, { id }] of turn.settlements.entries()) {
      const run = ended[i];
      if (!run) {
        // Somebody had cancelled it, or the job that was queued behind it, as it was about to go back.
        if (settled[i] === 'cancelled' || settled[i] === 'final') this.tell({ type: 'cancelled', queue, id });
      } else if (settled[i] === 'counted') this.ended(queue, run);
      else if (settled[i] === 'replaced') this.replaced(queue, run, 'a later job of its id takes its place');
      else if (settled[i] === 'final') this.final(queue, run);
      else if (settled[i] === 'cancelled') this.cancelled(queue, run);
      else this.endedInVain(queue, run);
    }
  }

  leaseLost(queue: string, run: RunningJob): void {
    const { id, name, attempt } = run;
    this.about(run, () => {
      this.log.warn(`The lease of ${titleOf(run)} was lost while it ran; its signal is aborted.`);
    });
    this.tell({ type: 'leaseLost', queue, id, name, attempt });
  }

  /** As `leaseLost`, of a job whose handler was not called yet. */
  leaseLostBefore(queue: string, job: ClaimedJob): void {
    const name = isReadable(job.envelope) ? job.envelope.name : '';
    const { id, attempt } = job;
    this.about({ queue, id, name, attempt }, () => {
      this.log.warn(`The lease of ${titleOf({ queue, id, name })} was lost before its handler was called with it.`);
    });
    this.tell({ type: 'leaseLost', queue, id, name, attempt });
  }

  /** What a turn found in the queue, besides jobs to run. */
  found(queue: string, answer: TurnAnswer): void {
    this.foundInQueue.tell(queue, answer);
  }

  /** Once, until a turn goes through again: a loop that fails every second says so once. */
  turnRefused(queue: string, error: unknown): void {
    const message = describeError(error).message;
    if (this.refusal === message) return;
    this.refusal = message;
    this.log.error(`The ${this.who} of queue '${queue}' cannot go on and tries again every second: ${message}`);
  }

  turnTaken(queue: string): void {
    if (this.refusal === undefined) return;
    this.refusal = undefined;
    this.log.log(`The ${this.who} of queue '${queue}' goes on.`);
  }

  private get who(): string {
    return this.options.who ?? 'worker';
  }

  private ended(queue: string, outcome: EndedRun): void {
    const { job, name, settlement, durationMs, error, reason, resultProblem, returnedError } = outcome;
    // The common case: nothing to log, and nobody listens.
    if (settlement.transition === 'complete' && !this.events.wants(queue) && !resultProblem && !returnedError) return;
    const { id, attempt } = job;
    const run = { queue, id, name, attempt };
    switch (settlement.transition) {
      case 'complete':
        if (returnedError) this.errorReturned(jobOf(queue, outcome), returnedError, outcome.call !== undefined);
        if (resultProblem !== undefined) this.resultNotKept(jobOf(queue, outcome), resultProblem);
        this.tell({ type: 'completed', ...run, durationMs });
        if (settlement.next) this.nextScheduled(queue, settlement.next);
        break;
      case 'retry':
        this.logRetry(queue, outcome, settlement.delayMs);
        this.tell({ type: 'failed', ...run, error, retryAt: new Date(this.clock.wallNow() + settlement.delayMs) });
        break;
      case 'dead':
        this.logDeath(queue, outcome);
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

  /** Of the next step of a chain. */
  private nextScheduled(queue: string, { id, name, due }: NextJob): void {
    const dueAt = new Date(this.clock.wallNow() + due.delayMs);
    this.tell({ type: 'scheduled', queue, id, name, dueAt });
  }

  /** The jobs of a call that threw failed by one error, and may be hundreds: the first of them speaks for all. */
  private logRetry(queue: string, outcome: EndedRun, delayMs: number): void {
    const { job, name, error, backoffProblem, call } = outcome;
    const failure = call?.failure;
    if (failure?.isTold) return;
    if (failure) {
      failure.isTold = true;
      this.log.warn(
        `A call with ${failure.jobs} jobs '${name}' of queue '${queue}' failed: ${whyFailed(error)}; each of them that has an attempt left is tried again.`,
      );
    }
    this.about(jobOf(queue, outcome), () => {
      if (backoffProblem)
        this.log.warn(
          `The backoff function of job '${name}' in queue '${queue}' cannot be used, so the default is: ${backoffProblem}.`,
        );
      if (failure) return;
      this.log.warn(
        `${titleOf({ queue, id: job.id, name }, true)} failed in attempt ${job.attempt}: ${whyFailed(error)}; next attempt in ${delayMs} ms.`,
      );
    });
  }

  private errorReturned(job: ScheduledJob, error: Error, sharesCall: boolean): void {
    if (!isNew(job.name, this.namesWithReturnedError)) return;
    const remedy = sharesCall ? 'return JobOutcome.each(results), or throw' : 'throw it instead';
    this.about(job, () => {
      this.log.warn(
        `${titleOf(job, true)} completed, but its handler returned an error: ${whyFailed(error)}. If the attempt has failed, ${remedy}. This is said once for each job name.`,
      );
    });
  }

  /** Once a name: a handler that answers so once will answer so again. */
  private resultNotKept(job: ScheduledJob, problem: string): void {
    if (!isNew(job.name, this.namesWithoutResult)) return;
    this.about(job, () => {
      this.log.warn(
        `${titleOf(job, true)} completed, but its result cannot be kept: ${problem}. Let its handler return what JSON can hold, or nothing. This is said once for each job name.`,
      );
    });
  }

  /** Once a name, likewise. */
  progressNotKept(job: KnownOfJob, problem: string): void {
    if (!isNew(job.name, this.namesWithoutProgress)) return;
    this.about(job, () => {
      this.log.warn(
        `${titleOf(job, true)} runs on, but the progress that it reports cannot be kept: ${problem}. Give job.progress what JSON can hold in a few words. This is said once for each job name.`,
      );
    });
  }

  private logDeath(queue: string, outcome: EndedRun): void {
    const { error, reason, call } = outcome;
    const job = jobOf(queue, outcome);
    const description = describeError(error);
    // The reason of `JobOutcome.deadLetter` is text, and was not thrown.
    const why = reason === 'dead-lettered' ? description.message : errorLine(description);
    const line = `${titleOf(job, true)} is dead after attempt ${outcome.job.attempt} (${reason}): ${why}`;
    const failure = call?.failure;
    // A stack without a place says nothing that the line does not, and jobs that one error killed have one stack.
    const stack = description.stack?.includes('\n') && !failure?.hasToldStack ? description.stack : undefined;
    if (failure) failure.hasToldStack = true;
    this.about(job, () => (stack === undefined ? this.log.error(line) : this.log.error(line, stack)));
  }

  /** The job that was queued behind this run was cancelled: where the run would be tried again, or dead, it is cancelled as well. */
  private final(queue: string, outcome: EndedRun): void {
    this.replaced(queue, outcome, 'the later job of its id was cancelled, so no attempt follows');
    this.tell({ type: 'cancelled', queue, id: outcome.job.id });
  }

  /** Another job was queued behind this run: there is neither a next attempt nor a dead letter. */
  private replaced(queue: string, outcome: EndedRun, fate: string): void {
    const { job, name, settlement, error } = outcome;
    const isDead = settlement.transition === 'dead';
    if (settlement.transition !== 'retry' && !isDead) {
      this.ended(queue, outcome);
      return;
    }
    const run = { queue, id: job.id, name, attempt: job.attempt };
    this.about(jobOf(queue, outcome), () => {
      this.log.warn(`${titleOf(run, true)} failed in attempt ${run.attempt}: ${whyFailed(error)}; ${fate}.`);
    });
    if (isDead && !settlement.failed) return;
    this.tell({ type: 'failed', ...run, error, retryAt: null, replaced: true });
  }

  private cancelled(queue: string, outcome: EndedRun): void {
    const job = jobOf(queue, outcome);
    this.about(job, () => this.log.log(`${titleOf(job, true)} was cancelled while it ran.`));
    this.tell({ type: 'cancelled', queue, id: job.id });
  }

  private endedInVain(queue: string, outcome: EndedRun): void {
    const what = outcome.settlement.transition === 'extend' ? 'was to be held longer' : 'ended';
    const job = jobOf(queue, outcome);
    this.about(job, () => {
      this.log.warn(`${titleOf(job, true)} ${what} after its lease was lost; this run does not count.`);
    });
    this.tell({ type: 'leaseLost', queue, id: job.id, name: job.name, attempt: outcome.job.attempt });
  }

  /** Writes a line about one job. */
  about(job: KnownOfJob, write: () => void): void {
    if (!this.options.trackCurrentJob) write();
    else withinJob(job instanceof ScheduledJob ? job : new ReportedJob(job), write);
  }

  /** Tells this to those who listen. */
  tell(event: ScheduledQueueEvent): void {
    if (this.events.wants(event.queue)) this.events.tell(event);
  }
}

/** True once for each name, as long as these can be remembered. */
function isNew(name: string, names: Set<string>): boolean {
  if (names.size === NAMES_REMEMBERED || names.has(name)) return false;
  names.add(name);
  return true;
}

/** The job of a run that has ended: the run itself, or what is known where it has not been kept, or none began. */
function jobOf(queue: string, { run, job, name }: EndedRun): ScheduledJob {
  if (run) return run;
  const { id, attempt, envelope, dueAtMs, claimedAtMs, fence } = job;
  return new ReportedJob({
    queue,
    id,
    name,
    attempt,
    headers: isReadable(envelope) ? envelope.settings.headers : undefined,
    dueAt: new Date(dueAtMs),
    latenessMs: claimedAtMs - dueAtMs,
    fence: Number(fence),
  });
}

/** In one line, with the place in the application's files: Nest's logger takes a stack with errors only, and this is a warning. */
function whyFailed(error: unknown): string {
  const description = describeError(error);
  return `${errorLine(description)}${placeIn(description)}`;
}
