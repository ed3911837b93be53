import type { ScheduledJob } from '../job/scheduled-job.js';

/** A job that is being scheduled, as its trace sees it. */
export interface SentJob {
  readonly id?: string;
  readonly name: string;
  headers?: Readonly<Record<string, string>>;
}

/** The span of one call that schedules. */
export interface SendSpan {
  /** The context that the call hands on, to be kept with each of its jobs; `undefined` where there is none. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The call has been answered. `id` is that of its job, where it has one. */
  end(id?: string): void;
  fail(error: unknown): void;
}

/** The span of one run. */
export interface RunSpan {
  /** Calls the handler, with the span as the active one. */
  run<T>(handler: () => T): T;
  end(): void;
  fail(error: unknown): void;
}

/** Traces calls and runs. No method may throw or wait. Where an instance has none, nothing is made for it. */
export interface Tracer {
  /** Begins the span of a call that schedules these jobs in one queue. */
  beginSend(queue: string, jobs: readonly SentJob[]): SendSpan;
  /** Begins the span of a run that was claimed at `claimedAtMs` by Redis' clock. */
  beginRun(job: ScheduledJob, claimedAtMs: number): RunSpan;
  /** Tells that a pop, called at `calledAtMs` by this process's clock, got jobs, at least one. */
  received(
    queue: string,
    jobs: readonly { id: string; name: string; headers: Readonly<Record<string, string>> }[],
    calledAtMs: number,
  ): void;
}
