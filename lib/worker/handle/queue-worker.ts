import type { QueueSettings } from '../../core/options/queue-options.js';
import type { Timers } from '../../core/timers.js';
import type { Session, TurnAnswer } from '../../store/job-store.js';
import { Capacity } from '../capacity/capacity.js';
import { Occupancy } from '../capacity/occupancy.js';
import type { Solitude } from '../capacity/solitude.js';
import { Starter } from '../capacity/starter.js';
import type { TurnLine } from '../capacity/turn-share.js';
import type { JobHandler } from '../run/job-handler.js';
import { LeaseClock } from '../run/lease-clock.js';
import type { Processor } from '../run/processor.js';
import type { Settler } from '../run/settler.js';
import { Alarm } from '../session/alarm.js';
import { Milestone } from '../session/milestone.js';
import type { Reporter } from '../session/reporter.js';
import { type SentTurn, TurnDraft } from '../session/turn-draft.js';
import { LAST_TURN_MS, PAUSE_AFTER_REFUSAL_MS, PAUSE_WHILE_STOPPING_MS, TurnPlan } from '../session/turn-plan.js';
import type { StoppedWorker } from './drain-report.js';
import { WorkerRuns } from './worker-runs.js';

/**
 * The worker of one queue in this process. It is in one of three states:
 * - **sleeping**: a timer is set to the next time to look or to renew; entered when a turn leaves nothing to do;
 *   left when the timer fires, a message says that something came earlier, or a job has ended.
 * - **turning**: a call is in flight that settles, renews and claims at once, or two while more is due than there is room
 *   for and no other worker is behind; what happens meanwhile goes into the next one. Left when the answers have been taken in and nothing is left to say.
 * - **stopped**: entered by `stop`, for good; nothing is held any more.
 */
export class QueueWorker {
  readonly runs: WorkerRuns;
  private readonly capacity: Capacity;
  private readonly leases: LeaseClock;
  private readonly plan = new TurnPlan();
  private readonly alarm: Alarm;
  private readonly draft = new TurnDraft();
  private readonly lines: readonly TurnLine[] = [{ busy: false }, { busy: false }];
  private readonly starter: Starter;
  private isTurnSoon = false;
  private stopping = false;
  private readonly occupancy: Occupancy;
  /** The next turn claims nothing, and leaves it to others of the group to look. */
  private stepsBack = false;
  private readonly giveUp = new AbortController();
  private readonly idle = new Milestone();

  constructor(
    readonly queue: string,
    private readonly session: Session,
    handlers: ReadonlyMap<string, JobHandler>,
    processor: Processor,
    settler: Settler,
    private readonly settings: QueueSettings,
    timers: Timers,
    private readonly reporter: Reporter,
    private readonly solitude: Solitude,
    timerPrefix: string,
  ) {
    this.alarm = new Alarm(timers, `${timerPrefix}:${queue}`, () => this.turn());
    const ends = { toSettle: () => this.turnSoon(), placeFreed: () => this.lookSoon() };
    this.runs = new WorkerRuns(queue, this.draft, settler, reporter, ends, timers, `${timerPrefix}:${queue}:timeouts`);
    const mayClaim = () =>
      !this.stopping && !this.stepsBack && !this.starter.toConfirm.any && solitude.mayClaim(this.occupancy);
    this.capacity = new Capacity(settings, handlers, this.runs.running, this.draft, mayClaim);
    this.leases = new LeaseClock(settings.leaseMs, () => this.renewSoon());
    this.starter = new Starter(settings.concurrency, this.capacity, this.draft, {
      // Claimed when the worker was stopping already: it goes back as if nothing had been.
      begin: (claim, askedAt) =>
        this.stopping ? this.draft.release(claim) : processor.start(claim, askedAt, this.leases, this.runs),
      onBack: () => this.turn(),
    });
    this.occupancy = new Occupancy(queue, true, this.draft, {
      holdsAny: () => this.runs.running.holdsAny() || this.starter.anyWait || this.starter.toConfirm.any,
      isRunning: () => this.runs.running.size > 0,
      stepBack: () => {
        this.stepsBack = true;
        this.turnSoon();
      },
      look: () => {
        this.stepsBack = false;
        this.lookSoon();
      },
    });
  }

  start(): void {
    this.solitude.add(this.occupancy);
    this.session.listen({ look: (inMs) => this.lookIn(inMs), cancel: () => this.renewSoon() });
    this.turn();
  }

  /**
   * Claims no more, and waits for the running handlers until `patience` aborts; then their signals abort and their jobs
   * go back at once, with no attempt used. Resolves when all is settled, or cannot be because Redis is away.
   */
  async stop(patience: AbortSignal): Promise<StoppedWorker> {
    this.stopping = true;
    this.draft.leave();
    this.session.leave();
    this.turn();
    if (this.hasSomethingToLose()) await this.idle.wait(patience);
    const gaveBack = this.runs.giveBack();
    if (!this.isIdle()) {
      this.turn();
      await this.idle.wait(AbortSignal.timeout(LAST_TURN_MS));
    }
    this.giveUp.abort();
    this.alarm.clear();
    this.solitude.remove(this.occupancy);
    return { gaveBack, unsettled: this.draft.unsettled };
  }

  private lookSoon(): void {
    this.plan.lookIn(0);
    this.turnSoon();
  }

  private get turning(): boolean {
    return this.lines.some(({ busy }) => busy);
  }

  private isIdle(): boolean {
    return !this.turning && !this.draft.isLeaving && !this.hasSomethingToLose();
  }

