import type { TurnAnswer } from '../../store/job-store.js';
import type { Party } from '../session/party.js';
import type { Talk } from '../session/talk.js';
import type { SentTurn, WrittenTurn } from '../session/turns-in-flight.js';

/** Moves due jobs of a queue to somewhere else, by turns that do just that: it holds nothing itself, so it may end at any moment. */
export class Relay implements Party {
  readonly owes = false;
  readonly holds = false;
  readonly isSorting = false;
  readonly mayOverlap = false;
  private ended?: Promise<void>;
  private isStopping = false;

  constructor(
    private readonly talk: Talk,
    private readonly batch: number,
  ) {
    talk.join(this);
  }

  get looks(): boolean {
    return !this.isStopping;
  }

  start(): void {
    // What is told before the first look is over may be newer than its answer.
    this.talk.listen();
    this.talk.speak();
  }

  /** Moves no more. Resolves when the last turn was answered, cannot be, or after `withinMs`. */
  stop(withinMs: number): Promise<void> {
    this.isStopping = true;
    this.ended ??= this.end(withinMs);
    return this.ended;
  }

  /** The last turn takes this one off the lists of those that are there, and lets another one look in its place. */
  write(_isTimeToRenew: boolean, isLast: boolean): WrittenTurn {
    const common = { settlements: [], renewals: [], handlers: [], suspects: '' as const, isLast };
    const turn = isLast
      ? ({ ...common, limit: 0, standing: 'goes' } as const)
      : ({ ...common, limit: this.batch, standing: 'stays' } as const);
    return { turn, ended: [], renews: false };
  }

  take(_answer: TurnAnswer, _sent: SentTurn): void {}

  /** What Redis refuses need not be waited for, as nothing is held here. */
  refused(): void {
    if (this.isStopping) this.talk.close();
  }

  private async end(withinMs: number): Promise<void> {
    if (this.talk.state === 'paused') {
      this.talk.close();
      return;
    }
    this.talk.leave();
    await this.talk.finish(withinMs);
  }
}
