import type { Clock } from '../../core/clock.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { Capacity } from '../capacity/capacity.js';
import type { Holdings } from '../capacity/occupancy.js';
import { abortReasons } from '../run/abort-reasons.js';
import type { Processor, RunHolder } from '../run/processor.js';
import type { RunningJob } from '../run/running-job.js';
import type { RunningJobs, TimeoutHolder } from '../run/running-jobs.js';
import type { EndedRun, Settler } from '../run/settler.js';
import type { Outcomes } from '../session/outcomes.js';
import type { Reporter } from '../session/reporter.js';
import type { Talk } from '../session/talk.js';
import { WaitingClaims } from './waiting-claims.js';

export interface RunsParts {
  readonly queue: string;
  readonly running: RunningJobs;
  readonly capacity: Capacity;
  readonly processor: Processor;
  readonly settler: Settler;
  readonly outcomes: Outcomes;
  readonly talk: Talk;
  readonly reporter: Reporter;
  readonly clock: Clock;
}

/**
 * The runs of one worker: each begins when there is a place for it, and is settled once, by its end or by what came before that. What
 * finds no place before the round of the event loop is over goes back.
 */
export class Runs implements RunHolder, TimeoutHolder, Holdings {
  private readonly waiting = new WaitingClaims();
  private isBeginning = false;
  private isStopped = false;

  constructor(private readonly parts: RunsParts) {
    parts.running.tell(this);
  }

  /** True while claims wait for a place: not longer than this round of the event loop. */
  get anyWaits(): boolean {
    return this.waiting.any;
  }

  get isRunning(): boolean {
    return this.parts.running.size > 0;
  }

  holdsAny(): boolean {
    return this.waiting.any || this.parts.running.holdsAny();
  }

  /** These were asked for at `askedAt`, and begin now or by and by. */
  claimed(claims: readonly ClaimedJob[], askedAt: number): void {
    const { capacity, clock } = this.parts;
    if (claims.length === 0) return;
    if (!capacity.mustQueue(claims)) {
      for (const claim of claims) this.start(claim, askedAt);
      return;
    }
    this.waiting.add(claims, askedAt);
    this.startWaiting();
    clock.soon(() => this.roundOver());
  }

  begin(run: RunningJob): void {
    this.parts.running.add(run);
  }

  end(ended: EndedRun, run?: RunningJob): void {
    if (run && !this.takeOut(run)) return;
    this.parts.outcomes.end(ended);
    this.tellSoon();
  }

  drop(run: RunningJob): void {
    if (!this.takeOut(run)) return;
    this.parts.outcomes.release(run.claim);
    this.tellSoon();
  }

  cancel(id: string): void {
    const run = this.parts.running.find(id);
    if (run) this.endEarly(run, abortReasons.cancelled(run), this.parts.settler.cancelled(run));
  }

  timeOut(run: RunningJob): void {
    const error = abortReasons.timeout(run);
    this.endEarly(run, error, this.parts.settler.failed(run, error));
  }

  loseLease(id: string): void {
    const run = this.parts.running.find(id);
    if (!run) return;
    run.abandon(abortReasons.leaseLost(run));
    this.parts.reporter.leaseLost(this.parts.queue, run);
  }

  /** What is claimed from now on goes back. */
  stop(): void {
    this.isStopped = true;
  }

  /** All go back, with no attempt used, and nobody waits for their handlers any more. Answers how many there were. */
  giveBack(): number {
    const { running, outcomes } = this.parts;
    const held = running.held();
    for (const run of held) {
      // Before the signal aborts: whatever its listeners report comes too late.
      const progress = run.endProgress(true);
      run.abandon(abortReasons.closing(run));
      outcomes.release({ id: run.id, fence: run.claim.fence, progress });
    }
    running.clear();
    return held.length;
  }

  private start(claim: ClaimedJob, askedAt: number): void {
    const { outcomes, processor } = this.parts;
    if (this.isStopped) outcomes.release(claim);
    else processor.start(claim, askedAt, this);
  }

  /** A place may have become free. */
  private startWaiting(): void {
    const { waiting } = this;
    // A handler that returns at once comes here while the loop goes on.
    if (this.isBeginning || !waiting.any) return;
    this.isBeginning = true;
    while (waiting.any && this.parts.capacity.mayBegin(waiting.taken)) {
      const { askedAt } = waiting;
      this.start(waiting.shift(), askedAt);
    }
    this.isBeginning = false;
  }

  private roundOver(): void {
    const { capacity, outcomes, talk } = this.parts;
    capacity.roundOver(this.waiting.any);
    if (!this.waiting.any) return;
    outcomes.release(...this.waiting.takeAll());
    talk.speak();
  }

  /** Frees the place of a run. True if its outcome still counts; else there is nothing to settle, and others may begin in its place. */
  private takeOut(run: RunningJob): boolean {
    this.parts.running.remove(run);
    if (!run.abandoned) return true;
    this.startWaiting();
    this.parts.talk.lookSoon();
    return false;
  }

  /** The handler goes on, and its place is only free once it returns; but what it answers no longer counts. */
  private endEarly(run: RunningJob, reason: Error, ended: EndedRun): void {
    run.abandon(reason);
    this.parts.outcomes.end(ended);
    this.tellSoon();
  }

  /** There is something to settle. */
  private tellSoon(): void {
    this.startWaiting();
    this.parts.talk.saySoon();
  }
}
