import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, ScheduledJob } from '../../lib/index.js';

export interface Run {
  id: string;
  payload: unknown;
  attempt: number;
  /** A time of `performance.now()`. */
  startedAt: number;
}

/** Handles `work` at once and `long` work for as many ms as its payload says, fails at `failing`; keeps what has run. */
@Injectable()
export class Work {
  readonly runs: Run[] = [];
  readonly ended: Run[] = [];

  @OnScheduledJob('work')
  work(payload: unknown, job: ScheduledJob): void {
    this.ended.push(this.start(payload, job));
  }

  @OnScheduledJob('long')
  async long(payload: number, job: ScheduledJob): Promise<void> {
    const run = this.start(payload, job);
    await sleep(payload);
    this.ended.push(run);
  }

  @OnScheduledJob('failing', { maxAttempts: 2, backoff: { type: 'fixed', delayMs: 3_600_000 } })
  fail(payload: unknown, job: ScheduledJob): void {
    this.start(payload, job);
    throw new Error('as it should');
  }

  /** The ids that have run, and how often where that is more than once. */
  twice(): string[] {
    const counts = new Map<string, number>();
    for (const { id } of this.runs) counts.set(id, (counts.get(id) ?? 0) + 1);
    return [...counts].filter(([, count]) => count > 1).map(([id, count]) => `${id} ran ${count} times`);
  }

  has(id: string): boolean {
    return this.runs.some((run) => run.id === id);
  }

  private start(payload: unknown, { id, attempt }: ScheduledJob): Run {
    const run = { id, payload, attempt, startedAt: performance.now() };
    this.runs.push(run);
    return run;
  }
}
