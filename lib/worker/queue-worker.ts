import { LeaseLostError, QueueClosedError } from '../core/errors.js';
import type { QueueSettings } from '../core/queue-options.js';
import type { Timers } from '../core/timers.js';
import type { ClaimedJob, Settlement, Turn, TurnAnswer, WorkerSeat } from '../store/job-store.js';
import { Alarm } from './alarm.js';
import type { Outcome, Processor } from './processor.js';
import type { Reporter } from './reporter.js';
import type { RunningJob } from './running-job.js';

/** How long a refused turn waits before it is tried again. */
const PAUSE_AFTER_REFUSAL_MS = 1_000;
/** How long the last turn may take once everything else of a shutdown is done. */
const LAST_TURN_MS = 800;

/** A turn under way, and what its answer will be about. */
interface SentTurn {
  turn: Turn;
  outcomes: readonly Outcome[];
  heldBefore: number;
}

/**
 * The worker of one queue in this process. It is in one of three states:
 * - **sleeping**: a timer is set to the next time to look or to renew; entered when a turn leaves nothing to do;
 *   left when the timer fires, a message says that something came earlier, or a job has ended.
 * - **turning**: one call is in flight that settles, renews and claims at once; what happens meanwhile goes into the
 *   next one. Left when its answer has been taken in and nothing is left to say.
 * - **stopped**: entered by `stop`, for good; nothing is held any more.
 */
export class QueueWorker {
  private readonly running = new Map<string, RunningJob>();
  private ended: Outcome[] = [];
  /** Claimed when the worker was stopping already: they go back as if nothing had been. */
  private goingBack: ClaimedJob[] = [];
  private lookAt = 0;
  private renewAt = 0;
  /** After a refusal: no turn is taken before this. */
  private pausedUntil = 0;
  private lookFrom = '';
  private turning = false;
  /** The turn that was sent last, until its answer has come. */
  private unanswered?: SentTurn;
  /** A last turn is owed, which takes this worker off the list of those that would look. */
  private leaving = false;
  private turnSoon = false;
  private stopping = false;
  private readonly giveUp = new AbortController();
  private onIdle?: () => void;
  private readonly alarm: Alarm;

  constructor(
    readonly queue: string,
    private readonly seat: WorkerSeat,
    private readonly processor: Processor,
    private readonly settings: QueueSettings,
    timers: Timers,
    private readonly reporter: Reporter,
    timerPrefix: string,
  ) {
    this.alarm = new Alarm(timers, `${timerPrefix}:${queue}`, () => this.wakeUp());
  }

  start(): void {
    this.seat.listen((inMs) => this.look(inMs));
    this.turn();
  }

