import { MOST_JOBS_A_TURN } from '../../core/options/defaults.js';
import type { ClaimedJob, Session, TurnAnswer } from '../../store/job-store.js';
import { HolderInProcess } from '../capacity/holder-in-process.js';
import type { InstanceParts } from '../instance-parts.js';
import type { Reporter } from '../report/reporter.js';
import { ClaimsToConfirm } from '../session/claims-to-confirm.js';
import { PendingSettlements } from '../session/pending-settlements.js';
import { SessionLoop } from '../session/session-loop.js';
import { AT_ONCE, NEVER } from '../session/turn-plan.js';
import type { TurnWriter } from '../session/turn-writer.js';
import { type SentTurn, TurnsInFlight, type WrittenTurn } from '../session/turns-in-flight.js';
import { type HeldJob, HeldJobs, type HeldJobsOptions } from './held-jobs.js';
import { WaitingPops } from './waiting-pops.js';

export interface PullerSetup extends HeldJobsOptions, Pick<InstanceParts, 'observers' | 'isolation' | 'caretakers'> {
  readonly session: Session;
  readonly timerName: string;
  readonly reporter: Reporter;
}

/**
 * All pops of one queue and one set of names in this process, and the jobs that they have handed out. They share a session, and so
 * one call in flight: it settles what was said of held jobs, and claims as much as is wanted. While jobs are held, a turn every third
 * of a lease says that this process is there.
 */
export class Puller implements TurnWriter {
  readonly mayOverlap = false;
  private readonly pending = new PendingSettlements();
  private readonly toConfirm = new ClaimsToConfirm(this.pending);
  private readonly loop: SessionLoop;
  private readonly held: HeldJobs;
  private readonly pops: WaitingPops<HeldJob>;
  private readonly holder: HolderInProcess;
  /** Whoever the last turn looked for waits no longer. */
  private looksAnew = false;
  /** When its last turn was answered, a time of `clock.now()`. */
  private turnedAt: number;
  private hasTurned = false;
  /** Redis counts on this process to look for what is due next. */
  private standsBy = false;
  private isStopping = false;

  constructor(private readonly setup: PullerSetup) {
    const { queue, session, reporter, isolation, commandTimeoutMs, clock } = setup;
    const { pending, toConfirm } = this;
    this.loop = new SessionLoop(session, new TurnsInFlight(), reporter, clock, setup);
    this.held = new HeldJobs(setup, pending, this.loop);
    this.pops = new WaitingPops(queue, commandTimeoutMs, clock, this.loop);
    this.holder = new HolderInProcess(queue, false, isolation, this.loop, pending, toConfirm, this.held);
    this.turnedAt = clock.now();
    this.loop.setWriter(this);
    isolation.add(this.holder);
  }

  pop(count: number, waitMs: number): Promise<HeldJob[]> {
    const { pops, loop } = this;
    // Popped jobs are not renewed, so a cancel request takes effect at the holder's next call.
    if (waitMs > 0) loop.listen({ look: (inMs) => loop.look(inMs), cancel: () => {} });
    const jobs = pops.add(count, waitMs);
    loop.lookSoon();
    return jobs;
  }

  /** Nobody waits, no job is held, nothing is left to say, and for a lease it has taken no turn, so others count it as gone. */
  get isDone(): boolean {
    const { loop, pops, turnedAt } = this;
    const { clock, leaseMs } = this.setup;
    return loop.isResting && pops.isEmpty && !this.holds && clock.now() >= turnedAt + leaseMs;
  }

  /** Pops that wait end with no jobs. Held jobs can still be settled. */
  stop(): void {
    if (this.isStopping) return;
    const { holder, pops, loop } = this;
    if (this.isDone) this.setup.isolation.remove(holder);
    this.isStopping = true;
    pops.endAll();
    loop.hearNoMore();
    loop.saySoon();
  }

  /** For one that is done. It says nothing more, and no timer of its own keeps the process alive. */
  retire(): void {
    this.stop();
    this.loop.closeSession();
  }

  /** Jobs that nobody has settled go back, with no attempt used. Resolves within `withinMs`, whatever Redis does. */
  async close(withinMs: number): Promise<void> {
    const { loop, held, holder } = this;
    this.stop();
    if (this.hasTurned) {
      held.giveBack();
      loop.leaveSession();
      await loop.finishSession(withinMs);
    } else loop.closeSession();
    held.close();
    this.setup.isolation.remove(holder);
  }

