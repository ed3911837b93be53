import type { Codecs } from '../../core/payload/codecs.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import { isThenable } from '../../core/thenable.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { ClaimOpener } from './claim-opener.js';
import type { JobHandler } from './job-handler.js';
import { PayloadRefusal } from './payload-refusal.js';
import { type RunContext, RunningJob } from './running-job.js';
import type { EndedRun, SettlementBuilder } from './settlement-builder.js';

/** Whoever holds the jobs: each that was started is ended once. */
export interface RunHolder {
  /** A job turned out fit to run. */
  beginRun(run: RunningJob): void;
  /** It has ended so; `run` is missing where it was not fit to run. */
  endRun(ended: EndedRun, run?: RunningJob): void;
  /** Its handler was not called: it was settled before that, or its lease is over. */
  dropRun(run: RunningJob): void;
}

/** Runs claimed jobs. Never throws, and never rejects. */
export class Processor {
  constructor(
    private readonly context: RunContext,
    private readonly handlers: ReadonlyMap<string, JobHandler>,
    private readonly opener: ClaimOpener,
    private readonly codecs: Codecs,
    private readonly checker: PayloadChecker,
    private readonly builder: SettlementBuilder,
  ) {}

  /** Starts a job that was asked for at `askedAt`; its end comes in the same round of the event loop where the handler is synchronous. */
  start(claim: ClaimedJob, askedAt: number, holder: RunHolder): void {
    const run = this.opener.open(claim, askedAt);
    if (!(run instanceof RunningJob)) {
      holder.endRun(run);
      return;
    }
    holder.beginRun(run);
    const handler = this.handlers.get(run.name)!;
    if (handler.payload) void this.runChecked(run, handler, holder);
    else this.runPlain(run, handler, holder);
  }

  private runPlain(run: RunningJob, handler: JobHandler, holder: RunHolder): void {
    const unfit = this.opener.readPayload(run);
    if (unfit) holder.endRun(unfit, run);
    else if (run.payload instanceof Promise) void this.runChecked(run, handler, holder, run.payload);
    else this.runHandler(run, handler, holder);
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
      const fields = { queue: run.queue, jobName: run.name, jobId: run.id };
      run.payload = await this.checker.check(plain, handler.payload, fields);
    } catch (error) {
      holder.endRun(this.builder.undecodable(run, error), run);
      return;
    }
    this.runHandler(run, handler, holder);
  }

  private runHandler(run: RunningJob, handler: JobHandler, holder: RunHolder): void {
    // Cancelled, or its time was over, while its payload was checked; or the process stood still, or a handler before this
    // one blocked it, until others may have the job.
    if (run.abandoned || run.leaseIsOver()) {
      holder.dropRun(run);
      return;
    }
    const { events } = this.context;
    if (events.wants(run.queue)) {
      const { queue, id, name, attempt, latenessMs } = run;
      events.tell({ type: 'started', queue, id, name, attempt, latenessMs });
    }
    let result: unknown;
    try {
      result = handler.run(run.payload, run);
      if (isThenable(result)) {
        // Not `result.then`: a foreign thenable may throw there.
        Promise.resolve(result).then(
          (value) => holder.endRun(this.builder.completed(run, value), run),
          (error) => holder.endRun(this.afterThrow(run, error), run),
        );
        return;
      }
    } catch (error) {
      holder.endRun(this.afterThrow(run, error), run);
      return;
    }
    holder.endRun(this.builder.completed(run, result), run);
  }

  private afterThrow(run: RunningJob, thrown: unknown): EndedRun {
    const unfit = PayloadRefusal.errorIn(thrown);
    return unfit
      ? this.builder.dead(run.claim, run.envelope, 'invalid-payload', unfit, run)
      : this.builder.failed(run, thrown);
  }
}
