import { MOST_JOBS_A_TURN } from '../../core/options/defaults.js';
import type { Claim, LastProgress, Settlement } from '../../store/job-store.js';
import type { EndedRun } from '../run/settlement-builder.js';
import type { Linger } from './linger.js';
import { AT_ONCE, NEVER } from './turn-plan.js';

/** What has become of jobs and goes with no turn yet: runs that have ended, and jobs that go back. */
export class PendingSettlements {
  private ended: EndedRun[] = [];
  private goingBack: (Claim & LastProgress)[] = [];

  /** `linger` lets some of the runs that have ended wait for a turn; without it none does. */
  constructor(private readonly linger?: Linger) {}

  /** By when a turn has to tell of it: `AT_ONCE`, `NEVER` where there is nothing, or a time of the clock. */
  get sayBy(): number {
    if (this.count === 0) return NEVER;
    return this.linger && !this.anyGoesBack ? this.linger.endsAt : AT_ONCE;
  }

  addEnded(run: EndedRun): void {
    this.ended.push(run);
    this.linger?.noteEnded(run);
  }

  /** For jobs that go back as if nothing had been. */
  release(...claims: readonly (Claim & LastProgress)[]): void {
    this.goingBack.push(...claims);
  }

  get count(): number {
    return this.ended.length + this.goingBack.length;
  }

  get anyGoesBack(): boolean {
    return this.goingBack.length > 0;
  }

  /** Takes up to so many out, for one turn: first the runs that have ended. Those of one call go together, also where they are a few more. */
  takeForTurn(most = MOST_JOBS_A_TURN): { ended: readonly EndedRun[]; settlements: readonly Settlement[] } {
    let count = most;
    while (count > 0 && this.ended[count]?.call && this.ended[count]!.call === this.ended[count - 1]!.call) count++;
    const ended = this.ended.splice(0, count);
    this.linger?.noteTaken(this.ended.length);
    const settlements: Settlement[] = ended.map(({ settlement }) => settlement);
    for (const { id, fence, progress } of this.goingBack.splice(0, most - ended.length))
      settlements.push({ id, fence, transition: 'release', progress });
    return { ended, settlements };
  }
}
