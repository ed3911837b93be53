import type { Clock } from '../../core/clock.js';
import type { Session, SessionHints, TurnAnswer } from '../../store/job-store.js';
import type { Caretakers } from '../recur/caretakers.js';
import type { Reporter } from '../report/reporter.js';
import { Alarm } from './alarm.js';
import { Milestone } from './milestone.js';
import type { Party } from './party.js';
import { Soon } from './soon.js';
import type { TalkState } from './talk-state.js';
import { TurnPlan } from './turn-plan.js';
import type { SentTurn, TurnsInFlight } from './turns-in-flight.js';

export interface TalkOptions {
  readonly queue: string;
  /** After a third of it what the party holds is renewed. Needless where it holds nothing. */
  readonly leaseMs?: number;
  /** The name of its timer, for an application that lists its timers. */
  readonly timerName: string;
  /** They hear what each answer says of recurrences. */
  readonly caretakers: Caretakers;
}

/** Two turns at most are in flight at a time: one that the store works on while the answer of the other is taken in. */
const MOST_IN_FLIGHT = 2;

/**
 * Talks to the store for one party: it knows when to speak, which turns are in flight and which one must be sent again. Its states,
 * and what leads from one to the other, stand at `TalkState`.
 */
export class Talk {
  private readonly plan = new TurnPlan(this.clock);
  private readonly alarm = new Alarm(this.clock, this.options.timerName, () => this.speak());
  private readonly atRoundsEnd = new Soon(this.clock, () => this.roundOver());
  private readonly finished = new Milestone();
  private readonly giveUp = new AbortController();
  private party!: Party;
  private lastTurn: 'unasked' | 'owed' | 'written' = 'unasked';
  private isGathering = false;
  private hears = false;
  private refusal?: unknown;

  constructor(
    private readonly session: Session,
    readonly inFlight: TurnsInFlight,
    private readonly reporter: Reporter,
    private readonly clock: Clock,
    private readonly options: TalkOptions,
  ) {}

  get state(): TalkState {
    if (this.giveUp.signal.aborted) return 'closed';
    if (this.lastTurn !== 'unasked') return 'leaving';
    if (this.inFlight.anyAwaited) return 'talking';
    if (this.inFlight.count > 0 || this.plan.isPaused) return 'paused';
    return this.alarm.isSet ? 'sleeping' : 'idle';
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

  /** Call this once, before anything else. */
  join(party: Party): void {
    this.party = party;
  }

  /** Hears from now on what others say. Where somebody wants a job cancelled, renewing tells which. */
  listen(hints: SessionHints = { look: (inMs) => this.look(inMs), cancel: () => this.renew() }): void {
    if (this.hears) return;
    this.hears = true;
    this.session.listen(hints);
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

  /** Something may be due now, or the party has capacity again. Several calls in one round of the event loop make one turn. */
  lookSoon(): void {
    this.plan.lookIn(0);
    this.saySoon();
  }

  /** Leases are to be renewed now. */
  renew(): void {
    this.plan.renewSoon();
    this.speak();
  }

  /** There is something to say. What comes up in one round of the event loop goes with one turn. */
  saySoon(): void {
    this.atRoundsEnd.ask();
  }

  /** As `saySoon`, and nothing is said before that. */
  gather(): void {
    this.isGathering = true;
    this.atRoundsEnd.ask();
  }

  /** Sends what is to be said now; sleeps where that is nothing. */
  speak(): void {
    if (this.state === 'closed') return;
    for (let next = this.nextTurn(); next; next = this.nextTurn()) void this.send(next);
    if (!this.inFlight.anyAwaited) this.rest();
  }

  /** Owes the last turn from now on, which takes the session off the lists of those that are there. Hears no more hints. */
  leave(): void {
    if (this.lastTurn !== 'unasked') return;
    this.lastTurn = 'owed';
    this.hearNoMore();
    this.plan.endPause();
    this.speak();
  }

  /** Resolves once all is said and answered, or when `deadline` aborts. Call `leave` before. */
  async allSaid(deadline: AbortSignal): Promise<void> {
    if (!this.isFinished) await this.finished.wait(deadline);
  }

  /** Waits until all is said and answered, for so long at the most, and closes. */
  async finish(withinMs: number): Promise<void> {
    if (!this.isFinished) {
      this.speak();
      await this.finished.waitFor(withinMs, this.clock);
    }
    this.close();
  }

  close(): void {
    this.hearNoMore();
    this.giveUp.abort();
    this.alarm.clear();
    this.options.caretakers.leave(this.options.queue, this);
    this.finished.reach();
  }

  private get owes(): boolean {
    return this.inFlight.count > 0 || this.lastTurn === 'owed' || this.party.owes;
  }

  private get isFinished(): boolean {
    return !this.owes && !this.party.holds;
  }

  private get isTimeToSpeak(): boolean {
    const { party, plan } = this;
    if (party.owes || this.lastTurn === 'owed') return true;
    return (party.looks && plan.isTimeToLook()) || (party.holds && plan.isTimeToRenew());
  }

  /** What goes out now, if anything. */
  private nextTurn(): SentTurn | undefined {
    const { inFlight, party, plan } = this;
    if (plan.isPaused) return undefined;
    if (inFlight.refused) return inFlight.refused;
    if (this.isGathering) return undefined;
    if (inFlight.count > 0 ? !this.mayOverlap : !this.isTimeToSpeak) return undefined;
    const isLast = this.lastTurn === 'owed';
    const written = party.write(plan.isTimeToRenew(), isLast);
    if (isLast) this.lastTurn = 'written';
    return inFlight.add(written, this.clock.now());
  }

  /**
   * A turn that renews never overlaps another: it names all jobs that are held, and the other one could settle and claim anew some of
   * them meanwhile.
   */
  private get mayOverlap(): boolean {
    const { inFlight, party, plan } = this;
    return inFlight.count < MOST_IN_FLIGHT && !inFlight.anyRenews && !plan.isTimeToRenew() && party.mayOverlap;
  }

  private async send(sent: SentTurn): Promise<void> {
    sent.isAwaited = true;
    this.plan.lookOnlyIfTold();
    if (sent.renews) this.plan.renewOnlyIfTold();
    try {
      this.answered(await this.session.turn(sent.turn, this.giveUp.signal), sent);
    } catch (error) {
      this.refused(error, sent);
    }
    this.speak();
  }

  private answered(answer: TurnAnswer, sent: SentTurn): void {
    const { inFlight, plan, reporter, options } = this;
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
    if (this.lastTurn === 'unasked') options.caretakers.hear(options.queue, this, answer);
    this.party.take(answer, sent);
  }

  private refused(error: unknown, sent: SentTurn): void {
    sent.isAwaited = false;
    if (this.state === 'closed') return;
    this.refusal = error;
    this.reporter.turnRefused(this.options.queue, error);
    this.plan.pause(this.state === 'leaving');
    this.party.refused?.(error);
  }

  private roundOver(): void {
    this.isGathering = false;
    this.speak();
  }

  private rest(): void {
    const { party, plan, owes } = this;
    if (this.isFinished) this.finished.reach();
    // Whoever gathers speaks when that is over.
    if (this.isGathering) return;
    const until = plan.nextAt({ looks: party.looks, holds: party.holds, owes });
    if (until !== Number.POSITIVE_INFINITY) this.alarm.setFor(until);
  }
}
