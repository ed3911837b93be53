import type { Clock } from '../../core/clock.js';
import { describeError, errorLine, placeIn } from '../../core/error-description.js';
import type { DeadReason, EventSink, ScheduledQueueEvent } from '../../core/job/events.js';
import type { Log } from '../../core/log.js';
import { firstFew } from '../../core/read/describe.js';
import type { LateJob, LeftOutJob, RecoveredJob, Settled, TurnAnswer } from '../../store/job-store.js';
import type { RunningJob } from '../run/running-job.js';
import type { EndedRun } from '../run/settler.js';
import { RecoveryLog } from './recovery-log.js';
import type { SentTurn } from './turns-in-flight.js';

/** Why jobs die that no handler had. */
const WHY_DEAD: Partial<Record<DeadReason, string>> = {
  crashed: 'its lease ran out too often, so its workers died or were blocked with it',
  'envelope-missing':
    'its envelope is gone from Redis, so its payload is lost; look for evictions and for deleted keys',
  unreadable: 'what is stored of it in Redis cannot be read',
};

const WHY_LEFT_OUT: Record<LeftOutJob['reason'], string> = {
  missed: 'could not begin in time, and the onMissed of the recurrence makes up for no more',
  overlap: 'the previous occurrence had not ended, and overlap of the recurrence is not allowed',
};
const IDS_TOLD = 5;

/** Names may be made up at run time. Beyond this many no warning follows, so that the set cannot grow for ever. */
const NAMES_REMEMBERED = 1_000;

/** Tells people and listeners how runs ended. Names, ids and error messages only: never a payload. */
export class Reporter {
  private refusal: string | undefined;
  private readonly namesWithoutResult = new Set<string>();
  private readonly namesWithoutProgress = new Set<string>();
  private readonly recoveries: RecoveryLog;

  constructor(
    private readonly log: Log,
    private readonly events: EventSink,
    private readonly clock: Clock,
    /** Whose turns these are, as the log says. */
    private readonly who = 'worker',
  ) {
    this.recoveries = new RecoveryLog(log, clock);
  }

  /** What became of all that a turn settled: the runs that had ended, and then the jobs that went back. */
  settled(queue: string, { turn, ended }: SentTurn, settled: readonly Settled[]): void {
    for (const [i, { id }] of turn.settlements.entries()) {
      const run = ended[i];
      if (!run) {
        // Somebody had asked for its cancellation as it was about to go back.
        if (settled[i] === 'cancelled') this.tell({ type: 'cancelled', queue, id });
      } else if (settled[i] === 'counted') this.ended(queue, run);
      else if (settled[i] === 'replaced') this.replaced(queue, run);
      else if (settled[i] === 'cancelled') this.cancelled(queue, run);
      else this.endedInVain(queue, run);
    }
  }

  leaseLost(queue: string, run: RunningJob): void {
    const { id, name, attempt } = run;
    this.log.warn(`The lease of ${about(queue, id, name)} was lost while it ran; its signal is aborted.`);
    this.tell({ type: 'leaseLost', queue, id, name, attempt });
  }

  /** What a turn found in the queue, besides jobs to run. */
  found(queue: string, { recovered, late, leftOut, missing, dropped }: TurnAnswer): void {
    this.recovered(queue, recovered);
    this.late(queue, late);
    if (leftOut.length > 0) this.leftOut(queue, leftOut);
    this.missing(queue, missing);
    // Their deaths have been logged; that they made room is counted, and told to those who keep what must not go.
    for (const job of dropped) this.tell({ type: 'deadDropped', queue, ...job });
  }

  /** A lease ran out: once is an accident, and often the end of the job. */
  private recovered(queue: string, jobs: readonly RecoveredJob[]): void {
    for (const { id, name, attempt, fate } of jobs) {
      const run = { queue, id, name, attempt };
      this.tell({ type: 'recovered', ...run });
      if (fate === 'cancelled') this.tell({ type: 'cancelled', queue, id });
      if (fate === 'cancelled' || fate === 'waiting') continue;
      this.log.error(`${about(queue, id, name, true)} is dead after attempt ${attempt} (${fate}): ${WHY_DEAD[fate]}.`);
      this.tell({ type: 'dead', ...run, reason: fate });
    }
    if (jobs.length > 0) this.recoveries.note(queue, jobs);
  }

  /** Somebody, or an eviction, has taken what these waiting jobs were made of. */
  private missing(queue: string, jobs: TurnAnswer['missing']): void {
    for (const job of jobs) {
      const { id, name, attempt, reason } = job;
      this.log.error(
        `${about(queue, id, name, true)} is dead after attempt ${attempt} (${reason}): ${WHY_DEAD[reason]}.`,
      );
      this.tell({ type: 'dead', queue, ...job });
    }
  }

  private late(queue: string, jobs: readonly LateJob[]): void {
    for (const { id, name, attempt, latenessMs, onLate } of jobs) {
      this.tell({ type: 'late', queue, id, name, latenessMs, onLate });
      // One that runs all the same says so by its event alone.
      if (onLate === 'run') continue;
      const fate = onLate === 'discard' ? 'is discarded' : 'is dead (late)';
      this.log.warn(`${about(queue, id, name, true)} ${fate}: it could only begin ${latenessMs} ms after it was due.`);
      if (onLate === 'discard') this.tell({ type: 'discarded', queue, id, name, attempt, reason: 'late' });
      else this.tell({ type: 'dead', queue, id, name, attempt, reason: 'late' });
    }
  }

