import { askBackoff, backoffDelayMs } from '../core/backoff.js';
import { DEFAULT_BACKOFF } from '../core/defaults.js';
import { InvalidPayloadError } from '../core/errors.js';
import type { DeadReason, EventSink } from '../core/events.js';
import { isOutcome, type JobOutcome } from '../core/outcome.js';
import { deserialisePayload } from '../core/payload.js';
import type { PayloadChecker } from '../core/payload-class.js';
import { decodeEnvelope, type Envelope } from '../store/envelope.js';
import type { ClaimedJob, Settlement } from '../store/job-store.js';
import { type Failure, toFailure } from './failure.js';
import type { JobHandler } from './job-handler.js';
import { type LeaseKeeper, type RunLimits, RunningJob } from './running-job.js';

/** How a run ended: what Redis is to be told, and what is known of it here. */
export interface Outcome {
  job: ClaimedJob;
  name: string;
  settlement: Settlement;
  durationMs: number;
  error?: unknown;
  reason?: DeadReason;
  /** What was wrong with the answer of the job's backoff function, if anything. */
  backoffProblem?: string;
}

/** Told once for each job how it ended; `run` is missing where it never began. */
type End = (outcome: Outcome, run?: RunningJob) => void;

/** Runs claimed jobs and says how each is to be settled. Never throws, and never rejects. */
export class Processor {
  constructor(
    private readonly queue: string,
    private readonly handlers: ReadonlyMap<string, JobHandler>,
    private readonly checker: PayloadChecker,
    private readonly keepResults: boolean,
    private readonly events: EventSink,
  ) {}

  /**
   * Starts a job. `begin` is told the run once the job turned out fit to run, `end` its outcome,
   * in the same turn of the event loop where the handler is synchronous.
   */
  start(claim: ClaimedJob, keeper: LeaseKeeper, begin: (run: RunningJob) => void, end: End): void {
    let envelope: Envelope;
    let handler: JobHandler;
    let limits: RunLimits;
    try {
      envelope = decodeEnvelope(claim.envelope);
      handler = this.handlers.get(envelope.name)!;
      limits = limitsOf(envelope, handler);
    } catch (error) {
      end(this.dead(claim, undefined, 'unreadable', error));
      return;
    }
    if (claim.attempt > limits.maxAttempts) {
      end(this.spent(claim, envelope, limits));
      return;
    }
    const run = new RunningJob(this.queue, claim, envelope, limits, keeper, this.events);
    begin(run);
    if (handler.payload) void this.runChecked(run, handler, end);
    else this.runPlain(run, handler, end);
  }

  private runPlain(run: RunningJob, handler: JobHandler, end: End): void {
    try {
      run.payload = deserialisePayload(run.envelope.payload);
    } catch (error) {
      end(this.dead(run.claim, run.envelope, 'invalid-payload', error, run), run);
      return;
    }
    this.runHandler(run, handler, end);
  }

  private async runChecked(run: RunningJob, handler: JobHandler, end: End): Promise<void> {
    try {
      run.payload = await this.checker.read(run.envelope.payload, handler.payload, {
        queue: this.queue,
        jobName: run.name,
        jobId: run.id,
      });
    } catch (error) {
      const unfit = error instanceof InvalidPayloadError || error instanceof SyntaxError;
      end(unfit ? this.dead(run.claim, run.envelope, 'invalid-payload', error, run) : this.failed(run, error), run);
      return;
    }
    this.runHandler(run, handler, end);
  }

  private runHandler(run: RunningJob, handler: JobHandler, end: End): void {
    // Cancelled, or its time was over, while its payload was checked.
    if (run.abandoned) {
      end(this.cancelled(run), run);
      return;
    }
    if (this.events.wanted) {
      const { id, name, attempt, latenessMs } = run;
      this.events.tell({ type: 'started', queue: this.queue, id, name, attempt, latenessMs });
    }
    let result: unknown;
    try {
      result = handler.run(run.payload, run);
    } catch (error) {
      end(this.failed(run, error), run);
      return;
    }
    if (!isThenable(result)) {
      end(this.completed(run, result), run);
      return;
    }
    // Not `result.then`: a foreign thenable may throw there.
    Promise.resolve(result).then(
      (value) => end(this.completed(run, value), run),
      (error) => end(this.failed(run, error), run),
    );
  }

  private completed(run: RunningJob, result: unknown): Outcome {
    if (isOutcome(result)) return this.asSaid(run, result);
    const { id, fence } = run.claim;
    const { idWasChosen } = run.envelope;
    const kept = this.keepResults ? serialiseResult(result) : undefined;
    return this.outcome(run, {
      id,
      fence,
      transition: 'complete',
      result: kept,
      idWasChosen,
    });
  }

