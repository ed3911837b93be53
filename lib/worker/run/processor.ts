import type { Observers } from '../../core/observe/observers.js';
import type { RunSpan } from '../../core/observe/tracer.js';
import type { Codecs } from '../../core/payload/codecs.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import { isThenable } from '../../core/thenable.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { ClaimOpener } from './claim-opener.js';
import type { SingleHandler } from './job-handler.js';
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
    private readonly handlers: ReadonlyMap<string, SingleHandler>,
    private readonly opener: ClaimOpener,
    private readonly codecs: Codecs,
    private readonly checker: PayloadChecker,
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
    if (handler.payload) void this.runChecked(run, handler, holder);
    else this.runPlain(run, handler, holder);
  }

  private runPlain(run: RunningJob, handler: SingleHandler, holder: RunHolder): void {
    const unfit = this.opener.readPayload(run);
    if (unfit) end(unfit, run, holder);
    else if (run.payload instanceof Promise) void this.runChecked(run, handler, holder, run.payload);
    else this.runHandler(run, handler, holder);
  }

  /** `decoding`: a payload that is being decoded already. */
  private async runChecked(
    run: RunningJob,
    handler: SingleHandler,
    holder: RunHolder,
    decoding?: PromiseLike<unknown>,
  ): Promise<void> {
    try {
      const plain = await (decoding ?? this.codecs.decode(run.envelope, run));
      const fields = { queue: run.queue, jobName: run.name, jobId: run.id };
      run.payload = await this.checker.check(plain, handler.payload, fields);
    } catch (error) {
      end(this.builder.undecodable(run, error), run, holder);
      return;
    }
    this.runHandler(run, handler, holder);
  }

  private runHandler(run: RunningJob, handler: SingleHandler, holder: RunHolder): void {
    // Cancelled, or its time was over, while its payload was checked; or the process stood still, or a handler before this
    // one blocked it, until others may have the job.
    if (run.abandoned || run.leaseIsOver()) {
      run.span?.end();
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
      result = run.span ? run.span.run(() => handler.run(run.payload, run)) : handler.run(run.payload, run);
      if (isThenable(result)) {
        // Not `result.then`: a foreign thenable may throw there.
        Promise.resolve(result).then(
          (value) => end(this.builder.completed(run, value), run, holder),
          (error) => end(this.afterThrow(run, error), run, holder),
        );
        return;
      }
    } catch (error) {
      end(this.afterThrow(run, error), run, holder);
      return;
    }
    end(this.builder.completed(run, result), run, holder);
  }

  private afterThrow(run: RunningJob, thrown: unknown): EndedRun {
    const unfit = PayloadRefusal.errorIn(thrown);
    return unfit
      ? this.builder.dead(run.claim, run.envelope, 'invalid-payload', unfit, run)
      : this.builder.failed(run, thrown);
  }
}

/** Ends a run, and its span before that. Whatever ended it earlier has ended its span as well. */
function end(ended: EndedRun, run: RunningJob, holder: RunHolder): void {
  if (run.span) endSpan(run.span, ended);
  holder.endRun(ended, run);
}

/** Whatever the queue counts as a failed attempt has failed, and what the handler made a dead letter. */
function endSpan(span: RunSpan, { settlement, error, reason }: EndedRun): void {
  const { transition } = settlement;
  if (transition !== 'retry' && transition !== 'dead') span.end();
  else if (reason === 'dead-lettered') span.fail(error, reason);
  else span.fail(error);
}
