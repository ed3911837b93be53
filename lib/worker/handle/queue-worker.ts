import type { TurnAnswer } from '../../store/job-store.js';
import type { Collections } from '../batch/collections.js';
import type { Capacity } from '../capacity/capacity.js';
import type { HolderInProcess } from '../capacity/holder-in-process.js';
import type { SuspectIsolation } from '../capacity/suspect-isolation.js';
import type { LeaseClock } from '../run/lease-clock.js';
import type { ProgressReports } from '../run/progress-reports.js';
import type { RunningJob } from '../run/running-job.js';
import type { RunningJobs } from '../run/running-jobs.js';
import type { ClaimsToConfirm } from '../session/claims-to-confirm.js';
import type { Linger } from '../session/linger.js';
import type { PendingSettlements } from '../session/pending-settlements.js';
import type { SessionLoop } from '../session/session-loop.js';
import { AT_ONCE, LAST_TURN_MS } from '../session/turn-plan.js';
import type { TurnWriter } from '../session/turn-writer.js';
import type { SentTurn, WrittenTurn } from '../session/turns-in-flight.js';
import type { StoppedWorker } from './drain-report.js';
import type { Runs } from './runs.js';

export interface WorkerParts {
  readonly queue: string;
  readonly leaseMs: number;
  readonly loop: SessionLoop;
  readonly pending: PendingSettlements;
  readonly linger: Linger;
  readonly toConfirm: ClaimsToConfirm;
  readonly running: RunningJobs;
  /** Missing where no handler gets several jobs a call. */
  readonly collections: Collections | undefined;
  readonly runs: Runs;
  readonly capacity: Capacity;
  readonly leases: LeaseClock;
  readonly isolation: SuspectIsolation;
  readonly holder: HolderInProcess;
  readonly progress: ProgressReports;
}

/** The worker of one queue in this process: it claims jobs, hands them to `Runs`, renews their leases and tells what became of them. */
export class QueueWorker implements TurnWriter {
  private isStopping = false;

  constructor(private readonly parts: WorkerParts) {
    parts.loop.setWriter(this);
  }

  start(): void {
    const { isolation, holder, loop } = this.parts;
    isolation.add(holder);
    loop.listen();
    loop.speak();
  }

  /**
   * Claims no more, and waits for the handlers until `deadline` aborts, also for those that go on after their runs: they may still use
   * what the application closes after this. Then the signals abort and the jobs that run go back at once, with no attempt used. Resolves
   * when all is settled, or cannot be because Redis is away.
   */
  async stop(deadline: AbortSignal): Promise<StoppedWorker> {
    const { loop, running, runs, isolation, holder } = this.parts;
    this.isStopping = true;
    runs.refuseClaims();
    loop.leaveSession();
    if (this.hasSomethingToLose) await loop.allSaid(deadline);
    await running.allReturned(deadline);
    const cutOff = this.stuck;
    const gaveBack = runs.giveBack();
    await loop.finishSession(LAST_TURN_MS);
    isolation.remove(holder);
    return { gaveBack, unsettled: this.unsettled, cutOff };
  }

  get queue(): string {
    return this.parts.queue;
  }

  /** See `SessionLoop`. */
  get unansweredSince(): number {
    return this.parts.loop.unansweredSince;
  }

  /** The names of the jobs that run and whose outcome counts. */
  get runningNames(): readonly string[] {
    return this.parts.running.held().map(({ name }) => name);
  }

  /** The runs whose handlers go on after them. */
  get stuck(): readonly RunningJob[] {
    return [...this.parts.running.stuckFor()].map(([run]) => run);
  }

  get owesBy(): number {
    const { pending, toConfirm, isolation, holder, progress } = this.parts;
    const isUrgent = toConfirm.any || progress.areDue || holder.stepsBack || isolation.hasToLeave(holder);
    if (isUrgent) return AT_ONCE;
    // Where no claim can come, nothing takes a lingering settlement along.
    return this.mayClaim || pending.count === 0 ? pending.sayBy : AT_ONCE;
  }

  get looks(): boolean {
    return this.mayClaim && this.parts.capacity.open > 0;
  }

  get holds(): boolean {
    const { runs, running, isolation, holder } = this.parts;
    // The last turn gives a reservation up. A worker whose places are all taken by handlers that go on after their runs looks for nothing;
    // it still says that it is there.
    return runs.holdsAny() || (!this.isStopping && (isolation.isReservedFor(holder) || running.anyStuck));
  }

  get mayOverlap(): boolean {
    const { capacity, progress } = this.parts;
    return this.mayClaim && capacity.mayOverlap && !progress.areDue;
  }

  writeTurn(isTimeToRenew: boolean, isLast: boolean): WrittenTurn {
    const { loop, pending, toConfirm, running, collections, runs } = this.parts;
    const { capacity, isolation, holder, progress, leaseMs } = this.parts;
    const suspects = this.isStopping ? isolation.lastWish(holder) : isolation.wish(holder, leaseMs);
    // Where nothing is held there is nothing to renew until what this turn claims. What another turn is claiming would have to be
    // renewed as well, and is not known yet.
    const renews = loop.inFlight.count === 0 && (isTimeToRenew || !runs.holdsAny() || toConfirm.any);
    const renewals = renews ? [...running.claims(), ...(collections?.claims() ?? []), ...toConfirm.claims] : [];
    const { settlements: most, limit, handlers } = capacity.share(this.mayClaim, isTimeToRenew);
    const standing = holder.stepsBack ? 'goes' : 'stays';
    holder.stepsBack = false;
    const { ended, settlements } = pending.takeForTurn(most);
    // Never beside another turn, which might arrive later with an older report.
    const reports = loop.inFlight.count === 0 ? progress.take() : [];
    const { stuck } = capacity;
    const turn = { settlements, renewals, reports, limit, handlers, isLast, standing, suspects, stuck } as const;
    return { turn, ended, renews };
  }

  onAnswer(answer: TurnAnswer, sent: SentTurn): void {
    const { runs, capacity, leases, isolation, holder, pending, linger, toConfirm } = this.parts;
    if (sent.renews) leases.noteRenewal(sent.sentAt);
    for (const id of answer.lost) runs.loseLease(id);
    for (const id of answer.toCancel) runs.cancel(id);
    capacity.noteAnswer(sent, answer);
    linger.noteAnswer(answer);
    if (!isolation.answered(holder, sent.turn.suspects, answer.suspect))
      pending.release(...answer.claimed, ...answer.expired);
    else runs.startClaimed(toConfirm.sift(sent.turn, answer), sent.sentAt);
    isolation.check(holder);
  }

  private get mayClaim(): boolean {
    return !this.isStopping && this.parts.holder.mayClaim;
  }

  /** For a turn that only looks nobody waits. */
  private get hasSomethingToLose(): boolean {
    return this.unsettled > 0 || this.parts.running.holdsAny() || this.parts.toConfirm.any;
  }

  /** How many jobs have left their handlers, and Redis has not answered for them yet. */
  private get unsettled(): number {
    return this.parts.pending.count + this.parts.loop.inFlight.settlements;
  }
}
