/**
 * A job as its handler sees it: one run of it. An abstract class rather than an interface, so that an ordinary import
 * works in a decorated signature.
 */
export abstract class ScheduledJob<T = unknown> {
  abstract readonly id: string;
  abstract readonly queue: string;
  abstract readonly name: string;
  abstract readonly payload: T;
  abstract readonly headers: Readonly<Record<string, string>>;
  /** When this run was due. */
  abstract readonly dueAt: Date;
  /** When the job was scheduled, by Redis' clock. */
  abstract readonly createdAt: Date;
  /** Which run this is, from 1. Snoozing and going back at shutdown do not count. */
  abstract readonly attempt: number;
  abstract readonly maxAttempts: number;
  abstract readonly priority: number;
  /** How long after `dueAt` the job was claimed, in ms by Redis' clock. Never negative. */
  abstract readonly latenessMs: number;
  /** Grows with every claim of the job: whatever must refuse an outdated worker compares it. */
  abstract readonly fence: number;
  /**
   * Aborts when this run no longer counts or must end; `signal.reason` is a `JobTimeoutError`, a `LeaseLostError`, a
   * `JobCancelledError` or a `QueueClosedError`.
   */
  abstract readonly signal: AbortSignal;
  /** Tells a `progress` event with this value to whoever watches this process. */
  abstract progress(value: unknown): void;
  /**
   * Lets the event loop turn, renews the lease if that is due, and resolves once this run is known to be still the one that
   * counts. Rejects with `signal.reason` where it is not. Rarely needed: leases renew by themselves while the event loop
   * turns; for a handler that computes for long, between two pieces of its work. Waits while Redis is away.
   */
  abstract heartbeat(): Promise<void>;
}

/** What `schedule` answers; wherever a job is named, this will do. */
export interface ScheduledJobRef {
  readonly id: string;
  readonly queue: string;
  /** The name of the job; with `'taken'`, that of the job that has the id. */
  readonly name: string;
  /** When the job that has this id now is due; `null` with `'ended'`, as no job is there. */
  readonly dueAt: Date | null;
  /** Whether this call created the job: `status === 'created'`. */
  readonly created: boolean;
  readonly status: ScheduleStatus;
}

/**
 * What became of a call to `schedule`:
 * - `created`: the job is new;
 * - `replaced`: a job with this id waited, and the new one is in its place, with its own payload, due time and options;
 * - `queued`: a job with this id runs, and the new one takes its place as soon as the run leaves its handler, in whatever way;
 * - `waiting`, `active`, `dead`: a job with this id waits, runs or is dead, and nothing was changed;
 * - `ended`: the job with this id ended lately; nothing was changed, and no job is there;
 * - `taken`: a job of another name waits, runs or is dead under this id, and nothing was changed; `name` and `dueAt` are that job's.
 *
 * `replaced` and `queued` are only answered with `onDuplicate: 'replace'`; `waiting`, `active` and `dead` only without it.
 */
export type ScheduleStatus = 'created' | 'replaced' | 'queued' | 'waiting' | 'active' | 'dead' | 'ended' | 'taken';