  /**
   * Claims no more, and waits for the running handlers until `patience` aborts; then their signals abort and their jobs
   * go back at once, with no attempt used. Resolves when all is settled, or cannot be because Redis is away.
   */
  async stop(patience: AbortSignal): Promise<void> {
    this.stopping = true;
    this.leaving = true;
    this.seat.leave();
    this.turn();
    if (this.hasSomethingToLose()) await this.idle(patience);
    for (const run of this.running.values()) {
      const fields = { queue: this.queue, jobName: run.name, jobId: run.id };
      run.abandon(new QueueClosedError(`The queue '${this.queue}' is closing; the job goes back.`, fields));
      this.goingBack.push(run.claim);
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
    return !this.turning && !this.leaving && !this.hasSomethingToLose();
  }

  /** Runs whose outcome Redis does not know yet. A turn that only looks loses nothing. */
  private hasSomethingToLose(): boolean {
    const settling = this.unanswered?.turn.settlements.length ?? 0;
    return this.running.size + settling + this.ended.length + this.goingBack.length > 0;
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
    const at = performance.now() + inMs;
    if (at >= this.lookAt) return;
    this.lookAt = at;
    this.wakeUp();
  }

  private get room(): number {
    return this.stopping ? 0 : this.settings.concurrency - this.running.size;
  }

  private hasSomethingToSay(): boolean {
    const now = performance.now();
    if (now < this.pausedUntil) return false;
    return (
      this.leaving ||
      this.unanswered !== undefined ||
      this.ended.length > 0 ||
      this.goingBack.length > 0 ||
      (now >= this.lookAt && this.room > 0) ||
      (now >= this.renewAt && this.running.size > 0)
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
      this.pausedUntil = performance.now() + PAUSE_AFTER_REFUSAL_MS;
      this.lookAt = 0;
    }
    this.turning = false;
    if (this.onIdle && this.isIdle()) this.onIdle();
    // A successor may use the same timer by now.
    if (!this.giveUp.signal.aborted) this.sleep();
  }

  private async takeTurn(): Promise<void> {
    // One that was not answered may have happened: the same is sent until it is.
    this.unanswered ??= this.nextTurn();
    const { turn, outcomes, heldBefore } = this.unanswered;
    // Whatever is said from now on may be newer than the answer.
    this.lookAt = Number.POSITIVE_INFINITY;
    const sentAt = performance.now();
    const answer = await this.seat.turn(turn, this.giveUp.signal);
    this.unanswered = undefined;
    this.reporter.turnTaken(this.queue);
    // Counted from the sending, so that a slow answer does not stretch a lease.
    if (turn.renewals.length > 0 || heldBefore === 0) this.renewAt = sentAt + this.settings.leaseMs / 3;
    this.takeIn(answer, outcomes);
  }

  private nextTurn(): SentTurn {
    const outcomes = this.ended;
    const settlements: Settlement[] = outcomes.map(({ settlement }) => settlement);
    for (const { id, fence } of this.goingBack) settlements.push({ id, fence, transition: 'release' });
    const heldBefore = this.running.size;
    const renews = heldBefore > 0 && performance.now() >= this.renewAt;
    this.ended = [];
    this.goingBack = [];
    this.leaving = false;
    const turn = { settlements, renewals: renews ? this.heldClaims() : [], room: this.room, lookFrom: this.lookFrom };
    return { turn, outcomes, heldBefore };
  }

  private heldClaims(): ClaimedJob[] {
    return [...this.running.values()].filter((run) => !run.abandoned).map(({ claim }) => claim);
  }

  private takeIn(answer: TurnAnswer, outcomes: readonly Outcome[]): void {
    for (const id of answer.lost) this.loseLease(id);
    for (const [i, outcome] of outcomes.entries()) this.reporter.settled(this.queue, outcome, answer.settled[i]!);
    this.reporter.recovered(this.queue, answer.recovered);
    this.lookFrom = answer.lookFrom;
    if (answer.sleepMs !== undefined) this.lookAt = Math.min(this.lookAt, performance.now() + answer.sleepMs);
    if (this.stopping) this.goingBack.push(...answer.claimed);
    else for (const claim of answer.claimed) this.run(claim);
  }

  private run(claim: ClaimedJob): void {
    this.processor.start(
      claim,
      (run) => this.running.set(claim.id, run),
      (outcome, run) => this.end(outcome, run),
    );
  }

  private end(outcome: Outcome, run?: RunningJob): void {
    // Nobody waits for a run whose job went back at shutdown, or is claimed here anew by now.
    if (run && this.running.get(run.id) !== run) return;
    if (run) this.running.delete(run.id);
    if (!run?.abandoned) this.ended.push(outcome);
    // A slot is free and there is nothing to settle, so that no turn would come by itself.
    else this.lookAt = 0;
    this.turnWhenSettled();
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

  /** The handler goes on, but its slot is only free once it returns, and what it answers no longer counts. */
  private loseLease(id: string): void {
    const run = this.running.get(id);
    if (!run || run.abandoned) return;
    const fields = { queue: this.queue, jobName: run.name, jobId: id };
    run.abandon(new LeaseLostError(`The lease of job '${id}' was lost; another worker may run it.`, fields));
    this.reporter.leaseLost(this.queue, run);
  }

  private sleep(): void {
    const owes = this.ended.length + this.goingBack.length > 0 || this.unanswered !== undefined;
    const sayAt = owes ? 0 : Number.POSITIVE_INFINITY;
    const lookAt = this.room > 0 ? this.lookAt : Number.POSITIVE_INFINITY;
    const renewAt = this.running.size > 0 ? this.renewAt : Number.POSITIVE_INFINITY;
    const until = Math.max(Math.min(sayAt, lookAt, renewAt), this.pausedUntil);
    if (until !== Number.POSITIVE_INFINITY) this.alarm.setFor(until);
  }

  private wakeUp(): void {
    if (this.turning) return;
    if (this.hasSomethingToSay()) this.turn();
    else this.sleep();
  }
}
