import type { Clock } from '../../core/clock.js';
import { abortReasons } from '../run/abort-reasons.js';
import type { RunHolder } from '../run/processor.js';
import type { RunningJob } from '../run/running-job.js';
import { RunningJobs } from '../run/running-jobs.js';
import type { EndedRun, Settler } from '../run/settler.js';
import type { Reporter } from '../session/reporter.js';
import type { TurnDraft } from '../session/turn-draft.js';

/** What a worker does when one of its runs has ended. */
export interface RunEnds {
  /** There is something to settle. */
  toSettle(): void;
  /** A place is free, and there is nothing to settle. */
  placeFreed(): void;
}

/** The runs of one worker: each is settled once, by its end or by what came before that. */
export class WorkerRuns implements RunHolder {
  readonly running: RunningJobs;

  constructor(
    private readonly queue: string,
    private readonly draft: TurnDraft,
    private readonly settler: Settler,
    private readonly reporter: Reporter,
    private readonly ends: RunEnds,
    clock: Clock,
    timerName: string,
  ) {
    this.running = new RunningJobs(clock, timerName, (run) => this.timeOut(run));
  }

  begin(run: RunningJob): void {
    this.running.add(run);
  }

  end(ended: EndedRun, run?: RunningJob): void {
    // Nobody waits for a run whose job went back at shutdown.
    if (run && !this.running.remove(run)) return;
    if (run?.abandoned) {
      this.ends.placeFreed();
      return;
    }
    this.draft.end(ended);
    this.ends.toSettle();
  }

  drop(run: RunningJob): void {
    if (!this.running.remove(run)) return;
    if (run.abandoned) {
      this.ends.placeFreed();
      return;
    }
    this.draft.release(run.claim);
    this.ends.toSettle();
  }

  cancel(id: string): void {
    const run = this.running.find(id);
    if (run) this.endEarly(run, abortReasons.cancelled(run), this.settler.cancelled(run));
  }

  loseLease(id: string): void {
    const run = this.running.find(id);
    if (!run) return;
    run.abandon(abortReasons.leaseLost(run));
    this.reporter.leaseLost(this.queue, run);
  }

  /** All go back, with no attempt used, and nobody waits for their handlers any more. Answers how many there were. */
  giveBack(): number {
    const held = this.running.held();
    for (const run of held) {
      run.abandon(abortReasons.closing(run));
      this.draft.release(run.claim);
    }
    this.running.clear();
    return held.length;
  }

  private timeOut(run: RunningJob): void {
    const error = abortReasons.timeout(run);
    this.endEarly(run, error, this.settler.failed(run, error));
  }

  /** The handler goes on, and its place is only free once it returns; but what it answers no longer counts. */
  private endEarly(run: RunningJob, reason: Error, ended: EndedRun): void {
    run.abandon(reason);
    this.draft.end(ended);
    this.ends.toSettle();
  }
}
