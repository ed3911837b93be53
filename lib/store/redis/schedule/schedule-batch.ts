import type { Answered, NewJob, ScheduledAnswer } from '../../job-store.js';
import type { PendingSchedule } from './schedule-sender.js';

/** Jobs of one call on their way, and one promise for all: thousands of promises would cost more than the sending. */
export class ScheduleBatch {
  constructor(
    private left: number,
    private readonly giveUpAt: number,
    private readonly answered: Answered,
    private readonly done: () => void,
  ) {}

  /** The job at this index of the call. It is not kept: once it has been answered nobody needs it. */
  pending(job: NewJob, index: number): PendingSchedule {
    return new BatchedSchedule(job, this.giveUpAt, this, index);
  }

  settle(index: number, answer: ScheduledAnswer | undefined, error?: unknown): void {
    try {
      this.answered(index, answer, error);
    } finally {
      if (--this.left === 0) this.done();
    }
  }
}

class BatchedSchedule implements PendingSchedule {
  constructor(
    readonly job: NewJob,
    readonly giveUpAt: number,
    private readonly batch: ScheduleBatch,
    private readonly index: number,
  ) {}

  resolve(answer: ScheduledAnswer): void {
    this.batch.settle(this.index, answer);
  }

  reject(error: unknown): void {
    this.batch.settle(this.index, undefined, error);
  }
}
