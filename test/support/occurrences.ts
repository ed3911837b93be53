import { Injectable } from '@nestjs/common';
import { type JobRecurrence, OnScheduledJob, ScheduledJob } from '../../lib/index.js';

export interface SeenOccurrence {
  id: string;
  payload: unknown;
  recurrence: JobRecurrence | undefined;
  dueAt: Date;
}

/** Handles `tick` at once, and `slow` until `release` is called; keeps what it has seen, in order. */
@Injectable()
export class Occurrences {
  readonly seen: SeenOccurrence[] = [];
  private waiting: (() => void)[] = [];

  @OnScheduledJob('tick')
  tick(payload: unknown, { id, recurrence, dueAt }: ScheduledJob): void {
    this.seen.push({ id, payload, recurrence, dueAt });
  }

  @OnScheduledJob('slow')
  async slow(payload: unknown, job: ScheduledJob): Promise<void> {
    this.tick(payload, job);
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Lets all that run now end. */
  release(): void {
    for (const end of this.waiting.splice(0)) end();
  }

  get running(): number {
    return this.waiting.length;
  }

  /** The nominal instants, as often as they have begun, in the order in which they have. */
  get instants(): number[] {
    return this.seen.map(({ recurrence }) => recurrence!.at.getTime());
  }

  get ids(): string[] {
    return this.seen.map(({ id }) => id);
  }
}
