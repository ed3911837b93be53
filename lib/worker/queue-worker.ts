import type { QueueSettings } from '../core/queue-options.js';
import type { Timers } from '../core/timers.js';
import type { TurnAnswer, WorkerSeat } from '../store/job-store.js';
import { abortReasons } from './abort-reasons.js';
import { Alarm } from './alarm.js';
import type { JobHandler } from './job-handler.js';
import { LeaseClock } from './lease-clock.js';
import type { Processor, RunHolder } from './processor.js';
import type { Reporter } from './reporter.js';
import { Room } from './room.js';
import type { RunningJob } from './running-job.js';
import { RunningJobs } from './running-jobs.js';
import type { EndedRun, Settler } from './settler.js';
import { type SentTurn, TurnDraft } from './turn-draft.js';
import { LAST_TURN_MS, PAUSE_AFTER_REFUSAL_MS, TurnPlan } from './turn-plan.js';

const PAUSE_WHILE_STOPPING_MS = 100;

/**
 * The worker of one queue in this process. It is in one of three states:
 * - **sleeping**: a timer is set to the next time to look or to renew; entered when a turn leaves nothing to do;
 *   left when the timer fires, a message says that something came earlier, or a job has ended.
 * - **turning**: one call is in flight that settles, renews and claims at once; what happens meanwhile goes into the
 *   next one. Left when its answer has been taken in and nothing is left to say.
 * - **stopped**: entered by `stop`, for good; nothing is held any more.
 */
export class QueueWorker implements RunHolder {
  private readonly running: RunningJobs;
  private readonly places: Room;
  private readonly leases: LeaseClock;
  private readonly plan = new TurnPlan();
  private readonly alarm: Alarm;
  private readonly draft = new TurnDraft();
  private lookFrom = '';
  private turning = false;
  private turnSoon = false;
  private stopping = false;
  private readonly giveUp = new AbortController();
  private onIdle?: () => void;

  constructor(
    readonly queue: string,
    private readonly seat: WorkerSeat,
    handlers: ReadonlyMap<string, JobHandler>,
    private readonly processor: Processor,
    private readonly settler: Settler,
    private readonly settings: QueueSettings,
    timers: Timers,
    private readonly reporter: Reporter,
    timerPrefix: string,
  ) {
    this.alarm = new Alarm(timers, `${timerPrefix}:${queue}`, () => this.wakeUp());
    this.running = new RunningJobs(timers, `${timerPrefix}:${queue}:timeouts`, (run) => this.timeOut(run));
    this.places = new Room(settings.concurrency, handlers, this.running);
    this.leases = new LeaseClock(settings.leaseMs, () => this.renewSoon());
  }

  start(): void {
    this.seat.listen({ look: (inMs) => this.look(inMs), renew: () => this.renewSoon() });
    this.turn();
  }

  /**
   * Claims no more, and waits for the running handlers until `patience` aborts; then their signals abort and their jobs
   * go back at once, with no attempt used. Resolves when all is settled, or cannot be because Redis is away.
   */
  async stop(patience: AbortSignal): Promise<void> {
    this.stopping = true;
    this.draft.leave();
    this.seat.leave();
    this.turn();
    if (this.hasSomethingToLose()) await this.idle(patience);
    for (const run of this.running.held()) {
      run.abandon(abortReasons.closing(run));
      this.draft.release(run.claim);
    }
    this.running.clear();
    if (!this.isIdle()) {
      this.turn();
      await this.idle(AbortSignal.timeout(LAST_TURN_MS));
    }
    this.giveUp.abort();
    this.alarm.clear();
  }

  private isIdle(): boolean {
    return !this.turning && !this.draft.isLeaving && !this.hasSomethingToLose();
  }

  /** Runs whose outcome Redis does not know yet. Handlers whose time was over are not waited for, nor a turn that only looks. */
  private hasSomethingToLose(): boolean {
    return this.draft.unsettled > 0 || this.running.holdsAny();
  }

