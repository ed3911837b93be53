import type { NewJob, ScheduledAnswer, ScheduledBatch } from '../job-store.js';
import type { PendingSchedule } from './schedule-sender.js';

/** Jobs of one call on their way, and one promise for all: thousands of promises would cost more than the sending. */
export class ScheduleBatch {
  private readonly answers: (ScheduledAnswer | undefined)[] = [];
  private readonly errors: unknown[] = [];
  private left: number;
  readonly pending: readonly PendingSchedule[];

  constructor(
    jobs: readonly NewJob[],
    giveUpAt: number,
    private readonly done: (batch: ScheduledBatch) => void,
  ) {
    this.left = jobs.length;
    this.pending = jobs.map((job, i) => new BatchedSchedule(job, giveUpAt, this, i));
  }

  settle(index: number, answer: ScheduledAnswer | undefined, error?: unknown): void {
    this.answers[index] = answer;
    if (!answer) this.errors[index] = error;
    if (--this.left === 0) this.done({ answers: this.answers, errors: this.errors });
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
