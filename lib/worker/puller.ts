import { QueueUnavailableError } from '../core/errors.js';
import type { EventSink } from '../core/events.js';
import type { Timers } from '../core/timers.js';
import type { ClaimedJob, TurnAnswer, WorkerSeat } from '../store/job-store.js';
import { Alarm } from './alarm.js';
import type { ClaimOpener } from './claim-opener.js';
import { ClaimsToConfirm } from './claims-to-confirm.js';
import { HeldJob } from './held-job.js';
import { HeldJobs } from './held-jobs.js';
import type { Reporter } from './reporter.js';
import { RunningJob } from './running-job.js';
import type { Settler } from './settler.js';
import { type SentTurn, TurnDraft } from './turn-draft.js';
import { LAST_TURN_MS, PAUSE_AFTER_REFUSAL_MS, TurnPlan } from './turn-plan.js';
import { WaitingPops } from './waiting-pops.js';

/** As many as one turn claims. */
const MOST_ROOM = 1_000;

export interface PullerOptions {
  leaseMs: number;
  commandTimeoutMs: number;
  timerName: string;
}

/**
 * All pops of one queue and one set of names in this process, and the jobs that they have handed out. They share a seat, and so
 * one call in flight: it settles what was said of held jobs, and claims as much as is wanted. It is in one of four states:
 * - **idle**: nobody waits; entered when the last pop has ended, left by a pop or a call of a held job. While jobs are held, a
 *   turn every third of a lease says that this process is there.
 * - **sleeping**: somebody waits, and a timer is set to the next time to look; left when it fires or a message comes.
 * - **turning**: a call is in flight; what is said meanwhile goes with the next one.
 * - **closed**: entered by `close`, for good.
 */
export class Puller {
  private readonly plan = new TurnPlan();
  private readonly alarm: Alarm;
  private readonly draft = new TurnDraft();
  private readonly toConfirm = new ClaimsToConfirm(this.draft);
  private readonly pops: WaitingPops;
  private readonly held: HeldJobs;
  private lookFrom = '';
  /** Sent, and to be sent again until it is answered. */
  private unanswered?: SentTurn;
  private hasTurned = false;
  /** Redis counts on this process to look for what is due next. */
  private standsBy = false;
  private listens = false;
  private turning = false;
  private turnSoon = false;
  private stopping = false;
  private refusal?: unknown;
  private readonly giveUp = new AbortController();
  private onIdle?: () => void;

  constructor(
    private readonly queue: string,
    private readonly seat: WorkerSeat,
    private readonly opener: ClaimOpener,
    private readonly settler: Settler,
    private readonly options: PullerOptions,
    timers: Timers,
    private readonly reporter: Reporter,
    private readonly events: EventSink,
  ) {
    this.alarm = new Alarm(timers, options.timerName, () => this.wakeUp());
    this.held = new HeldJobs(queue, this.draft, options.commandTimeoutMs, () => this.nextTurn());
    this.pops = new WaitingPops(
      options.commandTimeoutMs,
      () => this.noAnswer(),
      () => this.nextTurn(),
    );
  }

  pop(count: number, waitMs: number): Promise<HeldJob[]> {
    if (waitMs > 0 && !this.listens) {
      this.listens = true;
      // A wish to cancel is met when the holder next says something: renewing would stretch a lease that nobody renews.
      this.seat.listen({ look: (inMs) => this.look(inMs), renew: () => {} });
    }
    const jobs = this.pops.add(count, waitMs);
    this.plan.lookIn(0);
    this.nextTurn();
    return jobs;
  }

  /** Pops that wait end with no jobs. Held jobs can still be settled. */
  stop(): void {
    if (this.stopping) return;
    this.stopping = true;
    this.pops.endAll();
    if (this.listens) this.seat.leave();
    this.nextTurn();
  }

  /** Jobs that nobody has settled go back, with no attempt used. Resolves within a second, whatever Redis does. */
  async close(): Promise<void> {
    this.stop();
    if (this.hasTurned) {
      this.held.giveBack();
      this.draft.leave();
      this.turn();
      await this.idle(AbortSignal.timeout(LAST_TURN_MS));
    }
    this.giveUp.abort();
    this.alarm.clear();
    this.held.close();
  }

