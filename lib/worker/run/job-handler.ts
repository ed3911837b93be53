import { DuplicateHandlerError } from '../../core/errors.js';
import { withCurrentJob } from '../../core/job/current-job.js';
import type { JobVersions } from '../../core/job/job-versions.js';
import type { ScheduledJob } from '../../core/job/scheduled-job.js';
import type { BatchSettings } from '../../core/options/batch-options.js';
import type { RunSettings } from '../../core/options/run-settings.js';
import type { PayloadClass } from '../../core/payload/payload-class.js';

/** A handler of the jobs of one name in one queue. */
interface NamedHandler {
  readonly queue: string;
  readonly name: string;
  /** Where it stands in the application, such as `ReminderHandlers.send (RemindersModule)`. */
  readonly place: string;
  /** What holds for jobs whose call to `schedule` says nothing of its own. */
  readonly settings: RunSettings;
  readonly payload?: PayloadClass;
  /** Which versions of the job it runs, and how it reads them; missing for version 1 alone. */
  readonly versions?: JobVersions;
}

/** Runs one job a call. */
export interface SingleHandler extends NamedHandler {
  readonly runBatch?: undefined;
  /** Resolves to the job's result, throws where the attempt failed, a `PayloadRefusal` where no attempt can succeed. */
  run(payload: unknown, job: ScheduledJob): unknown;
}

/** Takes a job out of the call that is about to begin: its attempt ends with this error, which may be a `PayloadRefusal`. */
export type TakeOut = (job: ScheduledJob, error: unknown) => void;

/** Runs many jobs a call. */
export interface BatchHandler extends NamedHandler {
  readonly settings: RunSettings & { readonly batch: BatchSettings };
  readonly run?: undefined;
  /**
   * Runs these jobs, at least one, with their payloads in the same order. Those that are taken out do not reach the method; where all are,
   * it is not called. Resolves to what became of the others, a `JobOutcome.each` for each by itself; throws where the attempt of each failed.
   */
  runBatch(payloads: unknown[], jobs: ScheduledJob[], takeOut: TakeOut): unknown;
}

/** What runs the jobs of one name in one queue. */
export type JobHandler = SingleHandler | BatchHandler;

/** The handlers of this process: one for each name in a queue. Unless a method says otherwise, those of the queues that it runs. */
export class HandlerRegistry {
  private readonly queues = new Map<string, Map<string, JobHandler>>();

  /**
   * `tracksJobs`: below each handler `currentScheduledJob` answers the job that it runs. `runs`: whether this process runs the jobs of a
   * queue; it leaves those of the others to other processes.
   */
  constructor(
    private readonly tracksJobs = false,
    private readonly runs: (queue: string) => boolean = () => true,
  ) {}

  /** Throws `DuplicateHandlerError`, which names both places. */
  add(handler: JobHandler): void {
    const { queue, name, place } = handler;
    const handlers = this.queues.get(queue) ?? new Map<string, JobHandler>();
    this.queues.set(queue, handlers);
    const other = handlers.get(name);
    if (other) {
      throw new DuplicateHandlerError(
        `Job '${name}' of queue '${queue}' has two handlers: ${other.place} and ${place}. Remove one of them, or give one another name or queue.`,
        { queue, jobName: name },
      );
    }
    // No job is the current one below a call that has many.
    handlers.set(name, this.tracksJobs && handler.run ? { ...handler, run: withCurrentJob(handler.run) } : handler);
  }

  all(): JobHandler[] {
    return this.found().filter(({ queue }) => this.runs(queue));
  }

  /** Those of the queues whose jobs this process leaves to other processes. */
  notRunHere(): JobHandler[] {
    return this.found().filter(({ queue }) => !this.runs(queue));
  }

  /** Those of every queue. */
  found(): JobHandler[] {
    return [...this.queues.values()].flatMap((handlers) => [...handlers.values()]);
  }

  /** Queues that have handlers. */
  queueNames(): string[] {
    return [...this.queues.keys()].filter((queue) => this.runs(queue));
  }

  handlersOf(queue: string): ReadonlyMap<string, JobHandler> {
    return (this.runs(queue) && this.queues.get(queue)) || new Map();
  }
}
