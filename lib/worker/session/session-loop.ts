import type { Clock } from '../../core/clock.js';
import { outsideJobs } from '../../core/job/current-job.js';
import type { Session, SessionHints, TurnAnswer } from '../../store/job-store.js';
import type { Caretakers } from '../recur/caretakers.js';
import type { Reporter } from '../report/reporter.js';
import { Alarm } from './alarm.js';
import { OncePerRound } from './once-per-round.js';
import { Signal } from './signal.js';
import { AT_ONCE, NEVER, TurnPlan } from './turn-plan.js';
import type { TurnWriter } from './turn-writer.js';
import type { SentTurn, TurnsInFlight } from './turns-in-flight.js';

export interface SessionLoopOptions {
  readonly queue: string;
  /** After a third of it what the writer holds is renewed. Needless where it holds nothing. */
  readonly leaseMs?: number;
  /** The name of its timer, for an application that lists its timers. */
  readonly timerName: string;
  /** They hear what each answer says of recurrences. */
  readonly caretakers: Caretakers;
}

/** Two turns at most are in flight at a time: one that the store works on while the answer of the other is taken in. */
const MOST_IN_FLIGHT = 2;

export type LoopState = 'idle' | 'sleeping' | 'talking' | 'paused' | 'leaving' | 'closed';

/**
 * Talks to the store for one writer: it knows when to speak, which turns are in flight and which one must be sent again. It is in one
 * of these states:
 * - **idle**: nothing is in flight, and nothing will be said before somebody asks. Left by a call, a hint or the writer's own work.
 * - **sleeping**: as idle, with an alarm set for when something may be due, or has to be renewed or said.
 * - **talking**: a turn is in flight, or two. Entered by sending one; left when all are answered and nothing has to be said. Anything
 *   that comes up meanwhile goes with the next turn.
 * - **paused**: the store has refused a turn. The same turn goes out again after a pause; nothing else does before that.
 * - **leaving**: entered by `leaveSession`. The writer's last turn is said as soon as may be, and then what still comes up; a refused
 *   turn pauses for less long. Left when `finishSession` has waited for all answers, or for long enough.
 * - **closed**: nothing is said any more. An answer that comes all the same is still taken in.
 */
export class SessionLoop {
  private readonly plan = new TurnPlan(this.clock);
  private readonly alarm = new Alarm(this.clock, this.options.timerName, () => this.speak());
  private readonly atRoundsEnd = new OncePerRound(this.clock, () => this.roundOver());
  private readonly finished = new Signal();
  private readonly giveUp = new AbortController();
  private writer!: TurnWriter;
  private current: LoopState = 'idle';
  /** The session is left by a last turn, which has not been written yet. */
  private owesLastTurn = false;
  private isDeferring = false;
  private hears = false;
  private refusal?: unknown;

  constructor(
    private readonly session: Session,
    readonly inFlight: TurnsInFlight,
    private readonly reporter: Reporter,
    private readonly clock: Clock,
    private readonly options: SessionLoopOptions,
  ) {}

  get state(): LoopState {
    return this.current;
  }

  /** True if nothing is in flight, and nothing is to be said before a later time, a hint or a call. */
  get isResting(): boolean {
    const { state } = this;
    if (state === 'closed') return true;
    return (state === 'idle' || state === 'sleeping') && !this.atRoundsEnd.isAsked && !this.isTimeToSpeak;
  }

  /** Why the store refused the last turn, or cannot be reached; `undefined` where nothing is known. */
  get trouble(): unknown {
    return this.refusal ?? this.session.trouble;
  }

  /**
   * Since when an answer is due: a turn is under way, or should be by now. A time of `clock.now()`, of which one to come says that nothing is
   * waited for. It begins anew whenever the store is heard, be it with an error.
   */
  get unansweredSince(): number {
    if (this.isEnding) return Number.POSITIVE_INFINITY;
    const { inFlight, writer, plan } = this;
    const since = inFlight.oldestAt ?? plan.nextAt({ looks: writer.looks, holds: writer.holds, owesBy: NEVER });
    return Math.max(since, plan.heardAt);
  }

  /** Call this once, before anything else. */
  setWriter(writer: TurnWriter): void {
    this.writer = writer;
  }

  /** Hears from now on what others say. Where somebody wants a job cancelled, renewing tells which. */
  listen(hints: SessionHints = { look: (inMs) => this.look(inMs), cancel: () => this.renew() }): void {
    if (this.hears) return;
    this.hears = true;
    outsideJobs(() => this.session.listen(hints));
  }

  hearNoMore(): void {
    if (!this.hears) return;
    this.hears = false;
    this.session.leave();
  }

  /** Something may be due in so many ms, earlier than known. */
  look(inMs: number): void {
    if (this.plan.lookIn(inMs)) this.speak();
  }

  /** Something may be due now, or the writer has capacity again. Several calls in one round of the event loop make one turn. */
  lookSoon(): void {
    this.plan.lookIn(0);
    this.saySoon();
  }

  /** Leases are to be renewed now. */
  renew(): void {
    this.plan.renewSoon();
    this.speak();
  }

  /** There is something to say, by when `owesBy` of the writer tells. What comes up in one round of the event loop goes with one turn. */
  saySoon(): void {
    this.atRoundsEnd.ask();
  }

  /** As `saySoon`, and nothing is said before that. */
  deferToRoundEnd(): void {
    this.isDeferring = true;
    this.atRoundsEnd.ask();
  }