  /** A stop does not wait for handlers whose time was over, nor for a turn that only looks. */
  private hasSomethingToLose(): boolean {
    return this.draft.unsettled > 0 || this.runs.running.holdsAny() || this.starter.toConfirm.any;
  }

  /** Something may be due in `inMs`, earlier than known. */
  private lookIn(inMs: number): void {
    if (this.plan.lookIn(inMs)) this.turn();
  }

  private renewSoon(): void {
    this.plan.renewBy(0);
    this.turn();
  }

  private hasSomethingToSay(line: TurnLine): boolean {
    const { plan, draft } = this;
    if (plan.isPaused) return false;
    if (line.unanswered) return true;
    // Claims still waiting for a place are resolved within this event-loop round; one turn then carries all of them.
    if (this.starter.anyWait) return false;
    if (this.starter.toConfirm.any) return !draft.anyUnderWay;
    if (draft.anyUnderWay) return this.capacity.isEnoughForSecond(plan.isTimeToRenew());
    if (draft.owes || this.stepsBack || this.solitude.hasToLeave(this.occupancy)) return true;
    return (this.capacity.room > 0 && plan.isTimeToLook()) || (plan.isTimeToRenew() && this.hasToRenew);
  }

  /** There are leases to renew, or the reservation of this process. */
  private get hasToRenew(): boolean {
    return this.runs.running.holdsAny() || this.solitude.isHeldBy(this.occupancy);
  }

  private turn(): void {
    if (this.giveUp.signal.aborted) return;
    for (const line of this.lines) {
      if (line.busy || !this.hasSomethingToSay(line)) continue;
      line.busy = true;
      void this.takeTurns(line);
    }
    if (!this.turning) this.sleep();
  }

  private async takeTurns(line: TurnLine): Promise<void> {
    try {
      while (this.hasSomethingToSay(line)) await this.takeTurn(line);
    } catch (error) {
      line.isRefused = true;
      if (!this.giveUp.signal.aborted) this.reporter.turnRefused(this.queue, error);
      this.plan.pause(this.stopping ? PAUSE_WHILE_STOPPING_MS : PAUSE_AFTER_REFUSAL_MS);
    }
    line.busy = false;
    if (this.isIdle()) this.idle.reach();
    // A successor may use the same timer by now.
    if (!this.giveUp.signal.aborted && !this.turning) this.sleep();
  }

  private async takeTurn(line: TurnLine): Promise<void> {
    line.unanswered ??= this.writeTurn();
    const sent = line.unanswered;
    this.plan.lookOnlyIfTold();
    if (sent.renews) this.plan.renewOnlyIfTold();
    const answered = this.session.turn(sent.turn, this.giveUp.signal);
    // What did not go with this one may be enough for a second.
    if (this.draft.unsent > 0) this.turn();
    const answer = await answered;
    line.unanswered = undefined;
    line.isRefused = false;
    this.draft.answered(sent);
    if (!this.lines.some(({ isRefused }) => isRefused)) this.reporter.turnTaken(this.queue);
    if (sent.renews) {
      this.plan.renewBy(sent.sentAt + this.settings.leaseMs / 3);
      this.leases.note(sent.sentAt);
    }
    this.takeIn(answer, sent);
  }

  private writeTurn(): SentTurn {
    const { plan, draft, capacity, solitude, starter } = this;
    const { running } = this.runs;
    const suspects = this.stopping
      ? solitude.lastWish(this.occupancy)
      : solitude.wish(this.occupancy, this.settings.leaseMs);
    // Where nothing is held there is nothing to renew until what this turn claims. What another turn is claiming would have to be
    // renewed as well, and is not known yet.
    const renews = !draft.anyUnderWay && (plan.isTimeToRenew() || !running.holdsAny() || starter.toConfirm.any);
    const renewals = renews ? [...running.claims(), ...starter.toConfirm.claims] : [];
    const share = capacity.takeShare(plan.isTimeToRenew());
    const standing = this.stepsBack ? 'goes' : 'stays';
    this.stepsBack = false;
    return draft.take({ ...share, renewals, renews, standing, suspects });
  }

  private takeIn(answer: TurnAnswer, sent: SentTurn): void {
    for (const id of answer.lost) this.runs.loseLease(id);
    for (const id of answer.toCancel) this.runs.cancel(id);
    this.reporter.settled(this.queue, sent, answer.settled);
    this.reporter.found(this.queue, answer);
    this.capacity.note(sent, answer);
    // Where there was no room for more, it is looked for as soon as there is some.
    this.plan.lookIn(answer.sleepMs ?? 0);
    if (this.solitude.answered(this.occupancy, sent.turn.suspects, answer.suspect))
      this.starter.start(answer, sent, this.capacity.mayClaimAhead);
    else this.draft.release(...answer.claimed, ...answer.expired);
    this.solitude.check(this.occupancy);
  }

  /** After this round of the event loop: what ends in one moment is settled in one call. */
  private turnSoon(): void {
    this.starter.startWaiting();
    if (this.isTurnSoon || this.lines.every(({ busy }) => busy)) return;
    this.isTurnSoon = true;
    setImmediate(() => {
      this.isTurnSoon = false;
      this.turn();
    });
  }

  private sleep(): void {
    const { capacity, draft } = this;
    const until = this.plan.nextAt({ looks: capacity.room > 0, holds: this.hasToRenew, owes: draft.owes });
    if (until !== Number.POSITIVE_INFINITY) this.alarm.setFor(until);
  }
}
