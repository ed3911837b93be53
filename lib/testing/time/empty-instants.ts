import { describe } from '../../core/read/describe.js';
import { ScheduledQueueTestError } from '../errors.js';

/** Something that moves the clock by little and little, and lets nothing run, would take minutes of real time. */
const MOST_WITHOUT_A_RUN = 100_000;

/** Counts the instants at which a call stops and nothing runs. */
export class EmptyInstants {
  private count = 0;
  private claimedBefore = 0;

  constructor(private readonly most = MOST_WITHOUT_A_RUN) {}

  /** A call begins, or a run has begun or gone on. */
  startOver(): void {
    this.count = 0;
  }

  /**
   * An instant is over. `claimed`: how many jobs were claimed so far, also by pops. `because`: what moved the clock there. Throws
   * `ScheduledQueueTestError` where there were too many.
   */
  passed(call: string, atMs: number, claimed: number, because: () => string): void {
    if (claimed > this.claimedBefore) this.startOver();
    this.claimedBefore = claimed;
    if (++this.count <= this.most) return;
    throw new ScheduledQueueTestError(
      `tester.${call}: more than ${this.most} instants without a run, the last one at ${describe(new Date(atMs))}: ${because()}. Let the test do without it, or let less time pass in one call.`,
    );
  }
}
