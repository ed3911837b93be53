import type { CallOff, Clock } from '../../core/clock.js';
import { QueueUnavailableError, type ScheduledQueueErrorFields } from '../../core/errors.js';
import type { SessionLoop } from '../session/session-loop.js';

interface WaitingPop<Job> {
  readonly count: number;
  resolve(jobs: Job[]): void;
  reject(error: Error): void;
  callOff?: CallOff;
  /** A turn in flight asks for it. */
  isAsked: boolean;
  /** A turn has found nothing for it. */
  wasAnswered: boolean;
  /** `waitMs` is over: it ends with the next answer. */
  isOver: boolean;
}

/**
 * Pops that have got nothing yet, in the order in which they came. Each ends once: with jobs; with none, when its time is over
 * and at least one turn has found nothing; or with an error, when Redis has kept it waiting for longer than a call may take.
 */
export class WaitingPops<Job> {
  private readonly pops = new Set<WaitingPop<Job>>();

  constructor(
    private readonly queue: string,
    private readonly answerWithinMs: number,
    private readonly clock: Clock,
    private readonly loop: SessionLoop,
  ) {}

  add(count: number, waitMs: number): Promise<Job[]> {
    return new Promise((resolve, reject) => {
      const pop: WaitingPop<Job> = { count, resolve, reject, isAsked: false, wasAnswered: false, isOver: false };
      this.pops.add(pop);
      if (waitMs > 0) pop.callOff = this.clock.after(waitMs, () => this.timeIsOver(pop));
      else this.timeIsOver(pop);
    });
  }

  get isEmpty(): boolean {
    return this.pops.size === 0;
  }

  /** How many jobs are wanted in all. */
  get wanted(): number {
    let wanted = 0;
    for (const { count } of this.pops) wanted += count;
    return wanted;
  }

  /** True if no turn has told one of them yet whether there is something. */
  get anyUnanswered(): boolean {
    for (const { wasAnswered } of this.pops) if (!wasAnswered) return true;
    return false;
  }

  /** Whether somebody goes on waiting where the next turn finds nothing. */
  get anyWaits(): boolean {
    for (const { isOver } of this.pops) if (!isOver) return true;
    return false;
  }

  /** A turn goes out that asks for all that wait. */
  ask(): void {
    for (const pop of this.pops) pop.isAsked = true;
  }

  /** First come, first served, each up to its count. Answers what nobody waits for. */
  deliver(jobs: readonly Job[]): readonly Job[] {
    let from = 0;
    for (const pop of this.pops) {
      if (from >= jobs.length) break;
      const own = jobs.slice(from, from + pop.count);
      from += own.length;
      this.end(pop);
      pop.resolve(own);
    }
    return jobs.slice(from);
  }

  /** Whoever has been asked for and is still here has got nothing; where there is `more`, the next turn tells. */
  noteAnswer(more: boolean): void {
    for (const pop of this.pops) {
      if (!pop.isAsked) continue;
      pop.isAsked = false;
      pop.wasAnswered ||= !more;
      if (pop.isOver && pop.wasAnswered) this.endWithNone(pop);
    }
  }

  /** The turn in flight was refused. */
  endRefused(error: Error): void {
    for (const pop of this.pops) {
      if (!pop.isAsked) continue;
      this.end(pop);
      pop.reject(error);
    }
  }

  endAll(): void {
    for (const pop of this.pops) this.endWithNone(pop);
  }

  private timeIsOver(pop: WaitingPop<Job>): void {
    if (pop.wasAnswered && !pop.isAsked) {
      this.endWithNone(pop);
      this.loop.saySoon();
      return;
    }
    pop.isOver = true;
    pop.callOff = this.clock.after(this.answerWithinMs, () => {
      this.end(pop);
      const fate = 'What this call may have claimed goes back.';
      pop.reject(noAnswer('pop', this.answerWithinMs, fate, this.loop.trouble, { queue: this.queue }));
      this.loop.saySoon();
    });
  }

  private endWithNone(pop: WaitingPop<Job>): void {
    this.end(pop);
    pop.resolve([]);
  }

  private end(pop: WaitingPop<Job>): void {
    pop.callOff?.();
    this.pops.delete(pop);
  }
}

/** The error of a call that Redis has not answered in time. `fate`: what becomes of it; `cause`: why Redis refused the last turn, or cannot be reached. */
export function noAnswer(
  call: string,
  withinMs: number,
  fate: string,
  cause: unknown,
  about: ScheduledQueueErrorFields,
): QueueUnavailableError {
  const why = cause instanceof Error ? `: ${cause.message.replace(/\.$/, '')}` : '';
  return new QueueUnavailableError(
    `${call}: Redis has not answered within commandTimeoutMs (${withinMs} ms)${why}. ${fate}`,
    'unknown',
    cause === undefined ? about : { ...about, cause },
  );
}
