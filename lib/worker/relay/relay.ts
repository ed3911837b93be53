import type { Timers } from '../../core/timers.js';
import type { Session, Turn, TurnAnswer } from '../../store/job-store.js';
import { Alarm } from '../session/alarm.js';
import { Milestone } from '../session/milestone.js';
import type { Reporter } from '../session/reporter.js';
import { PAUSE_AFTER_REFUSAL_MS, TurnPlan } from '../session/turn-plan.js';

/**
 * Moves due jobs of a queue to somewhere else, by a session whose turns do that: it holds nothing itself, so it may end at any moment.
 * It is in one of three states:
 * - **sleeping**: a timer is set to the next time to look; left when it fires or a message says that something came earlier.
 * - **turning**: one call is in flight; left when it was answered and the batch was not full.
 * - **stopped**: entered by `stop`, for good.
 */
export class Relay {
  private readonly plan = new TurnPlan();
  private readonly alarm: Alarm;
  /** One that was not answered may have happened, so the same is sent until it is. */
  private sent?: Turn;
  private turning = false;
  private refused = false;
  private hasLeft = false;
  private stopping = false;
  private ended?: Promise<void>;
  private readonly giveUp = new AbortController();
  private readonly lastTurn = new Milestone();

  constructor(
    private readonly queue: string,
    private readonly session: Session,
    private readonly batch: number,
    timers: Timers,
    timerName: string,
    private readonly reporter: Reporter,
  ) {
    this.alarm = new Alarm(timers, timerName, () => this.wakeUp());
  }

  start(): void {
    // What is told before the first look is over may be newer than its answer.
    this.session.listen({ look: (inMs) => this.plan.lookIn(inMs) && this.wakeUp(), cancel: () => {} });
    this.turn();
  }

  /** Moves no more. Resolves when the last turn was answered, cannot be, or `patience` aborts. */
  stop(patience: AbortSignal): Promise<void> {
    this.stopping = true;
    this.ended ??= this.end(patience);
    return this.ended;
  }

  private async end(patience: AbortSignal): Promise<void> {
    this.session.leave();
    const ended = this.lastTurn.wait(patience);
    // What Redis refuses need not be waited for, as nothing is held here.
    if (this.turning || !this.refused) {
      this.turn();
      await ended;
    }
    this.giveUp.abort();
    this.alarm.clear();
  }

  private wakeUp(): void {
    if (this.turning || this.stopping) return;
    if (!this.plan.isPaused && this.plan.isTimeToLook()) this.turn();
    else this.alarm.setFor(this.plan.nextAt({ looks: true, holds: false, owes: false }));
  }

  private turn(): void {
    if (this.turning || this.giveUp.signal.aborted) return;
    this.turning = true;
    void this.takeTurn().finally(() => {
      this.turning = false;
      if (!this.stopping) this.wakeUp();
      else if (this.hasLeft || this.refused) this.lastTurn.reach();
      else this.turn();
    });
  }

  private async takeTurn(): Promise<void> {
    this.sent ??= this.write();
    this.plan.lookOnlyIfTold();
    try {
      const answer = await this.session.turn(this.sent, this.giveUp.signal);
      this.takeIn(answer, this.sent);
    } catch (error) {
      if (this.giveUp.signal.aborted) return;
      this.refused = true;
      this.reporter.turnRefused(this.queue, error);
      this.plan.pause(PAUSE_AFTER_REFUSAL_MS);
    }
  }

  private takeIn(answer: TurnAnswer, turn: Turn): void {
    this.sent = undefined;
    this.refused = false;
    this.hasLeft = turn.isLast;
    this.reporter.turnTaken(this.queue);
    this.reporter.found(this.queue, answer);
    // No time to sleep is told where the batch was full: there may be more.
    this.plan.lookIn(answer.sleepMs ?? 0);
  }

  /** The last turn takes this one off the lists of those that are there, and lets another one look in its place. */
  private write(): Turn {
    const common = { settlements: [], renewals: [], handlers: [], suspects: '' as const };
    return this.stopping
      ? { ...common, limit: 0, isLast: true, standing: 'goes' }
      : { ...common, limit: this.batch, isLast: false, standing: 'stays' };
  }
}
