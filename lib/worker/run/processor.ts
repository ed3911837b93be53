import type { Clock } from '../../core/clock.js';
import type { EventSink } from '../../core/job/events.js';
import type { Codecs } from '../../core/payload/codecs.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import { isThenable } from '../../core/thenable.js';
import { type Envelope, isReadable } from '../../store/envelope.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { JobHandler } from './job-handler.js';
import { PayloadRefusal } from './payload-refusal.js';
import { type LeaseKeeper, type RunContext, type RunLimits, RunningJob } from './running-job.js';
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
    private readonly codecs: Codecs,
    private readonly checker: PayloadChecker,
    private readonly settler: Settler,
    private readonly events: EventSink,
    private readonly clock: Clock,
  ) {}

  /** What the runs of this queue have in common, whose leases this keeper holds. */
  contextOf(leases: LeaseKeeper): RunContext {
    const { queue, events, clock } = this;
    return { queue, leases, events, clock };
  }

  /** Starts a job that was asked for at `askedAt`; its end comes in the same round of the event loop where the handler is synchronous. */
  start(claim: ClaimedJob, askedAt: number, context: RunContext, holder: RunHolder): void {
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
    const run = new RunningJob(context, claim, askedAt, envelope, limits);
    holder.begin(run);
    if (handler.payload) void this.runChecked(run, handler, holder);
    else this.runPlain(run, handler, holder);
  }

  private runPlain(run: RunningJob, handler: JobHandler, holder: RunHolder): void {
    let payload: unknown;
    try {
      payload = this.codecs.decode(run.envelope, run);
    } catch (error) {
      holder.end(this.settler.unfit(run, error), run);
      return;
    }
    if (run.envelope.codec !== undefined && isThenable(payload)) {
      void this.runChecked(run, handler, holder, payload);
      return;
    }
    run.payload = payload;
    this.runHandler(run, handler, holder);
  }

  /** `decoding`: a payload that is being decoded already. */
  private async runChecked(
    run: RunningJob,
    handler: JobHandler,
    holder: RunHolder,
    decoding?: PromiseLike<unknown>,
  ): Promise<void> {
    try {
      const plain = await (decoding ?? this.codecs.decode(run.envelope, run));
      const fields = { queue: this.queue, jobName: run.name, jobId: run.id };
      run.payload = await this.checker.check(plain, handler.payload, fields);
    } catch (error) {
      holder.end(this.settler.unfit(run, error), run);
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
