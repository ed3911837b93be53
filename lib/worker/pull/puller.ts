import type { EventSink } from '../../core/job/events.js';
import type { Timers } from '../../core/timers.js';
import type { Session, TurnAnswer } from '../../store/job-store.js';
import { Occupancy } from '../capacity/occupancy.js';
import type { Solitude } from '../capacity/solitude.js';
import { ClaimsToConfirm } from '../handle/claims-to-confirm.js';
import type { ClaimOpener } from '../run/claim-opener.js';
import type { Settler } from '../run/settler.js';
import { Alarm } from '../session/alarm.js';
import { Milestone } from '../session/milestone.js';
import type { Reporter } from '../session/reporter.js';
import { type SentTurn, TurnDraft } from '../session/turn-draft.js';
import { PAUSE_AFTER_REFUSAL_MS, TurnPlan } from '../session/turn-plan.js';
import type { HeldJob } from './held-job.js';
import { HeldJobs } from './held-jobs.js';
import { PopCounter } from './pop-counter.js';
import { noAnswer, WaitingPops } from './waiting-pops.js';

/** As many as one turn claims. */
const MOST_ROOM = 1_000;

export interface PullerOptions {
  leaseMs: number;
  commandTimeoutMs: number;
  timerName: string;
  solitude: Solitude;
}

