import { InvalidOptionsError } from '../core/errors.js';
import type { ScheduledJobDefinition } from '../core/job/definition.js';
import { FIRST_VERSION, jobVersion } from '../core/job/job-versions.js';
import { recurrenceOf } from '../core/job/occurrence-id.js';
import { type JobRecurrence, ScheduledJob } from '../core/job/scheduled-job.js';
import { DEFAULT_MAX_ATTEMPTS } from '../core/options/defaults.js';
import { readSchedule } from '../core/options/schedule-options.js';
import type { PayloadOf } from '../core/payload/payload-types.js';
import { jobGroup } from '../core/read/names.js';
import { integer, readOptions, type Shape } from '../core/read/shape.js';

/** What of a job made by `createScheduledJob` is to be otherwise. */
export type ScheduledJobOverrides = Partial<Omit<ScheduledJob, 'name' | 'payload' | 'progress' | 'heartbeat'>> & {
  /** Called with what the handler reports. */
  progress?: (value: unknown) => void;
};

const anything = (value: unknown) => ({ value: value as never });
const OVERRIDES: Shape<ScheduledJobOverrides> = {
  id: anything,
  queue: anything,
  version: jobVersion,
  headers: anything,
  dueAt: anything,
  createdAt: anything,
  attempt: integer(1),
  maxAttempts: integer(1),
  priority: integer(1),
  group: jobGroup,
  latenessMs: anything,
  fence: anything,
  recurrence: anything,
  signal: anything,
  progress: anything,
};

/**
 * Makes a job for the unit test of a handler: the method is called by the test itself, with no module and no queue. By default it is the
 * first attempt, due now, with a signal that never aborts. Throws `InvalidOptionsError` for an override that is none.
 *
 * @example
 * ```ts
 * const payload = { to: 'ada@example.com' };
 * await handlers.send(payload, createScheduledJob(sendReminder, payload, { attempt: 3 }));
 * ```
 */
export function createScheduledJob(job: ScheduledJobDefinition<void>): ScheduledJob<void>;
export function createScheduledJob<T>(
  job: ScheduledJobDefinition<T> | string,
  payload: NoInfer<PayloadOf<T>>,
  overrides?: ScheduledJobOverrides,
): ScheduledJob<T>;
export function createScheduledJob(
  job: ScheduledJobDefinition | string,
  payload?: unknown,
  overrides: ScheduledJobOverrides = {},
): ScheduledJob {
  return new CreatedJob(job, payload, overrides);
}

class CreatedJob extends ScheduledJob {
  readonly id: string;
  readonly queue: string;
  readonly name: string;
  readonly version: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly dueAt: Date;
  readonly createdAt: Date;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly priority: number;
  readonly group: string | undefined;
  readonly latenessMs: number;
  readonly fence: number;
  readonly recurrence: JobRecurrence | undefined;
  readonly signal: AbortSignal;
  private readonly report?: (value: unknown) => void;

  constructor(
    job: ScheduledJobDefinition | string,
    readonly payload: unknown,
    overrides: ScheduledJobOverrides,
  ) {
    super();
    readOptions(overrides, OVERRIDES, 'createScheduledJob', (message) => new InvalidOptionsError(message));
    const { name, version, queue, priority, group, settings, definition } = readSchedule(
      job,
      undefined,
      payload,
      'createScheduledJob',
    );
    const id = overrides.id ?? 'job-1';
    this.id = id;
    this.name = name;
    this.version = overrides.version ?? version ?? FIRST_VERSION;
    this.queue = overrides.queue ?? queue;
    this.headers = overrides.headers ?? settings.headers ?? {};
    this.dueAt = overrides.dueAt ?? new Date();
    this.createdAt = overrides.createdAt ?? this.dueAt;
    this.attempt = overrides.attempt ?? 1;
    this.maxAttempts = overrides.maxAttempts ?? definition?.settings.maxAttempts ?? DEFAULT_MAX_ATTEMPTS;
    this.priority = overrides.priority ?? priority;
    this.group = overrides.group ?? group;
    this.latenessMs = overrides.latenessMs ?? 0;
    this.fence = overrides.fence ?? this.attempt;
    this.recurrence = overrides.recurrence ?? recurrenceOf(id, undefined);
    this.signal = overrides.signal ?? new AbortController().signal;
    this.report = overrides.progress;
  }

  progress(value: unknown): void {
    this.report?.(value);
  }

  async heartbeat(): Promise<void> {
    this.signal.throwIfAborted();
  }
}
