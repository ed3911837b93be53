import { ScheduledJob } from './scheduled-job.js';

/** What is known of such a job. */
export type KnownOfJob = Pick<ScheduledJob, 'queue' | 'id' | 'name'> &
  Partial<Pick<ScheduledJob, 'attempt' | 'headers' | 'dueAt' | 'latenessMs' | 'fence'>>;

/**
 * A job that a line of the log is about and that has no run in this process, such as one whose lease ran out elsewhere. Of all that is
 * not known of it, numbers are NaN and dates invalid: both are null in JSON.
 */
export class ReportedJob extends ScheduledJob<undefined> {
  readonly queue: string;
  readonly id: string;
  readonly name: string;
  readonly version = Number.NaN;
  readonly payload = undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly dueAt: Date;
  readonly createdAt = new Date(Number.NaN);
  readonly attempt: number;
  readonly maxAttempts = Number.NaN;
  readonly priority = Number.NaN;
  readonly group = undefined;
  readonly latenessMs: number;
  readonly fence: number;
  readonly recurrence = undefined;
  readonly signal: AbortSignal = new AbortController().signal;

  constructor(known: KnownOfJob) {
    super();
    this.queue = known.queue;
    this.id = known.id;
    this.name = known.name;
    this.headers = known.headers ?? {};
    this.dueAt = known.dueAt ?? new Date(Number.NaN);
    this.attempt = known.attempt ?? Number.NaN;
    this.latenessMs = known.latenessMs ?? Number.NaN;
    this.fence = known.fence ?? Number.NaN;
  }

  progress(): void {}

  async heartbeat(): Promise<void> {}
}

/** A job as log lines call it. */
export function titleOf({ queue, id, name }: { queue: string; id: string; name: string }, begins = false): string {
  return `${begins ? 'Job' : 'job'} '${name}' (${id}) of queue '${queue}'`;
}