/**
 * All pops of one queue and one set of names in this process, and the jobs that they have handed out. They share a session, and so
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
  private readonly solitude: Solitude;
  private readonly occupancy: Occupancy;
  private readonly draft = new TurnDraft();
  private readonly toConfirm = new ClaimsToConfirm(this.draft);
  private readonly pops: WaitingPops;
  private readonly held: HeldJobs;
  private readonly counter: PopCounter;
  /** Whoever the last turn looked for waits no longer. */
  private looksAnew = false;
  /** Sent, and to be sent again until it is answered. */
  private unanswered?: SentTurn;
  /** When its last turn was answered, a time of `performance.now()`. */
  private hasTurned = false;
  private turnedAt = performance.now();
  /** Redis counts on this process to look for what is due next. */
  private standsBy = false;
  private listens = false;
  private turning = false;
  private turnSoon = false;
  private stopping = false;
  private refusal?: unknown;
  private readonly giveUp = new AbortController();
  private readonly idle = new Milestone();

  constructor(
    private readonly queue: string,
    private readonly session: Session,
    opener: ClaimOpener,
    settler: Settler,
    private readonly options: PullerOptions,
    timers: Timers,
    private readonly reporter: Reporter,
    events: EventSink,
  ) {
    this.solitude = options.solitude;
    this.alarm = new Alarm(timers, options.timerName, () => this.wakeUp());
    const why = () => this.refusal ?? session.trouble;
    this.held = new HeldJobs(queue, this.draft, options.commandTimeoutMs, () => this.nextTurn(), why);
    this.pops = new WaitingPops(
      options.commandTimeoutMs,
      () => noAnswer(queue, options.commandTimeoutMs, why()),
      () => this.nextTurn(),
    );
    this.occupancy = new Occupancy(queue, false, this.draft, {
      holdsAny: () => this.held.holdsAny() || this.toConfirm.any,
      isRunning: () => this.held.holdsAny(),
      stepBack: () => this.pops.isEmpty || this.look(),
      look: () => this.look(),
    });
    this.solitude.add(this.occupancy);
    this.counter = new PopCounter(opener, settler, this.draft, this.held, this.pops, options.leaseMs, events);
  }

  pop(count: number, waitMs: number): Promise<HeldJob[]> {
    if (waitMs > 0 && !this.listens) {
      this.listens = true;
      // Popped jobs are not renewed, so a cancel request takes effect at the holder's next call.
      this.session.listen({ look: (inMs) => this.lookIn(inMs), cancel: () => {} });
    }
    const jobs = this.pops.add(count, waitMs);
    this.look();
    return jobs;
  }

  /** Nobody waits, no job is held, nothing is left to say, and for a lease it has taken no turn, so others count it as gone. */
  get isDone(): boolean {
    if (this.turning || this.turnSoon || this.unanswered || this.standsBy || this.draft.owes) return false;
    if (performance.now() < this.turnedAt + this.options.leaseMs || this.solitude.isHeldBy(this.occupancy))
      return false;
    return this.pops.isEmpty && !this.held.holdsAny();
  }

  /** Pops that wait end with no jobs. Held jobs can still be settled. */
  stop(): void {
    if (this.stopping) return;
    if (this.isDone) this.solitude.remove(this.occupancy);
    this.stopping = true;
    this.pops.endAll();
    if (this.listens) this.session.leave();
    this.nextTurn();
  }

  /** Jobs that nobody has settled go back, with no attempt used. Resolves within `patienceMs`, whatever Redis does. */
  async close(patienceMs: number): Promise<void> {
    this.stop();
    if (this.hasTurned) {
      this.held.giveBack();
      this.draft.leave();
      this.turn();
      await this.idle.wait(AbortSignal.timeout(patienceMs));
    }
    this.giveUp.abort();
    this.alarm.clear();
    this.held.close();
    this.solitude.remove(this.occupancy);
  }

  private look(): void {
    this.plan.lookIn(0);
    this.nextTurn();
  }

  private lookIn(inMs: number): void {
    if (!this.pops.isEmpty && this.plan.lookIn(inMs)) this.wakeUp();
  }

  private hasSomethingToSay(): boolean {
    if (this.plan.isPaused) return false;
    if (this.draft.owes || this.toConfirm.any || (this.standsBy && !this.pops.anyWaits)) return true;
    if (this.solitude.hasToLeave(this.occupancy) || this.isReservedForNobody) return true;
    return (!this.pops.isEmpty && this.plan.isTimeToLook()) || (this.plan.isTimeToRenew() && this.hasToRenew);
  }

  /** The process is reserved for a suspect, but no pop waits for one any more. */
  private get isReservedForNobody(): boolean {
    return this.solitude.isHeldBy(this.occupancy) && this.pops.isEmpty && !this.occupancy.holds;
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
      if (this.draft.owes || this.toConfirm.any || !this.idle.isAwaited) this.nextTurn();
      else this.idle.reach();
    });
  }

  /** There are held jobs, or the reservation of this process, to tell Redis of. */
  private get hasToRenew(): boolean {
    return this.held.holdsAny() || this.solitude.isHeldBy(this.occupancy);
  }

  private sleep(): void {
    const until = this.plan.nextAt({ looks: !this.pops.isEmpty, holds: this.hasToRenew, owes: this.draft.owes });
    if (until !== Number.POSITIVE_INFINITY) this.alarm.setFor(until);
  }

  private async takeTurn(): Promise<void> {
    this.unanswered ??= this.write();
    const sent = this.unanswered;
    this.plan.lookOnlyIfTold();
    try {
      const answer = await this.session.turn(sent.turn, this.giveUp.signal);
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
    const { looksAnew, solitude, toConfirm } = this;
    const isLast = this.stopping || (this.isReservedForNobody && !solitude.hasToLeave(this.occupancy));
    const suspects = isLast ? solitude.lastWish(this.occupancy) : solitude.wish(this.occupancy, this.options.leaseMs);
    const mayClaim = !this.stopping && !toConfirm.any && solitude.mayClaim(this.occupancy);
    const room = mayClaim ? Math.min(this.pops.room, MOST_ROOM) : 0;
    const standing = this.pops.anyWaits && (room > 0 || toConfirm.any) ? 'until-claimed' : 'goes';
    const renewals = [...toConfirm.claims];
    const sent = this.draft.take({ room, handlers: [], renewals, renews: false, standing, looksAnew, suspects });
    this.pops.ask();
    return sent;
  }

  private takeIn(answer: TurnAnswer, sent: SentTurn): void {
    this.turnedAt = performance.now();
    this.held.answered(sent, answer.settled);
    this.reporter.settled(this.queue, sent, answer.settled);
    this.reporter.found(this.queue, answer);
    // First: jobs of this claim that are to be confirmed must not yet count as held.
    if (this.solitude.answered(this.occupancy, sent.turn.suspects, answer.suspect))
      this.counter.handOut(this.toConfirm.sift(sent.turn, answer), sent.sentAt);
    else this.draft.release(...answer.claimed, ...answer.expired);
    this.solitude.check(this.occupancy);
    // Look again at once where there may be more: the claimed jobs may all have been unfit, or wait for their confirmation, or
    // this turn only confirmed others and had no room.
    const more = answer.claimed.length > 0 || sent.turn.renewals.length > 0 || answer.sleepMs === 0;
    this.pops.answered(more);
    this.standsBy = sent.turn.standing === 'until-claimed' && !more;
    this.looksAnew = this.pops.isEmpty;
    if (more) this.plan.lookIn(0);
    else if (answer.sleepMs !== undefined) this.plan.lookIn(answer.sleepMs);
    this.plan.renewOnlyIfTold();
    this.plan.renewBy(performance.now() + this.options.leaseMs / 3);
  }
}