  private asSaid(run: RunningJob, { kind, reason, due }: JobOutcome): Outcome {
    const { id, fence } = run.claim;
    if (kind === 'snooze') return this.outcome(run, { id, fence, transition: 'snooze', due: due! });
    if (kind === 'discard') {
      const { idWasChosen } = run.envelope;
      return { ...this.outcome(run, { id, fence, transition: 'discard', idWasChosen }), error: reason };
    }
    return this.dead(run.claim, run.envelope, 'dead-lettered', reason, run);
  }

  /** The outcome of a run that somebody wanted cancelled. */
  cancelled(run: RunningJob): Outcome {
    const { id, fence } = run.claim;
    return this.outcome(run, { id, fence, transition: 'cancel', idWasChosen: run.envelope.idWasChosen });
  }

  /** The outcome of a run that threw, or ran too long. */
  failed(run: RunningJob, error: unknown): Outcome {
    const { id, fence, attempt } = run.claim;
    if (isUnrecoverable(error)) return this.dead(run.claim, run.envelope, 'unrecoverable', error, run);
    if (attempt >= run.maxAttempts) return this.dead(run.claim, run.envelope, 'attempts-exhausted', error, run);
    const { delayMs, problem } = this.waitAfter(run, error);
    return {
      ...this.outcome(run, { id, fence, transition: 'retry', delayMs, failure: toLine(toFailure(error)) }),
      error,
      backoffProblem: problem,
    };
  }

  private waitAfter(run: RunningJob, error: unknown): { delayMs: number; problem?: string } {
    const { attempt } = run.claim;
    const backoff = run.envelope.settings.backoff ?? this.handlers.get(run.name)!.settings.backoff;
    if (typeof backoff !== 'function') return { delayMs: backoffDelayMs(backoff, attempt) };
    const delayMs = askBackoff(backoff, attempt, error, run);
    if (typeof delayMs === 'number') return { delayMs };
    return { delayMs: backoffDelayMs(DEFAULT_BACKOFF, attempt), problem: delayMs.problem };
  }

  /** It has no attempt left: the last one lost its lease, or failed when there were to be more. None begins. */
  private spent(claim: ClaimedJob, envelope: Envelope, { maxAttempts }: RunLimits): Outcome {
    const begun = claim.attempt - 1;
    const reason = claim.crashes > 0 ? 'crashed' : 'attempts-exhausted';
    const why = {
      crashed: `its lease ran out during attempt ${begun} of ${maxAttempts}: the worker died or was blocked`,
      'attempts-exhausted': `attempt ${begun} has failed, and maxAttempts is ${maxAttempts} by now`,
    };
    // No stack: it would be this library's.
    const error = Object.assign(new Error(why[reason]), { stack: undefined });
    const outcome = this.dead(claim, envelope, reason, error, undefined, false);
    return { ...outcome, job: { ...claim, attempt: begun } };
  }

  private dead(
    claim: ClaimedJob,
    envelope: Envelope | undefined,
    reason: DeadReason,
    error: unknown,
    run?: RunningJob,
    hasBegun = true,
  ): Outcome {
    const settlement: Settlement = {
      id: claim.id,
      fence: claim.fence,
      transition: 'dead',
      failure: toLine(toFailure(error, reason)),
      ran: hasBegun,
      failed: hasBegun && reason !== 'dead-lettered',
      idWasChosen: envelope?.idWasChosen ?? false,
    };
    const durationMs = run ? performance.now() - run.startedAt : 0;
    return { job: claim, name: envelope?.name ?? '', settlement, durationMs, error, reason };
  }

  private outcome(run: RunningJob, settlement: Settlement): Outcome {
    return { job: run.claim, name: run.name, settlement, durationMs: performance.now() - run.startedAt };
  }
}

function limitsOf({ settings }: Envelope, handler: JobHandler): RunLimits {
  const { maxAttempts, timeoutMs } = handler.settings;
  if (settings.maxAttempts === undefined && settings.timeoutMs === undefined) return handler.settings;
  return { maxAttempts: settings.maxAttempts ?? maxAttempts, timeoutMs: settings.timeoutMs ?? timeoutMs };
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** By its code: it may be of this package's other build. */
function isUnrecoverable(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 'UNRECOVERABLE_JOB';
}

/** One line: failures are kept as lines. */
function toLine(failure: Failure): string {
  return JSON.stringify(failure);
}

/** A result is a courtesy: one that cannot be kept does not fail a job that has done its work. */
function serialiseResult(result: unknown): string {
  try {
    return JSON.stringify(result) ?? '';
  } catch {
    return '';
  }
}
