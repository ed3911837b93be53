import type { Observers } from '../../core/observe/observers.js';
import { isThenable } from '../../core/thenable.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { Places } from '../capacity/places.js';
import type { ClaimOpener } from '../run/claim-opener.js';
import type { BatchHandler, TakeOut } from '../run/job-handler.js';
import type { PayloadReader } from '../run/payload-reader.js';
import { end, isDropped, type RunHolder } from '../run/run-holder.js';
import { type RunContext, RunningJob, type SharedCall, tellStart } from '../run/running-job.js';
import type { EndedRun, SettlementBuilder } from '../run/settlement-builder.js';
import { Alarm } from '../session/alarm.js';
import type { ClaimsToConfirm } from '../session/claims-to-confirm.js';
import type { TurnsInFlight } from '../session/turns-in-flight.js';
import { awaited, BatchOutcomes } from './batch-outcomes.js';
import type { Collections, ReadyCall } from './collections.js';

export interface BatchCallsParts {
  readonly context: RunContext;
  readonly collections: Collections;
  readonly places: Places;
  readonly inFlight: TurnsInFlight;
  readonly toConfirm: ClaimsToConfirm;
  readonly opener: ClaimOpener;
  readonly reader: PayloadReader;
  readonly builder: SettlementBuilder;
  readonly observers: Observers;
  /** The name of its timer. */
  readonly timerName: string;
}

/**
 * Calls batch handlers with the jobs that were collected for them, as soon as there is a place for the call. Each job of a call is a run of
 * its own and is settled once: when the call returns, or earlier if it times out, is cancelled or loses its lease. Never throws, and never rejects.
 */
export class BatchCalls {
  private readonly alarm: Alarm;
  private readonly outcomes: BatchOutcomes;
  private holder!: RunHolder;
  private isCalling = false;
  /** Calls begin as soon as they can. False for a test: it begins each itself, by `takeReady` and `begin`. */
  beginByThemselves = true;

  constructor(private readonly parts: BatchCallsParts) {
    this.alarm = new Alarm(parts.context.clock, parts.timerName, () => this.callReady());
    this.outcomes = new BatchOutcomes(parts.builder);
  }

  /** Tells this holder from now on of its runs. */
  tell(holder: RunHolder): void {
    this.holder = holder;
  }

  /** The jobs whose calls have not begun. */
  get collected(): Collections {
    return this.parts.collections;
  }

  /** Takes out and answers all jobs whose calls have not begun: no call gets them. */
  clear(): ClaimedJob[] {
    this.alarm.clear();
    return this.parts.collections.clear();
  }

  /** A place may be free, or jobs may have waited for long enough: begins the calls that can begin. */
  callReady(): void {
    // A call that ends at once frees its place and comes here again: the loop below begins the next call.
    if (this.isCalling || !this.beginByThemselves) return;
    this.isCalling = true;
    for (let next = this.takeReady(); next; next = this.takeReady()) this.begin(next);
    const { nextDue } = this.collected;
    if (nextDue) this.alarm.setFor(nextDue.at);
    this.isCalling = false;
  }

  /** Takes out the call that begins next, if there is a place for it. */
  takeReady(): ReadyCall | undefined {
    const { collections, places, inFlight, toConfirm } = this.parts;
    collections.closeDue();
    // A turn in flight may claim jobs for these places, and jobs that a turn has to confirm first will take some.
    return collections.begin(toConfirm.any ? 0 : places.free - inFlight.limit);
  }

  /** Begins a call that `takeReady` has taken out. */
  begin(ready: ReadyCall): void {
    const { holder, parts } = this;
    const call: SharedCall = { held: 0 };
    const runs: RunningJob[] = [];
    for (const { claim, askedAt } of ready.jobs) {
      const run = parts.opener.open(claim, askedAt);
      if (run instanceof RunningJob) runs.push(run);
      else holder.endRun(run);
    }
    call.held = runs.length;
    for (const run of runs) {
      run.call = call;
      run.span = parts.observers.tracer?.beginRun(run, run.ageMs);
      holder.beginRun(run);
    }
    // Hold all runs before the first payload is read: a run whose payload cannot be read ends at once, and must not look like the last.
    const readings = runs.map((run) => parts.reader.read(run, ready.handler));
    if (readings.some((reading) => reading instanceof Promise))
      void Promise.all(readings).then((unfit) => this.callWith(ready, runs, unfit));
    else this.callWith(ready, runs, readings as (EndedRun | undefined)[]);
  }

  /** `unfit`: how each of the runs ends whose payload cannot be handled, in their order. */
  private callWith(ready: ReadyCall, opened: readonly RunningJob[], unfit: readonly (EndedRun | undefined)[]): void {
    const { holder, outcomes, parts } = this;
    const { handler } = ready;
    const left = new Set(opened);
    const takeOut = (run: RunningJob, ended: EndedRun) => {
      if (left.delete(run)) end(ended, run, holder);
    };
    for (const [i, run] of opened.entries()) if (unfit[i]) takeOut(run, unfit[i]);
    for (const run of left) if (isDropped(run, holder)) left.delete(run);
    const settle = (endAll: (runs: readonly RunningJob[]) => readonly EndedRun[]) => {
      const runs = [...left];
      const allEnded = endAll(runs);
      // All are settled now, so no pipe that is late may take one out.
      left.clear();
      for (const [i, ended] of allEnded.entries()) {
        ended.call = runs[i]!.call;
        end(ended, runs[i]!, holder);
      }
      this.over(ready);
    };
    const ended = (value: unknown) => settle((runs) => outcomes.returned(runs, value, handler));
    const returned = (value: unknown) => {
      const later = awaited(value);
      if (later) void later.then(ended);
      else ended(value);
    };
    const threw = (error: unknown) => settle((runs) => outcomes.threw(runs, error));
    if (left.size === 0) {
      this.over(ready);
      return;
    }
    for (const run of left) tellStart(parts.context, run);
    try {
      const result = this.runBatch(handler, [...left], (job, error) =>
        takeOut(job as RunningJob, parts.builder.thrown(job as RunningJob, error)),
      );
      // Not `result.then`: a foreign thenable may throw there.
      if (isThenable(result)) Promise.resolve(result).then(returned, threw);
      else returned(result);
    } catch (error) {
      threw(error);
    }
  }

  /** The call is over, and the next one may have its place. */
  private over(ready: ReadyCall): void {
    this.parts.collections.end(ready);
    this.callReady();
  }

  /** A call with one job runs within that job's span. With several jobs no span is active: none of them is the one that runs. */
  private runBatch(handler: BatchHandler, runs: RunningJob[], takeOut: TakeOut): unknown {
    const payloads = runs.map(({ payload }) => payload);
    const span = runs.length === 1 ? runs[0]!.span : undefined;
    return span ? span.run(() => handler.runBatch(payloads, runs, takeOut)) : handler.runBatch(payloads, runs, takeOut);
  }
}
