import type { TurnAnswer } from '../../store/job-store.js';
import type { SessionLoop } from '../session/session-loop.js';
import { NEVER } from '../session/turn-plan.js';
import type { TurnWriter } from '../session/turn-writer.js';
import type { SentTurn, WrittenTurn } from '../session/turns-in-flight.js';

/** Moves due jobs of a queue to somewhere else, by turns that do just that: it holds nothing itself, so it may end at any moment. */
export class Relay implements TurnWriter {
  readonly owesBy = NEVER;
  readonly holds = false;
  readonly mayOverlap = false;
  private isStopping = false;

  constructor(
    private readonly loop: SessionLoop,
    private readonly batch: number,
  ) {
    loop.setWriter(this);
  }

  get looks(): boolean {
    return !this.isStopping;
  }

  start(): void {
    // What is told before the first look is over may be newer than its answer.
    this.loop.listen();
    this.loop.speak();
  }

  /**
   * Moves no more. Resolves when the last turn was answered, cannot be, or after `withinMs`. May be called again: the shortest time
   * holds for all calls.
   */
  async stop(withinMs: number): Promise<void> {
    const { loop } = this;
    this.isStopping = true;
    if (loop.state === 'closed') return;
    if (loop.state === 'paused') {
      loop.closeSession();
      return;
    }
    loop.leaveSession();
    await loop.finishSession(withinMs);
  }

  /** The last turn takes this one off the lists of those that are there, and lets another one look in its place. */
  writeTurn(_isTimeToRenew: boolean, isLast: boolean): WrittenTurn {
    const common = { settlements: [], renewals: [], handlers: [], suspects: '' as const, isLast };
    const turn = isLast
      ? ({ ...common, limit: 0, standing: 'goes' } as const)
      : ({ ...common, limit: this.batch, standing: 'stays' } as const);
    return { turn, ended: [], renews: false };
  }

  onAnswer(_answer: TurnAnswer, _sent: SentTurn): void {}

  /** What Redis refuses need not be waited for, as nothing is held here. */
  onRefusal(): void {
    if (this.isStopping) this.loop.closeSession();
  }
}
