import { backoffDelayMs } from '../core/backoff.js';
import { InvalidPayloadError } from '../core/errors.js';
import type { DeadReason, EventSink } from '../core/events.js';
import { deserialisePayload } from '../core/payload.js';
import type { PayloadChecker } from '../core/payload-class.js';
import { decodeEnvelope, type Envelope } from '../store/envelope.js';
import type { ClaimedJob, Settlement } from '../store/job-store.js';
import { type Failure, toFailure } from './failure.js';
import type { JobHandler } from './job-handler.js';
import { RunningJob } from './running-job.js';

/** How a run ended: what Redis is to be told, and what is known of it here. */
export interface Outcome {
  job: ClaimedJob;
  name: string;
  settlement: Settlement;
  durationMs: number;
  error?: unknown;
  reason?: DeadReason;
}

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
  start(claim: ClaimedJob, begin: (run: RunningJob) => void, end: (outcome: Outcome) => void): void {
    let envelope: Envelope;
    try {
      envelope = decodeEnvelope(claim.envelope);
    } catch (error) {
      end(this.dead(claim, '', 'unreadable', error));
      return;
    }
    const handler = this.handlers.get(envelope.name)!;
    const maxAttempts = envelope.settings.maxAttempts ?? handler.maxAttempts;
    if (claim.attempt > maxAttempts) {
      const error = new Error(`its worker died during attempt ${claim.attempt - 1} of ${maxAttempts}`);
      end(this.dead(claim, envelope.name, 'crashed', error));
      return;
    }
    const run = new RunningJob(this.queue, claim, envelope, maxAttempts, this.events);
    begin(run);
    if (handler.payload) void this.runChecked(run, handler, end);
    else this.runPlain(run, handler, end);
  }

  private runPlain(run: RunningJob, handler: JobHandler, end: (outcome: Outcome) => void): void {
    try {
      run.payload = deserialisePayload(run.envelope.payload);
    } catch (error) {
      end(this.dead(run.claim, run.name, 'invalid-payload', error, run));
      return;
    }
    this.runHandler(run, handler, end);
  }

  private async runChecked(run: RunningJob, handler: JobHandler, end: (outcome: Outcome) => void): Promise<void> {
    try {
      run.payload = await this.checker.read(run.envelope.payload, handler.payload, {
        queue: this.queue,
        jobName: run.name,
        jobId: run.id,
      });
    } catch (error) {
      const unfit = error instanceof InvalidPayloadError || error instanceof SyntaxError;
      end(unfit ? this.dead(run.claim, run.name, 'invalid-payload', error, run) : this.failed(run, handler, error));
      return;
    }
    this.runHandler(run, handler, end);
  }

  private runHandler(run: RunningJob, handler: JobHandler, end: (outcome: Outcome) => void): void {
    if (this.events.wanted) {
      const { id, name, attempt, latenessMs } = run;
      this.events.tell({ type: 'started', queue: this.queue, id, name, attempt, latenessMs });
    }
    let result: unknown;
    try {
      result = handler.run(run.payload, run);
    } catch (error) {
      end(this.failed(run, handler, error));
      return;
    }
    if (!isThenable(result)) end(this.completed(run, result));
    else {
      result.then(
        (value) => end(this.completed(run, value)),
        (error) => end(this.failed(run, handler, error)),
      );
    }
  }

  private completed(run: RunningJob, result: unknown): Outcome {
    const { id, fence, attempt } = run.claim;
    const { idWasChosen } = run.envelope;
    const kept = this.keepResults ? serialiseResult(result) : undefined;
    return this.outcome(run, {
      id,
      fence,
      transition: 'complete',
      result: kept,
      idWasChosen,
      hasFailures: attempt > 1,
    });
  }

  private failed(run: RunningJob, handler: JobHandler, error: unknown): Outcome {
    const { id, fence, attempt } = run.claim;
    if (attempt >= run.maxAttempts) return this.dead(run.claim, run.name, 'attempts-exhausted', error, run);
    const delayMs = backoffDelayMs(run.envelope.settings.backoff ?? handler.backoff, attempt);
    return {
      ...this.outcome(run, { id, fence, transition: 'retry', delayMs, failure: toLine(toFailure(error)) }),
      error,
    };
  }

  private dead(claim: ClaimedJob, name: string, reason: DeadReason, error: unknown, run?: RunningJob): Outcome {
    const { id, fence } = claim;
    const ran = reason !== 'crashed';
    const settlement: Settlement = { id, fence, transition: 'dead', failure: toLine(toFailure(error, reason)), ran };
    return { job: claim, name, settlement, durationMs: run ? performance.now() - run.startedAt : 0, error, reason };
  }

  private outcome(run: RunningJob, settlement: Settlement): Outcome {
    return { job: run.claim, name: run.name, settlement, durationMs: performance.now() - run.startedAt };
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
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