  get owesBy(): number {
    return this.owes ? AT_ONCE : NEVER;
  }

  /** Each pop is answered at least once, even where nothing may be claimed. */
  get looks(): boolean {
    const { pops } = this;
    return !pops.isEmpty && (this.mayClaim || pops.anyUnanswered);
  }

  /** There are held jobs, or the reservation of this process, to tell Redis of. */
  get holds(): boolean {
    return this.held.holdsAny() || this.setup.isolation.isReservedFor(this.holder);
  }

  writeTurn(_isTimeToRenew: boolean, isLast: boolean): WrittenTurn {
    const { pending, toConfirm, pops, holder, looksAnew } = this;
    this.hasTurned = true;
    const waitsForNone = this.isStopping || (this.isReservedForNobody && !this.hasToLeave);
    const { isolation, leaseMs } = this.setup;
    const suspects = waitsForNone ? isolation.lastWish(holder) : isolation.wish(holder, leaseMs);
    const limit = this.mayClaim ? Math.min(pops.wanted, MOST_JOBS_A_TURN) : 0;
    const standing = pops.anyWaits && (limit > 0 || toConfirm.any) ? 'until-claimed' : 'goes';
    holder.stepsBack = false;
    pops.ask();
    const { ended, settlements } = pending.takeForTurn();
    const renewals = [...toConfirm.claims];
    const turn = { settlements, renewals, limit, handlers: [], isLast, standing, looksAnew, suspects } as const;
    return { turn, ended, renews: true };
  }

  onAnswer(answer: TurnAnswer, sent: SentTurn): void {
    const { loop, pending, toConfirm, pops, held, holder } = this;
    const { isolation } = this.setup;
    this.turnedAt = this.setup.clock.now();
    held.noteSettled(sent, answer.settled);
    // First: jobs of this claim that are to be confirmed must not yet count as held.
    if (isolation.answered(holder, sent.turn.suspects, answer.suspect))
      this.handOut(toConfirm.sift(sent.turn, answer), sent.sentAt);
    else pending.release(...answer.claimed, ...answer.expired);
    isolation.check(holder);
    // Look again at once where there may be more: the claimed jobs may all have been unfit, or wait for their confirmation, or
    // this turn only confirmed others and asked for none.
    const more = answer.claimed.length > 0 || sent.turn.renewals.length > 0 || answer.sleepMs === 0;
    pops.noteAnswer(more);
    this.standsBy = sent.turn.standing === 'until-claimed' && !more;
    this.looksAnew = pops.isEmpty;
    if (more) loop.lookSoon();
    // What those say who have got their jobs goes with the next turn.
    loop.deferToRoundEnd();
  }

  onRefusal(error: unknown): void {
    this.pops.endRefused(error as Error);
  }

  /** Gives jobs that were asked for at `askedAt` to the pops that wait; the rest goes back. */
  private handOut(claims: readonly ClaimedJob[], askedAt: number): void {
    const { events, observers } = this.setup;
    const jobs = this.held.hold(claims, askedAt);
    const left = this.pops.deliver(jobs);
    for (const job of left) this.held.putBack(job);
    const delivered = jobs.length - left.length;
    if (delivered > 0) observers.meter?.jobsClaimed(this.setup.queue, delivered);
    for (const { queue, id, name, attempt, latenessMs } of jobs.slice(0, delivered))
      if (events.wants(queue)) events.tell({ type: 'started', queue, id, name, attempt, latenessMs });
  }

  private get mayClaim(): boolean {
    return !this.isStopping && this.holder.mayClaim;
  }

  /** The process is reserved for a suspect, but no pop waits for one any more. */
  private get isReservedForNobody(): boolean {
    const { holder, pops } = this;
    return this.setup.isolation.isReservedFor(holder) && pops.isEmpty && !holder.holds;
  }

  private get owes(): boolean {
    const { pending, toConfirm, holder, pops } = this;
    if (pending.count > 0 || toConfirm.any || (this.standsBy && !pops.anyWaits)) return true;
    return this.hasToLeave || this.isReservedForNobody || (holder.stepsBack && !pops.isEmpty);
  }

  private get hasToLeave(): boolean {
    return this.setup.isolation.hasToLeave(this.holder);
  }
}
