import type { ScheduledJob } from '../job/scheduled-job.js';

/** The headers of a job. */
export type JobHeaders = Readonly<Record<string, string>>;

/** A job that is being scheduled, as its trace sees it. */
export interface SentJob {
  /** The id that the caller chose. */
  readonly id?: string;
  readonly name: string;
}

/** The span of one call that schedules in one queue. It ends once; what is told of it later changes nothing. */
export interface SendSpan {
  /** The headers of one of its jobs: those that were given, and the context that the call hands on; `undefined` where there is none. */
  headersWith(given: JobHeaders | undefined): JobHeaders | undefined;
  /** The call has been answered. `id`: that of its job; of no meaning where it is about several. */
  end(id?: string): void;
  fail(error: unknown): void;
}

/** The span of one run. It ends once; what is told of it later changes nothing. */
export interface RunSpan {
  /** Calls the handler, with the span as the active one. */
  run<T>(handler: () => T): T;
  end(): void;
  /** `kind`: what the run ended as, where `error` was not thrown but is a reason that the handler gave. */
  fail(error: unknown, kind?: string): void;
}

/** A job that a pop has got, as its trace sees it. */
export interface ReceivedJob extends SentJob {
  readonly headers: JobHeaders;
}

/** Traces calls and runs. No method may throw or wait. Where an instance has none, nothing is made for it. */
export interface Tracer {
  /** Begins the span of a call that schedules these jobs in one queue, at least one. */
  beginSend(queue: string, jobs: readonly SentJob[]): SendSpan;
  /** Headers without those of the context that a job has brought along, where they are still the same. */
  withoutContext(headers: JobHeaders, ofJob: JobHeaders): JobHeaders;
  /** Begins the span of a run, which was claimed so long after its job was created, by Redis' clock. */
  beginRun(job: ScheduledJob, ageMs: number): RunSpan;
  /** A pop is called. Answers what is to be told the jobs that it got, at least one. */
  beginReceive(queue: string): (jobs: readonly ReceivedJob[]) => void;
}