  private idle(patience: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.onIdle = resolve;
      patience.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  private look(inMs: number): void {
    if (!this.pops.isEmpty && this.plan.lookIn(inMs)) this.wakeUp();
  }

  private hasSomethingToSay(): boolean {
    if (this.plan.isPaused) return false;
    if (this.draft.owes || this.toConfirm.any || (this.standsBy && !this.pops.anyWaits)) return true;
    return (!this.pops.isEmpty && this.plan.isTimeToLook()) || (this.plan.isTimeToRenew() && this.held.holdsAny());
  }

  /** After this round of the event loop: what is said and popped in one moment goes in one call. */
  private nextTurn(): void {
    if (this.turning || this.turnSoon) return;
    this.turnSoon = true;
    setImmediate(() => {
      this.turnSoon = false;
      this.wakeUp();
    });
  }

  private wakeUp(): void {
    if (this.turning || this.giveUp.signal.aborted) return;
    if (this.hasSomethingToSay()) this.turn();
    else this.sleep();
  }

  private turn(): void {
    if (this.turning) return;
    this.turning = true;
    void this.takeTurn().finally(() => {
      this.turning = false;
      if (this.draft.owes || this.toConfirm.any || !this.onIdle) this.nextTurn();
      else this.onIdle();
    });
  }

  private sleep(): void {
    const until = this.plan.nextAt({ looks: !this.pops.isEmpty, holds: this.held.holdsAny(), owes: this.draft.owes });
    if (until !== Number.POSITIVE_INFINITY) this.alarm.setFor(until);
  }

  private async takeTurn(): Promise<void> {
    this.unanswered ??= this.write();
    const sent = this.unanswered;
    this.plan.lookOnlyIfTold();
    try {
      const answer = await this.seat.turn(sent.turn, this.giveUp.signal);
      this.unanswered = undefined;
      this.draft.answered(sent);
      this.reporter.turnTaken(this.queue);
      this.refusal = undefined;
      this.takeIn(answer, sent);
    } catch (error) {
      if (this.giveUp.signal.aborted) return;
      this.reporter.turnRefused(this.queue, error);
      this.refusal = error;
      this.pops.refused(error as Error);
      this.plan.pause(PAUSE_AFTER_REFUSAL_MS);
    }
  }

  private write(): SentTurn {
    this.hasTurned = true;
    const pull = this.pops.anyWaits ? 'waits' : 'goes';
    const room = this.stopping || this.toConfirm.any ? 0 : Math.min(this.pops.room, MOST_ROOM);
    const { lookFrom } = this;
    const renewals = [...this.toConfirm.claims];
    const sent = this.draft.take({ room, handlers: [], lookFrom, renewals, renews: false, pull });
    this.pops.ask();
    return sent;
  }

  private takeIn(answer: TurnAnswer, sent: SentTurn): void {
    this.held.answered(sent, answer.settled);
    this.reporter.settled(this.queue, sent, answer.settled);
    this.reporter.found(this.queue, answer);
    this.handOut(this.toConfirm.sift(sent.turn, answer), sent.sentAt);
    // What was claimed may all have been unfit or is to be confirmed, and there may be more: only the next turn tells. So it is
    // where this one only confirmed, and had no room.
    const more = answer.claimed.length > 0 || sent.turn.renewals.length > 0 || answer.sleepMs === 0;
    this.pops.answered(more);
    this.standsBy = sent.turn.pull === 'waits' && !more;
    this.lookFrom = this.pops.isEmpty ? '' : answer.lookFrom;
    if (more) this.plan.lookIn(0);
    else if (answer.sleepMs !== undefined) this.plan.lookIn(answer.sleepMs);
    this.plan.renewOnlyIfTold();
    this.plan.renewBy(performance.now() + this.options.leaseMs / 3);
  }

  private handOut(claims: readonly ClaimedJob[], sentAt: number): void {
    const jobs: HeldJob[] = [];
    for (const claim of claims) {
      const opened = this.opener.open(claim, sentAt);
      if (!(opened instanceof RunningJob)) this.draft.end(opened);
      // The process stood still, or Redis was away, until others may have the job.
      else if (opened.leaseIsOver()) this.draft.release(claim);
      else jobs.push(new HeldJob(opened, sentAt + this.options.leaseMs, this.settler, this.held));
    }
    const left = this.pops.deliver(jobs);
    for (const job of left) this.draft.release(HeldJob.runOf(job).claim);
    for (const job of jobs.slice(0, jobs.length - left.length)) {
      this.held.add(job);
      if (!this.events.wanted) continue;
      const { queue, id, name, attempt, latenessMs } = job;
      this.events.tell({ type: 'started', queue, id, name, attempt, latenessMs });
    }
  }

  private noAnswer(): QueueUnavailableError {
    const { queue, refusal } = this;
    return new QueueUnavailableError(
      `pop: Redis has not answered within commandTimeoutMs (${this.options.commandTimeoutMs} ms). What this call may have claimed goes back.`,
      'unknown',
      refusal === undefined ? { queue } : { queue, cause: refusal },
    );
  }
}
