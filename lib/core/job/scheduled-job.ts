/** A job as its handler sees it: one run of the job. A class and no interface, so that a plain `import` works in a decorated method. */
export abstract class ScheduledJob<T = unknown> {
  /** Unique in its queue: yours, or one that the library made. The same at every attempt. */
  abstract readonly id: string;
  /** The queue that the job was claimed from. */
  abstract readonly queue: string;
  /** The name by which it was scheduled. */
  abstract readonly name: string;
  /**
   * The version of its payload as it is stored, by the definition with which the job was scheduled; 1 without. `payload` is of the handler's
   * own version: it is upgraded before.
   */
  abstract readonly version: number;
  /** For a handler an instance of the payload class, if there is one; otherwise what JSON or the codec gives back. `undefined` for a job without a payload. */
  abstract readonly payload: T;
  /** The headers of definition and call together; `{}` if there are none. */
  abstract readonly headers: Readonly<Record<string, string>>;
  /** When this run was due. */
  abstract readonly dueAt: Date;
  /** When the job was scheduled, by Redis' clock. */
  abstract readonly createdAt: Date;
  /** Which run this is, from 1. Snoozing and going back at shutdown do not count. */
  abstract readonly attempt: number;
  /** How many attempts it has, the first one included; `attempt === maxAttempts` is the last. */
  abstract readonly maxAttempts: number;
  /** 1 to 1 000; a lower number is more urgent. */
  abstract readonly priority: number;
  /** Whose job it is, by the option `group` of the call or the definition; `undefined` for none. */
  abstract readonly group: string | undefined;
  /** How long after `dueAt` the job was claimed, in ms by the clock of Redis. Never negative. */
  abstract readonly latenessMs: number;
  /** A number that grows with every claim of the job. A database can compare it to refuse the writes of an outdated worker. */
  abstract readonly fence: number;
  /** Which occurrence of a recurrence the job is; `undefined` if it is none. */
  abstract readonly recurrence: JobRecurrence | undefined;
  /**
   * Aborts when this run must end or no longer counts. `signal.reason` is a `JobTimeoutError`, a `LeaseLostError`, a
   * `JobCancelledError` or a `QueueClosedError`.
   */
  abstract readonly signal: AbortSignal;
  /**
   * Says how far the job is, by any value that JSON can hold in 1 KiB: a number, a text, an object. It is kept with the job, so
   * `inspector.job` shows it in every process: at most once a second, the last value in any case. A value that cannot be kept is warned
   * about once for each job name, and a worker that has lost its lease writes nothing. Each call emits the event `progress` in this process.
   */
  abstract progress(value: unknown): void;
  /**
   * For a handler that computes for long, between two pieces of its work: lets the event loop turn and renews the lease if necessary.
   * Throws `signal.reason` if this run no longer counts. Other handlers do not need it: leases renew by themselves while the event
   * loop turns. Waits while Redis is away.
   */
  abstract heartbeat(): Promise<void>;
}

/** Which occurrence of which recurrence a job is. */
export interface JobRecurrence {
  /** The recurrence's. */
  readonly id: string;
  /** The instant that the rule names. `job.dueAt` is later by the jitter, and after a retry, a snooze or `reschedule`. */
  readonly at: Date;
  /** `true` if the occurrence was missed and is made up for, as `onMissed` says. */
  readonly missed: boolean;
}

/** The answer of `schedule`. You can pass it to every call that takes a job. */
export interface ScheduledJobRef {
  /** The id of the job: yours, or one that the library made. */
  readonly id: string;
  /** The queue of the job. */
  readonly queue: string;
  /** The name of the job; with `'taken'`, the name of the job that has the id. */
  readonly name: string;
  /** When the job that now has this id is due; `null` with `'ended'`, because there is no job. */
  readonly dueAt: Date | null;
  /** Whether this call created the job: `status === 'created'`. */
  readonly created: boolean;
  /** What the call did. */
  readonly status: ScheduleStatus;
}

/**
 * What a call to `schedule` did:
 * - `created`: the job is new;
 * - `replaced`: a job with this id was waiting; the new one is in its place, with its own payload, due time and options;
 * - `queued`: a job with this id is running; the new one takes its place as soon as the run leaves its handler;
 * - `waiting`, `active`, `dead`: nothing; a job with this id waits, runs or is dead;
 * - `ended`: nothing; the job with this id has ended lately, and there is no job;
 * - `taken`: nothing; a job of another name waits, runs or is dead under this id. `name` and `dueAt` are those of that job.
 *
 * `replaced` and `queued` need `onDuplicate: 'replace'`; `waiting`, `active` and `dead` occur only without it.
 */
export type ScheduleStatus = 'created' | 'replaced' | 'queued' | 'waiting' | 'active' | 'dead' | 'ended' | 'taken';
