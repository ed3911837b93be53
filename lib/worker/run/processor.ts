import { InvalidPayloadError } from '../../core/errors.js';
import type { EventSink } from '../../core/job/events.js';
import { deserialisePayload } from '../../core/payload/payload.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import { type Envelope, isReadable } from '../../store/envelope.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { JobHandler } from './job-handler.js';
import { PayloadRefusal } from './payload-refusal.js';
import { type LeaseKeeper, type RunLimits, RunningJob } from './running-job.js';
import type { EndedRun, Settler } from './settler.js';

/** Whoever holds the jobs: each that was started is ended once. */
export interface RunHolder {
  /** A job turned out fit to run. */
  begin(run: RunningJob): void;
  /** It has ended so; `run` is missing where it was not fit to run. */
  end(ended: EndedRun, run?: RunningJob): void;
  /** Its handler was not called: it was settled before that, or its lease is over. */
  drop(run: RunningJob): void;
}

/** Runs claimed jobs. Never throws, and never rejects. */
export class Processor {
  constructor(
    private readonly queue: string,
    private readonly handlers: ReadonlyMap<string, JobHandler>,
    private readonly checker: PayloadChecker,
    private readonly settler: Settler,
    private readonly events: EventSink,
  ) {}

  /** Starts a job that was asked for at `askedAt`; its end comes in the same round of the event loop where the handler is synchronous. */
  start(claim: ClaimedJob, askedAt: number, keeper: LeaseKeeper, holder: RunHolder): void {
    const { envelope } = claim;
    if (!isReadable(envelope)) {
      holder.end(this.settler.unreadable(claim, envelope.unreadable));
      return;
    }
    const handler = this.handlers.get(envelope.name);
    if (!handler) {
      holder.end(this.settler.unreadable(claim, 'the envelope has a name that was not asked for'));
      return;
    }
    const limits = limitsOf(envelope, handler);
    if (claim.attempt > limits.maxAttempts) {
      holder.end(this.settler.spent(claim, envelope, limits));
      return;
    }
    const run = new RunningJob(this.queue, claim, askedAt, envelope, limits, keeper, this.events);
    holder.begin(run);
    if (handler.payload) void this.runChecked(run, handler, holder);
    else this.runPlain(run, handler, holder);
  }

  private runPlain(run: RunningJob, handler: JobHandler, holder: RunHolder): void {
    try {
      run.payload = deserialisePayload(run.envelope.payload);
    } catch (error) {
      holder.end(this.settler.dead(run.claim, run.envelope, 'invalid-payload', error, run), run);
      return;
    }
    this.runHandler(run, handler, holder);
  }

  private async runChecked(run: RunningJob, handler: JobHandler, holder: RunHolder): Promise<void> {
    try {
      run.payload = await this.checker.read(run.envelope.payload, handler.payload, {
        queue: this.queue,
        jobName: run.name,
        jobId: run.id,
      });
    } catch (error) {
      const unfit = error instanceof InvalidPayloadError || error instanceof SyntaxError;
      holder.end(
        unfit
          ? this.settler.dead(run.claim, run.envelope, 'invalid-payload', error, run)
          : this.settler.failed(run, error),
        run,
      );
      return;
    }
    this.runHandler(run, handler, holder);
  }

  private runHandler(run: RunningJob, handler: JobHandler, holder: RunHolder): void {
    // Cancelled, or its time was over, while its payload was checked; or the process stood still, or a handler before this
    // one blocked it, until others may have the job.
    if (run.abandoned || run.leaseIsOver()) {
      holder.drop(run);
      return;
    }
    if (this.events.wanted) {
      const { id, name, attempt, latenessMs } = run;
      this.events.tell({ type: 'started', queue: this.queue, id, name, attempt, latenessMs });
    }
    let result: unknown;
    try {
      result = handler.run(run.payload, run);
      if (isThenable(result)) {
        // Not `result.then`: a foreign thenable may throw there.
        Promise.resolve(result).then(
          (value) => holder.end(this.settler.completed(run, value), run),
          (error) => holder.end(this.threw(run, error), run),
        );
        return;
      }
    } catch (error) {
      holder.end(this.threw(run, error), run);
      return;
    }
    holder.end(this.settler.completed(run, result), run);
  }

  private threw(run: RunningJob, thrown: unknown): EndedRun {
    const unfit = PayloadRefusal.errorIn(thrown);
    return unfit
      ? this.settler.dead(run.claim, run.envelope, 'invalid-payload', unfit, run)
      : this.settler.failed(run, thrown);
  }
}

/** What the call said wins. */
export function limitsOf({ settings }: Envelope, byName: { readonly settings: RunLimits }): RunLimits {
  const { maxAttempts, timeoutMs } = byName.settings;
  if (settings.maxAttempts === undefined && settings.timeoutMs === undefined) return byName.settings;
  return { maxAttempts: settings.maxAttempts ?? maxAttempts, timeoutMs: settings.timeoutMs ?? timeoutMs };
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