  private idle(patience: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.onIdle = resolve;
      if (patience.aborted) resolve();
      else patience.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Something may be due in `inMs`, earlier than known. */
  private look(inMs: number): void {
    if (this.plan.lookIn(inMs)) this.wakeUp();
  }

  private renewSoon(): void {
    this.plan.renewBy(0);
    this.wakeUp();
  }

  private get room(): number {
    return this.stopping ? 0 : this.places.left;
  }

  private hasSomethingToSay(): boolean {
    const { plan } = this;
    if (plan.isPaused) return false;
    return (
      this.draft.owes || (this.room > 0 && plan.isTimeToLook()) || (plan.isTimeToRenew() && this.running.holdsAny())
    );
  }

  private turn(): void {
    if (this.turning || this.giveUp.signal.aborted) return;
    this.turning = true;
    void this.takeTurns();
  }

  private async takeTurns(): Promise<void> {
    try {
      while (this.hasSomethingToSay()) await this.takeTurn();
    } catch (error) {
      if (!this.giveUp.signal.aborted) this.reporter.turnRefused(this.queue, error);
      this.plan.pause(this.stopping ? PAUSE_WHILE_STOPPING_MS : PAUSE_AFTER_REFUSAL_MS);
    }
    this.turning = false;
    if (this.onIdle && this.isIdle()) this.onIdle();
    // A successor may use the same timer by now.
    if (!this.giveUp.signal.aborted) this.sleep();
  }

  private async takeTurn(): Promise<void> {
    // Where nothing is held there is nothing to renew until what this turn claims.
    const renews = this.plan.isTimeToRenew() || !this.running.holdsAny();
    const renewals = renews ? this.running.claims() : [];
    const { room, lookFrom } = this;
    const sent = this.draft.take({ room, handlers: this.places.ofHandlers(), lookFrom, renewals, renews });
    this.plan.lookOnlyIfTold();
    if (sent.renews) this.plan.renewOnlyIfTold();
    const answer = await this.seat.turn(sent.turn, this.giveUp.signal);
    this.draft.answered();
    this.reporter.turnTaken(this.queue);
    if (sent.renews) {
      this.plan.renewBy(sent.sentAt + this.settings.leaseMs / 3);
      this.leases.note(sent.sentAt);
    }
    this.takeIn(answer, sent);
  }

  private takeIn(answer: TurnAnswer, sent: SentTurn): void {
    for (const id of answer.lost) this.loseLease(id);
    for (const id of answer.toCancel) this.cancel(id);
    this.reporter.settled(this.queue, sent, answer.settled);
    this.reporter.found(this.queue, answer);
    this.lookFrom = answer.lookFrom;
    if (answer.sleepMs !== undefined) this.plan.lookIn(answer.sleepMs);
    for (const claim of answer.claimed) {
      // Claimed when the worker was stopping already: it goes back as if nothing had been.
      if (this.stopping) this.draft.release(claim);
      else this.processor.start(claim, sent.sentAt, this.leases, this);
    }
  }

  /** @internal for the processor */
  begin(run: RunningJob): void {
    this.running.add(run);
  }

  /** @internal for the processor: a handler has returned, or a job turned out not fit to run. */
  end(ended: EndedRun, run?: RunningJob): void {
    // Nobody waits for a run whose job went back at shutdown.
    if (run && !this.running.remove(run)) return;
    // A place is free and there is nothing to settle, so that no turn would come by itself.
    if (run?.abandoned) this.plan.lookIn(0);
    else this.draft.end(ended);
    this.turnWhenSettled();
  }

  /** @internal for the processor: a handler that was not called. */
  drop(run: RunningJob): void {
    if (!this.running.remove(run)) return;
    if (run.abandoned) this.plan.lookIn(0);
    else this.draft.release(run.claim);
    this.turnWhenSettled();
  }

  /** The handler goes on, and its place is only free once it returns; but what it answers no longer counts. */
  private endEarly(run: RunningJob, reason: Error, ended: EndedRun): void {
    run.abandon(reason);
    this.draft.end(ended);
    this.turnWhenSettled();
  }

  private timeOut(run: RunningJob): void {
    const error = abortReasons.timeout(run);
    this.endEarly(run, error, this.settler.failed(run, error));
  }

  private cancel(id: string): void {
    const run = this.running.find(id);
    if (!run) return;
    this.endEarly(run, abortReasons.cancelled(run), this.settler.cancelled(run));
  }

  private loseLease(id: string): void {
    const run = this.running.find(id);
    if (!run) return;
    run.abandon(abortReasons.leaseLost(run));
    this.reporter.leaseLost(this.queue, run);
  }

  /** After this round of the event loop: what ends in one moment is settled in one call. */
  private turnWhenSettled(): void {
    if (this.turning || this.turnSoon) return;
    this.turnSoon = true;
    setImmediate(() => {
      this.turnSoon = false;
      this.turn();
    });
  }

  private sleep(): void {
    const until = this.plan.nextAt({ looks: this.room > 0, holds: this.running.holdsAny(), owes: this.draft.owes });
    if (until !== Number.POSITIVE_INFINITY) this.alarm.setFor(until);
  }

  private wakeUp(): void {
    if (this.turning) return;
    if (this.hasSomethingToSay()) this.turn();
    else this.sleep();
  }
}
