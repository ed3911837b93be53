import type { ClaimedJob, Session, SessionHints, SuspectWish, Turn, TurnAnswer } from '../../store/job-store.js';
import { settledAs } from '../look/outcome-of.js';
import type { MemoryQueue } from '../store/memory-queue.js';
import type { TestRun } from './test-run.js';

/** What a name weighs whose handler fits into what is free, and what one weighs that does not, in a turn that claims one job. */
const FITS = 1;
const TOO_HEAVY = 2;

export interface ConductedSessionParts {
  readonly session: Session;
  readonly queue: MemoryQueue;
  /** Makes the run of a job that was claimed. */
  readonly open: (claim: ClaimedJob, isSecond: boolean) => TestRun;
}

/**
 * The session of a worker under test. It passes each turn on, with one rule added: a turn claims nothing, unless the conductor has called
 * `claim`; then one turn claims one job. So one run goes on at a time, in the order of the queue. The worker is never told to look again
 * by itself, as the conductor knows when time changes something.
 */
export class ConductedSession implements Session {
  /** Runs of which the queue has not heard the end yet: few, as each begins alone. */
  private runs: TestRun[] = [];
  private hints?: SessionHints;
  /** The last turn. */
  private underWay?: Promise<TurnAnswer>;
  /** The next turn may claim a job. */
  private mayClaim = false;
  /** What the conductor has claimed last, while it goes on to claim. */
  private last?: TestRun;
  private looksAgain = false;
  /** Lets a turn go on that waits for the next `claim`, so that one turn tells the end of a run and claims the next job. */
  private resume?: () => void;

  constructor(private readonly parts: ConductedSessionParts) {}

  turn(turn: Turn, signal: AbortSignal): Promise<TurnAnswer> {
    this.underWay = this.take(turn, signal);
    return this.underWay;
  }

  listen(hints: SessionHints): void {
    this.hints = hints;
    this.parts.session.listen({ look() {}, cancel: () => hints.cancel() });
  }

  leave(): void {
    this.letGo();
    this.hints = undefined;
    this.parts.session.leave();
  }

  /** Lets the worker claim one job. `isIdle`: there is none that it may run now. */
  async claim(): Promise<{ run?: TestRun; isIdle: boolean }> {
    const before = this.last;
    this.looksAgain = false;
    this.mayClaim = !this.parts.queue.outage.isOn;
    if (this.mayClaim) this.resume?.();
    while (this.mayClaim) {
      const { underWay } = this;
      await underWay;
      if (!this.mayClaim) break;
      this.hints?.look(0);
      // No turn goes out where the worker has no place free.
      if (this.underWay === underWay) this.mayClaim = false;
      else await this.underWay;
    }
    const run = this.last === before ? undefined : this.last;
    const isIdle = !run && !this.looksAgain;
    if (isIdle) this.letGo();
    return { run, isIdle };
  }

  /** The conductor claims no more: what is to be told goes out. */
  letGo(): void {
    this.last = undefined;
    this.resume?.();
  }

  /** The run of a job that is handed out once more after this one; `undefined` where the job is no longer held. */
  openAgain(run: TestRun): TestRun | undefined {
    const fence = this.parts.queue.handOutAgain(run.claim);
    this.forget(run);
    if (fence === undefined) return undefined;
    const second = this.open({ ...run.claim, fence }, true);
    if (this.last === run) this.last = second;
    return second;
  }

  /** Nothing will be told of this run any more. */
  forget(run: TestRun): void {
    const at = this.runs.indexOf(run);
    if (at >= 0) this.runs.splice(at, 1);
  }

  /** The ids of jobs that a worker holds whose leases it renews. */
  held(): Set<string> {
    return new Set(this.runs.filter(({ isSettled }) => !isSettled).map(({ claim }) => claim.id));
  }

  private async take(turn: Turn, signal: AbortSignal): Promise<TurnAnswer> {
    if (this.last?.isOver && !this.mayClaim)
      await new Promise<void>((resolve) => {
        this.resume = resolve;
      });
    this.resume = undefined;
    const claims = this.mayClaim && turn.limit > 0;
    if (claims) this.mayClaim = false;
    const answer = await this.parts.session.turn(claims ? forOneJob(turn) : forNone(turn), signal);
    this.noteSettled(turn, answer);
    if (claims) {
      this.looksAgain = answer.sleepMs === 0;
      const [claim] = answer.claimed;
      if (claim) this.last = this.open(claim, false);
    }
    answer.sleepMs = Number.POSITIVE_INFINITY;
    return answer;
  }

  private open(claim: ClaimedJob, isSecond: boolean): TestRun {
    const run = this.parts.open(claim, isSecond);
    this.runs.push(run);
    return run;
  }

  private noteSettled({ settlements }: Turn, { settled }: TurnAnswer): void {
    for (const [i, { fence, transition }] of settlements.entries()) {
      const run = this.runs.find(({ claim }) => claim.fence === fence);
      if (!run) continue;
      // It went back before it began.
      if (transition === 'release' && !run.job) run.over();
      settledAs(run.told, settled[i]!);
      this.forget(run);
    }
  }
}

/** With a limit of 1 a handler that is too heavy for what is free weighs 2: its job waits, and no lighter one goes before it. */
function forOneJob(turn: Turn): Turn {
  const weightOf = (weight: number) => (weight > turn.limit ? TOO_HEAVY : FITS);
  const handlers = turn.handlers.map((handler) => ({ ...handler, weight: weightOf(handler.weight) }));
  return { ...turn, handlers, limit: FITS };
}

/** A worker that is about to claim a suspect keeps its reservation until it may. */
function forNone(turn: Turn): Turn {
  if (turn.limit === 0) return turn;
  const wishes: Partial<Record<SuspectWish, SuspectWish>> = { claim: 'keep', take: '', reserve: '' };
  return { ...turn, limit: 0, suspects: wishes[turn.suspects] ?? turn.suspects };
}
