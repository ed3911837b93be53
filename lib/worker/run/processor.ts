import type { Observers } from '../../core/observe/observers.js';
import { isThenable } from '../../core/thenable.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { ClaimOpener } from './claim-opener.js';
import type { SingleHandler } from './job-handler.js';
import type { PayloadReader } from './payload-reader.js';
import { end, isDropped, type RunHolder } from './run-holder.js';
import { type RunContext, RunningJob, tellStart } from './running-job.js';
import type { SettlementBuilder } from './settlement-builder.js';

/** Runs claimed jobs, one a call. Never throws, and never rejects. */
export class Processor {
  constructor(
    private readonly context: RunContext,
    private readonly handlers: ReadonlyMap<string, SingleHandler>,
    private readonly opener: ClaimOpener,
    private readonly reader: PayloadReader,
    private readonly builder: SettlementBuilder,
    private readonly observers: Observers,
  ) {}

  /** Starts a job that was asked for at `askedAt`; its end comes in the same round of the event loop where the handler is synchronous. */
  start(claim: ClaimedJob, askedAt: number, holder: RunHolder): void {
    const run = this.opener.open(claim, askedAt);
    if (!(run instanceof RunningJob)) {
      holder.endRun(run);
      return;
    }
    run.span = this.observers.tracer?.beginRun(run, run.ageMs);
    holder.beginRun(run);
    const handler = this.handlers.get(run.name)!;
    const unfit = this.reader.read(run, handler);
    if (unfit instanceof Promise) {
      void unfit.then((ended) => (ended ? end(ended, run, holder) : this.runHandler(run, handler, holder)));
    } else if (unfit) end(unfit, run, holder);
    else this.runHandler(run, handler, holder);
  }

  private runHandler(run: RunningJob, handler: SingleHandler, holder: RunHolder): void {
    if (isDropped(run, holder)) return;
    tellStart(this.context, run);
    const { builder } = this;
    let result: unknown;
    try {
      result = run.span ? run.span.run(() => handler.run(run.payload, run)) : handler.run(run.payload, run);
      if (isThenable(result)) {
        // Not `result.then`: a foreign thenable may throw there.
        Promise.resolve(result).then(
          (value) => end(builder.completed(run, value), run, holder),
          (error) => end(builder.thrown(run, error), run, holder),
        );
        return;
      }
    } catch (error) {
      end(builder.thrown(run, error), run, holder);
      return;
    }
    end(builder.completed(run, result), run, holder);
  }
}
