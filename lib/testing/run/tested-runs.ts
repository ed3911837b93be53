import { Runs, type RunsParts } from '../../worker/handle/runs.js';
import type { RunningJob } from '../../worker/run/running-job.js';
import type { EndedRun } from '../../worker/run/settlement-builder.js';
import type { RunOutcome } from '../look/tested-run.js';
import type { ConductedSession } from './conducted-session.js';
import type { Faults } from './faults.js';
import { type RunOwner, runOf, type TestRun } from './test-run.js';

/** The runs of a worker under test: those of any worker, with the faults that a test has ordered, and a log of how they end. */
export class TestedRuns extends Runs implements RunOwner {
  constructor(
    parts: RunsParts,
    private readonly session: ConductedSession,
    private readonly faults: Faults,
  ) {
    super(parts);
    if (parts.batches) session.conduct(parts.batches);
  }

  override beginRun(job: RunningJob): void {
    super.beginRun(job);
    const run = runOf(job.claim);
    run.job = job;
    run.owner = this;
  }

  override endRun(ended: EndedRun, job?: RunningJob): void {
    const run = runOf(ended.job);
    if (run.isSettled) super.endRun(ended, job);
    else if (run.fault?.kind === 'crash') this.throwAway(run, 'crashed');
    else if (this.faults.deliversTwice && !run.isSecond && ended.settlement.transition === 'complete')
      this.repeat(run, ended);
    else {
      run.settle(ended);
      super.endRun(ended, job);
    }
    run.over();
  }

  override dropRun(job: RunningJob): void {
    const run = runOf(job.claim);
    if (!run.isSettled) run.throwAway('released');
    super.dropRun(job);
    run.over();
  }

  override loseLease(id: string): void {
    const job = this.parts.running.find(id);
    if (job) runOf(job.claim).throwAway('leaseLost');
    super.loseLease(id);
  }

  /** Handlers that sleep are woken by the error that their signal has. */
  override giveBack(): number {
    const runs = [...this.parts.running.all()].map((job) => runOf(job.claim));
    for (const run of runs) if (!run.isSettled) run.throwAway('released');
    const count = super.giveBack();
    for (const { call, job } of runs) call!.leave(job!.signal.reason);
    return count;
  }

  throwAway(run: TestRun, outcome: RunOutcome): void {
    run.throwAway(outcome);
    this.session.forget(run);
    if (!run.job) return;
    run.job.abandoned = true;
    this.removeRun(run.job);
  }

  loseLeaseOf(run: TestRun, reason: Error): void {
    const { reporter, queue } = this.parts;
    this.session.forget(run);
    this.abandon(run.job!, reason);
    reporter.leaseLost(queue, run.job!);
  }

  protected override endEarly(job: RunningJob, reason: Error, ended: EndedRun): void {
    runOf(job.claim).settle(ended);
    super.endEarly(job, reason, ended);
  }

  private repeat(run: TestRun, ended: EndedRun): void {
    run.settle(ended);
    this.removeRun(run.job!);
    const second = this.session.openAgain(run);
    if (!second) return;
    if (!run.job!.call) this.session.beginAgain(second, run);
    this.startClaimed([second.claim], second.askedAt, true);
  }
}