  /** Sends what is to be said now; sleeps where that is nothing. */
  speak(): void {
    if (this.state === 'closed') return;
    // Whoever asks for a turn may be a request; its answer may begin the runs of others.
    for (let next = this.nextTurn(); next; next = this.nextTurn()) {
      const turn = next;
      outsideJobs(() => void this.send(turn));
    }
    if (!this.inFlight.anyAwaited) this.rest();
  }

  /** Owes the last turn from now on, which takes the session off the lists of those that are there. Hears no more hints. */
  leaveSession(): void {
    if (this.isEnding) return;
    this.current = 'leaving';
    this.owesLastTurn = true;
    this.hearNoMore();
    this.plan.endPause();
    this.speak();
  }

  /** Resolves once all is said and answered, or when `deadline` aborts. Call `leaveSession` before. */
  async allSaid(deadline: AbortSignal): Promise<void> {
    if (!this.isFinished) await this.finished.wait(deadline);
  }

  /** Waits until all is said and answered, for so long at the most, and closes. */
  async finishSession(withinMs: number): Promise<void> {
    if (!this.isFinished) {
      this.speak();
      await this.finished.waitFor(withinMs, this.clock);
    }
    this.closeSession();
  }

  closeSession(): void {
    this.current = 'closed';
    this.hearNoMore();
    this.giveUp.abort();
    this.alarm.clear();
    this.options.caretakers.leave(this.options.queue, this);
    this.finished.fire();
  }

  private get isEnding(): boolean {
    return this.current === 'leaving' || this.current === 'closed';
  }

  /** Nothing leads back from leaving. */
  private enter(state: 'idle' | 'sleeping' | 'talking' | 'paused'): void {
    if (!this.isEnding) this.current = state;
  }

  private get isFinished(): boolean {
    return this.inFlight.count === 0 && this.speaksBy === NEVER && !this.writer.holds;
  }

  /** By when what is owed has to be said. */
  private get speaksBy(): number {
    const { owesBy } = this.writer;
    return this.owesLastTurn || (this.isEnding && owesBy !== NEVER) ? AT_ONCE : owesBy;
  }

  private get isTimeToSpeak(): boolean {
    const { writer, plan } = this;
    if (this.clock.now() >= this.speaksBy) return true;
    return (writer.looks && plan.isTimeToLook()) || (writer.holds && plan.isTimeToRenew());
  }

  /** What goes out now, if anything. */
  private nextTurn(): SentTurn | undefined {
    const { inFlight, writer, plan } = this;
    if (plan.isPaused) return undefined;
    if (inFlight.refused) return inFlight.refused;
    if (this.isDeferring) return undefined;
    if (inFlight.count > 0 ? !this.mayOverlap : !this.isTimeToSpeak) return undefined;
    const written = writer.writeTurn(plan.isTimeToRenew(), this.owesLastTurn);
    this.owesLastTurn = false;
    return inFlight.add(written, this.clock.now());
  }

  /**
   * A turn that renews never overlaps another: it names all jobs that are held, and the other one could settle and claim anew some of
   * them meanwhile.
   */
  private get mayOverlap(): boolean {
    const { inFlight, writer, plan } = this;
    return inFlight.count < MOST_IN_FLIGHT && !inFlight.anyRenews && !plan.isTimeToRenew() && writer.mayOverlap;
  }

  private async send(sent: SentTurn): Promise<void> {
    sent.isAwaited = true;
    this.enter('talking');
    this.plan.lookOnlyIfTold();
    if (sent.renews) this.plan.renewOnlyIfTold();
    try {
      this.takeInAnswer(await this.session.turn(sent.turn, this.giveUp.signal, this.plan.heard), sent);
    } catch (error) {
      this.takeInRefusal(error, sent);
    }
    this.speak();
  }

  private takeInAnswer(answer: TurnAnswer, sent: SentTurn): void {
    const { inFlight, plan, reporter, options } = this;
    plan.heard();
    inFlight.remove(sent);
    if (!inFlight.refused) {
      this.refusal = undefined;
      reporter.turnTaken(options.queue);
    }
    if (sent.renews) plan.renewBy(sent.sentAt + (options.leaseMs ?? 0) / 3);
    // Where there was no capacity for more, it is looked for as soon as there is some.
    plan.lookIn(answer.sleepMs ?? 0);
    reporter.settled(options.queue, sent, answer.settled);
    reporter.found(options.queue, answer);
    // Whoever leaves looks after nothing any more.
    if (!this.isEnding) options.caretakers.hear(options.queue, this, answer);
    this.writer.onAnswer(answer, sent);
  }

  private takeInRefusal(error: unknown, sent: SentTurn): void {
    sent.isAwaited = false;
    if (this.state === 'closed') return;
    this.enter('paused');
    this.plan.heard();
    this.refusal = error;
    this.reporter.turnRefused(this.options.queue, error);
    this.plan.pause(this.state === 'leaving');
    this.writer.onRefusal?.(error);
  }

  private roundOver(): void {
    this.isDeferring = false;
    this.speak();
  }

  private rest(): void {
    const { writer, plan, inFlight } = this;
    if (this.isFinished) this.finished.fire();
    // The end of the round speaks.
    if (this.isDeferring) return;
    const owesBy = inFlight.count > 0 ? AT_ONCE : this.speaksBy;
    const until = plan.nextAt({ looks: writer.looks, holds: writer.holds, owesBy });
    const isKnown = until !== Number.POSITIVE_INFINITY;
    if (isKnown) this.alarm.setFor(until);
    // When a pause ends, the refused turn goes out again.
    if (this.current !== 'paused') this.enter(isKnown ? 'sleeping' : 'idle');
  }
}
