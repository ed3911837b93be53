import type { Observers } from '../../core/observe/observers.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { BatchCalls } from '../batch/batch-calls.js';
import type { Holdings } from '../capacity/holder-in-process.js';
import type { Reporter } from '../report/reporter.js';
import { abortReasons } from '../run/abort-reasons.js';
import type { Processor } from '../run/processor.js';
import type { RunHolder } from '../run/run-holder.js';
import type { RunningJob } from '../run/running-job.js';
import type { RunningJobs, TimeoutHolder } from '../run/running-jobs.js';
import type { EndedRun, SettlementBuilder } from '../run/settlement-builder.js';
import type { PendingSettlements } from '../session/pending-settlements.js';
import type { SessionLoop } from '../session/session-loop.js';

export interface RunsParts {
  readonly queue: string;
  readonly running: RunningJobs;
  readonly processor: Processor;
  readonly builder: SettlementBuilder;
  readonly pending: PendingSettlements;
  readonly loop: SessionLoop;
  readonly reporter: Reporter;
  readonly observers: Observers;
  /** Missing where no handler gets several jobs a call. */
  readonly batches: BatchCalls | undefined;
}

/**
 * The runs of one worker. Each begins as soon as its job is claimed, or with the call for which its job was collected, and is settled once:
 * by its end, or by a timeout, a cancellation or a lost lease before that.
 */
export class Runs implements RunHolder, TimeoutHolder, Holdings {
  private isStopped = false;

  constructor(protected readonly parts: RunsParts) {
    parts.running.tell(this);
    parts.batches?.tell(this);
  }

  get isRunning(): boolean {
    return this.parts.running.size > 0;
  }

  holdsAny(): boolean {
    return this.parts.running.holdsAny() || this.parts.batches?.collected.any === true;
  }

  /**
   * Starts jobs that were asked for at `askedAt`: no more are claimed than there are places for. Jobs of batch handlers are collected, and
   * begin with their call; `areAlone`: each of them gets a call of its own.
   */
  startClaimed(claims: readonly ClaimedJob[], askedAt: number, areAlone = false): void {
    const { queue, pending, processor, observers, batches } = this.parts;
    if (claims.length > 0 && !this.isStopped) observers.meter?.jobsClaimed(queue, claims.length);
    for (const claim of claims) {
      // Claimed anew, so an earlier claim of it is lost: no call must have it twice.
      if (batches?.collected.any) this.loseCollected(claim.id);
      // The handler of one of those before may have stopped the worker.
      if (this.isStopped) pending.release(claim);
      else if (!batches?.collected.add(claim, askedAt, areAlone)) processor.start(claim, askedAt, this);
    }
    batches?.callReady();
  }

  beginRun(run: RunningJob): void {
    this.parts.running.add(run);
  }

  endRun(ended: EndedRun, run?: RunningJob): void {
    if (run && !this.removeRun(run)) return;
    if (run) this.measure(run);
    this.parts.pending.addEnded(ended);
    this.parts.loop.saySoon();
  }

  dropRun(run: RunningJob): void {
    if (!this.removeRun(run)) return;
    this.parts.pending.release(run.claim);
    this.parts.loop.saySoon();
  }

  cancel(id: string): void {
    const run = this.parts.running.find(id);
    if (run) this.endEarly(run, abortReasons.cancelled(run), this.parts.builder.cancelled(run));
    else this.releaseCollected(this.parts.batches?.collected.remove(id));
  }

  timeOut(run: RunningJob): void {
    const error = abortReasons.timeout(run);
    this.endEarly(run, error, this.parts.builder.failed(run, error));
  }

  loseLease(id: string): void {
    const { running, reporter, queue } = this.parts;
    const run = running.find(id);
    if (run) {
      this.abandon(run, abortReasons.leaseLost(run));
      reporter.leaseLost(queue, run);
    } else this.loseCollected(id);
  }

  /** Jobs that are claimed from now on go back, and so do those that wait for their call. */
  refuseClaims(): void {
    this.isStopped = true;
    for (const claim of this.parts.batches?.clear() ?? []) this.releaseCollected(claim);
  }

  /** All go back, with no attempt used, and nobody waits for their handlers any more. Answers how many there were. */
  giveBack(): number {
    const { running, pending } = this.parts;
    const held = running.held();
    for (const run of held) {
      // Before the signal aborts: whatever its listeners report comes too late.
      const progress = run.endProgress(true);
      run.abandon(abortReasons.closing(run));
      this.measure(run);
      pending.release({ id: run.id, fence: run.claim.fence, progress });
    }
    running.clear();
    return held.length;
  }

  /** Frees the place of a run. True if its outcome still counts; else there is nothing to settle, and others may begin in its place. */
  protected removeRun(run: RunningJob): boolean {
    this.parts.running.remove(run);
    // A call frees its place when it is over.
    if (!run.call) this.parts.batches?.callReady();
    if (!run.abandoned) return true;
    this.parts.loop.lookSoon();
    return false;
  }

  /** The handler goes on, and its place is only free once it returns; but what it answers no longer counts. */
  protected endEarly(run: RunningJob, reason: Error, ended: EndedRun): void {
    this.abandon(run, reason);
    this.parts.pending.addEnded(ended);
    this.parts.loop.saySoon();
  }

  /** It has ended for all but its handler. */
  protected abandon(run: RunningJob, reason: Error): void {
    this.parts.running.abandon(run, reason);
    this.measure(run);
  }

  /** A job that waited for its call goes back, with no attempt used. If somebody has asked to cancel it, the release ends it as cancelled. */
  private releaseCollected(claim: ClaimedJob | undefined): void {
    if (!claim) return;
    this.parts.pending.release(claim);
    this.parts.loop.saySoon();
  }

  private loseCollected(id: string): void {
    const { batches, reporter, queue } = this.parts;
    const claim = batches?.collected.remove(id);
    if (claim) reporter.leaseLostBefore(queue, claim);
  }

  private measure(run: RunningJob): void {
    const { queue, observers } = this.parts;
    observers.meter?.runEnded(queue, run.name, run.durationMs);
  }
}
