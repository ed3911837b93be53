import type { Clock } from '../../core/clock.js';
import { MOST_JOBS_A_TURN } from '../../core/options/defaults.js';
import type { TurnAnswer } from '../../store/job-store.js';
import type { Occupancy } from '../capacity/occupancy.js';
import type { ClaimsToConfirm } from '../session/claims-to-confirm.js';
import type { PendingSettlements } from '../session/pending-settlements.js';
import type { SessionLoop, TurnWriter } from '../session/session-loop.js';
import type { SentTurn, WrittenTurn } from '../session/turns-in-flight.js';
import type { HeldJob } from './held-job.js';
import type { HeldJobs } from './held-jobs.js';
import type { PopCounter } from './pop-counter.js';
import type { WaitingPops } from './waiting-pops.js';

export interface PullerParts {
  readonly leaseMs: number;
  readonly loop: SessionLoop;
  readonly pending: PendingSettlements;
  readonly toConfirm: ClaimsToConfirm;
  readonly pops: WaitingPops;
  readonly held: HeldJobs;
  readonly counter: PopCounter;
  readonly occupancy: Occupancy;
  readonly clock: Clock;
}

/**
 * All pops of one queue and one set of names in this process, and the jobs that they have handed out. They share a session, and so
 * one call in flight: it settles what was said of held jobs, and claims as much as is wanted. While jobs are held, a turn every third
 * of a lease says that this process is there.
 */
export class Puller implements TurnWriter {
  readonly mayOverlap = false;
  /** Whoever the last turn looked for waits no longer. */
  private looksAnew = false;
  /** When its last turn was answered, a time of `clock.now()`. */
  private turnedAt: number;
  private hasTurned = false;
  /** Redis counts on this process to look for what is due next. */
  private standsBy = false;
  private isStopping = false;

  constructor(private readonly parts: PullerParts) {
    this.turnedAt = parts.clock.now();
    parts.loop.setWriter(this);
    parts.occupancy.enterProcess();
  }

  pop(count: number, waitMs: number): Promise<HeldJob[]> {
    const { pops, loop } = this.parts;
    // Popped jobs are not renewed, so a cancel request takes effect at the holder's next call.
    if (waitMs > 0) loop.listen({ look: (inMs) => loop.look(inMs), cancel: () => {} });
    const jobs = pops.add(count, waitMs);
    loop.lookSoon();
    return jobs;
  }

  /** Nobody waits, no job is held, nothing is left to say, and for a lease it has taken no turn, so others count it as gone. */
  get isDone(): boolean {
    const { loop, pops, clock, leaseMs } = this.parts;
    return loop.isResting && pops.isEmpty && !this.holds && clock.now() >= this.turnedAt + leaseMs;
  }

  /** Pops that wait end with no jobs. Held jobs can still be settled. */
  stop(): void {
    if (this.isStopping) return;
    const { occupancy, pops, loop } = this.parts;
    if (this.isDone) occupancy.leaveProcess();
    this.isStopping = true;
    pops.endAll();
    loop.hearNoMore();
    loop.saySoon();
  }

  /** For one that is done. It says nothing more, and no timer of its own keeps the process alive. */
  retire(): void {
    this.stop();
    this.parts.loop.closeSession();
  }

  /** Jobs that nobody has settled go back, with no attempt used. Resolves within `withinMs`, whatever Redis does. */
  async close(withinMs: number): Promise<void> {
    const { loop, held, occupancy } = this.parts;
    this.stop();
    if (this.hasTurned) {
      held.giveBack();
      loop.leaveSession();
      await loop.finishSession(withinMs);
    } else loop.closeSession();
    held.close();
    occupancy.leaveProcess();
  }

  get owes(): boolean {
    const { pending, toConfirm, occupancy, pops } = this.parts;
    if (pending.count > 0 || toConfirm.any || (this.standsBy && !pops.anyWaits)) return true;
    return occupancy.hasToLeave || this.isReservedForNobody || (occupancy.stepsBack && !pops.isEmpty);
  }

  /** Each pop is answered at least once, even where nothing may be claimed. */
  get looks(): boolean {
    const { pops } = this.parts;
    return !pops.isEmpty && (this.mayClaim || pops.anyUnanswered);
  }

  /** There are held jobs, or the reservation of this process, to tell Redis of. */
  get holds(): boolean {
    return this.parts.held.holdsAny() || this.parts.occupancy.isReserved;
  }

  writeTurn(_isTimeToRenew: boolean, isLast: boolean): WrittenTurn {
    const { pending, toConfirm, pops, occupancy, leaseMs } = this.parts;
    const { looksAnew } = this;
    this.hasTurned = true;
    const waitsForNone = this.isStopping || (this.isReservedForNobody && !occupancy.hasToLeave);
    const suspects = occupancy.wish(leaseMs, waitsForNone);
    const limit = this.mayClaim ? Math.min(pops.wanted, MOST_JOBS_A_TURN) : 0;
    const standing = pops.anyWaits && (limit > 0 || toConfirm.any) ? 'until-claimed' : 'goes';
    occupancy.hasSteppedBack();
    pops.ask();
    const { ended, settlements } = pending.takeForTurn();
    const renewals = [...toConfirm.claims];
    const turn = { settlements, renewals, limit, handlers: [], isLast, standing, looksAnew, suspects } as const;
    return { turn, ended, renews: true };
  }

  onAnswer(answer: TurnAnswer, sent: SentTurn): void {
    const { loop, pending, toConfirm, pops, held, counter, occupancy, clock } = this.parts;
    this.turnedAt = clock.now();
    held.answered(sent, answer.settled);
    // First: jobs of this claim that are to be confirmed must not yet count as held.
    if (occupancy.answered(sent.turn.suspects, answer.suspect))
      counter.handOut(toConfirm.sift(sent.turn, answer), sent.sentAt);
    else pending.release(...answer.claimed, ...answer.expired);
    occupancy.check();
    // Look again at once where there may be more: the claimed jobs may all have been unfit, or wait for their confirmation, or
    // this turn only confirmed others and asked for none.
    const more = answer.claimed.length > 0 || sent.turn.renewals.length > 0 || answer.sleepMs === 0;
    pops.answered(more);
    this.standsBy = sent.turn.standing === 'until-claimed' && !more;
    this.looksAnew = pops.isEmpty;
    if (more) loop.lookSoon();
    // What those say who have got their jobs goes with the next turn.
    loop.deferToRoundEnd();
  }

  onRefusal(error: unknown): void {
    this.parts.pops.refused(error as Error);
  }

  private get mayClaim(): boolean {
    return !this.isStopping && this.parts.occupancy.mayClaim;
  }

  /** The process is reserved for a suspect, but no pop waits for one any more. */
  private get isReservedForNobody(): boolean {
    const { occupancy, pops } = this.parts;
    return occupancy.isReserved && pops.isEmpty && !occupancy.holds;
  }
}