  /** One line for each reason: an outage may leave thousands. */
  private leftOut(queue: string, jobs: readonly LeftOutJob[]): void {
    for (const reason of ['missed', 'overlap'] as const) {
      const ids = jobs.filter((job) => job.reason === reason).map(({ id }) => `'${id}'`);
      if (ids.length === 0) continue;
      const what = ids.length === 1 ? '1 occurrence' : `${ids.length} occurrences`;
      this.log.warn(`Left out ${what} in queue '${queue}': ${WHY_LEFT_OUT[reason]}: ${firstFew(ids, IDS_TOLD)}.`);
    }
    for (const { id, name, reason } of jobs) this.tell({ type: 'discarded', queue, id, name, attempt: 0, reason });
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

  private ended(queue: string, outcome: EndedRun): void {
    const { job, name, settlement, durationMs, error, reason, backoffProblem, resultProblem } = outcome;
    // The common case: nothing to log, and nobody listens.
    if (settlement.transition === 'complete' && !this.events.wants(queue) && resultProblem === undefined) return;
    const { id, attempt } = job;
    const run = { queue, id, name, attempt };
    switch (settlement.transition) {
      case 'complete':
        if (resultProblem !== undefined) this.resultNotKept(queue, name, id, resultProblem);
        this.tell({ type: 'completed', ...run, durationMs });
        break;
      case 'retry':
        if (backoffProblem) {
          this.log.warn(
            `The backoff function of job '${name}' in queue '${queue}' cannot be used, so the default is: ${backoffProblem}.`,
          );
        }
        this.log.warn(
          `${about(queue, id, name, true)} failed in attempt ${attempt}: ${whyFailed(error)}; next attempt in ${settlement.delayMs} ms.`,
        );
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

  /** Once a name: a handler that answers so once will answer so again. */
  private resultNotKept(queue: string, name: string, id: string, problem: string): void {
    if (this.namesWithoutResult.size === NAMES_REMEMBERED || this.namesWithoutResult.has(name)) return;
    this.namesWithoutResult.add(name);
    this.log.warn(
      `${about(queue, id, name, true)} completed, but its result cannot be kept: ${problem}. Let its handler return what JSON can hold, or nothing. This is said once for each job name.`,
    );
  }

  /** Once a name, likewise. */
  progressNotKept(queue: string, { id, name }: { id: string; name: string }, problem: string): void {
    if (this.namesWithoutProgress.size === NAMES_REMEMBERED || this.namesWithoutProgress.has(name)) return;
    this.namesWithoutProgress.add(name);
    this.log.warn(
      `${about(queue, id, name, true)} runs on, but the progress that it reports cannot be kept: ${problem}. Give job.progress what JSON can hold in a few words. This is said once for each job name.`,
    );
  }

  private logDeath(queue: string, { job: { id, attempt }, name, error, reason }: EndedRun): void {
    const description = describeError(error);
    // The reason of `JobOutcome.deadLetter` is text, and was not thrown.
    const why = reason === 'dead-lettered' ? description.message : errorLine(description);
    const line = `${about(queue, id, name, true)} is dead after attempt ${attempt} (${reason}): ${why}`;
    this.log.error(line, description.stack);
  }

  /** Another job was queued behind this run, and has taken its place: there is neither a next attempt nor a dead letter. */
  private replaced(queue: string, outcome: EndedRun): void {
    const { job, name, settlement, error } = outcome;
    const isDead = settlement.transition === 'dead';
    if (settlement.transition !== 'retry' && !isDead) {
      this.ended(queue, outcome);
      return;
    }
    const { id, attempt } = job;
    this.log.warn(
      `${about(queue, id, name, true)} failed in attempt ${attempt}: ${whyFailed(error)}; a later job of its id takes its place.`,
    );
    if (isDead && !settlement.failed) return;
    this.tell({ type: 'failed', queue, id, name, attempt, error, retryAt: null, replaced: true });
  }

  private cancelled(queue: string, { job, name }: EndedRun): void {
    this.log.log(`${about(queue, job.id, name, true)} was cancelled while it ran.`);
    this.tell({ type: 'cancelled', queue, id: job.id });
  }

  private endedInVain(queue: string, { job: { id, attempt }, name, settlement }: EndedRun): void {
    const what = settlement.transition === 'extend' ? 'was to be held longer' : 'ended';
    this.log.warn(`${about(queue, id, name, true)} ${what} after its lease was lost; this run does not count.`);
    this.tell({ type: 'leaseLost', queue, id, name, attempt });
  }

  private tell(event: ScheduledQueueEvent): void {
    if (this.events.wants(event.queue)) this.events.tell(event);
  }
}

function about(queue: string, id: string, name: string, begins = false): string {
  return `${begins ? 'Job' : 'job'} '${name}' (${id}) of queue '${queue}'`;
}

/** In one line, with the place in the application's files: Nest's logger takes a stack with errors only, and this is a warning. */
function whyFailed(error: unknown): string {
  const description = describeError(error);
  return `${errorLine(description)}${placeIn(description)}`;
}
