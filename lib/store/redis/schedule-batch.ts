import type { Answered, NewJob, ScheduledAnswer } from '../job-store.js';
import type { PendingSchedule } from './schedule-sender.js';

/** Jobs of one call on their way, and one promise for all: thousands of promises would cost more than the sending. */
export class ScheduleBatch {
  private left: number;
  readonly pending: readonly PendingSchedule[];

  constructor(
    jobs: readonly NewJob[],
    giveUpAt: number,
    private readonly answered: Answered,
    private readonly done: () => void,
  ) {
    this.left = jobs.length;
    this.pending = jobs.map((job, i) => new BatchedSchedule(job, giveUpAt, this, i));
  }

  settle(place: number, answer: ScheduledAnswer | undefined, error?: unknown): void {
    try {
      this.answered(place, answer, error);
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
    private readonly place: number,
  ) {}

  resolve(answer: ScheduledAnswer): void {
    this.batch.settle(this.place, answer);
  }

  reject(error: unknown): void {
    this.batch.settle(this.place, undefined, error);
  }
}
