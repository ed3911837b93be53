// What can be read of a queue.

import type { BlackoutRule } from '../core/blackouts/blackout.js';
import type { GroupSettings } from '../core/options/group-options.js';
import type { SharedOptions } from '../core/options/shared-options.js';
import type { Envelope, StoredFailure, Unreadable } from './envelope.js';

/** How far the limits over all processes are used up. */
export interface LimitsUse {
  nowMs: number;
  /** How many jobs are under a lease. */
  running: number;
  /** How many have started within the rate's window, and when the first of those leaves it. */
  started: number;
  opensAtMs: number;
}

/** The blackouts of a queue. */
export interface KnownBlackouts {
  /** As they were set, without those that are over for good. */
  rules: readonly BlackoutRule[];
  /** Until when one lasts that is on, `Infinity` where nobody has computed that; `undefined` where none is on. */
  untilMs: number | undefined;
}

export type WaitingState = 'scheduled' | 'due';
/** The states of `list` and `find`. */
export type JobState = WaitingState | 'active' | 'completed' | 'dead';
/** How a job may have ended that is counted and listed nowhere, and is kept only if `keepEnded` says so. */
export type EndedState = 'discarded' | 'cancelled';
/** By which call a job was cancelled; `recurrence`: its recurrence was changed, paused or removed. */
export type CancelReason = 'cancel' | 'cancelTagged' | 'cancelRunning' | 'clear' | 'recurrence';

/** How many jobs of a queue are in each state. */
export interface JobCounts {
  /** Waiting for their due time. */
  scheduled: number;
  /** Due, and waiting for a worker. */
  due: number;
  /** Running or popped, under a lease. */
  active: number;
  /** As many as `keepCompleted` keeps. */
  completed: number;
  /** Dead letters, as many as `keepDead` keeps. */
  dead: number;
}

/** The counts of a queue and its earliest due time, read together. */
export interface QueueOverview {
  counts: JobCounts;
  /** When the earliest waiting job is due; `undefined` where none waits. */
  dueAtMs: number | undefined;
  /** The time now. Both by the store's clock. */
  nowMs: number;
}

/** How many jobs of one priority wait. */
export interface PriorityCounts {
  /** 1 to 1 000; a lower number is more urgent. */
  priority: number;
  /** Waiting for their due time. */
  scheduled: number;
  /** Due, and waiting for a worker. */
  due: number;
}

/** How many jobs of one version of a name there are. */
export interface VersionCounts {
  version: number;
  /** Waiting, due or not, or queued behind a run. */
  waiting: number;
  active: number;
  dead: number;
}

/** Which jobs a search wants: those that fit all that is given. */
export interface JobSelection {
  readonly states: readonly JobState[];
  /** Of any of these names. */
  readonly names?: readonly string[];
  /** With all of these tags. */
  readonly tags?: readonly string[];
  /** Of this group. */
  readonly group?: string;
  readonly idPrefix?: string;
  readonly dueFromMs?: number;
  /** Due before that. */
  readonly dueToMs?: number;
}

/** How much a step of a search does: looks at about `size` jobs, and tells at most `limit`. */
export interface SearchStep {
  readonly size: number;
  readonly limit: number;
}

export interface FoundJobs {
  jobs: StoredJob[];
  /** Where the next step goes on; `undefined` where the search is over. */
  next?: string;
  /** About how many jobs were looked at, and how many bytes that took. */
  looked: number;
  bytes: number;
}

/** Why no due job of a group may start now. `order`: under `'fifo'` the job that has begun is to end first. */
export type HeldBy = 'paused' | 'rate' | 'order' | 'concurrency';

/** What is known of a group. */
export interface KnownGroup {
  group: string;
  /** Jobs that have not begun or wait for another attempt, due or not; and how many of them are due. */
  waiting: number;
  due: number;
  /** Under a lease. */
  active: number;
  /** As `setGroup` set them. */
  settings: GroupSettings;
  /** Until when it is paused, `Infinity` where that has no end; `undefined` where it is not. */
  pausedUntilMs: number | undefined;
  /** The first of these that would keep a due job of it from starting now. */
  heldBy: HeldBy | undefined;
  /** When time ends what `heldBy` names; another limit may hold it then. `undefined` where a job has to end first, or somebody has to resume it. */
  opensAtMs: number | undefined;
}

/** A queue that somebody has used. */
export interface SeenQueue {
  name: string;
  /** When a process that uses it last said so; it says so every ten minutes. */
  lastSeenAtMs: number;
}

/** The stuck handlers of a worker. */
export interface StuckSince {
  count: number;
  /** What weight of places they take. */
  weight: number;
  /** The job of the one stuck longest, and since when. */
  id: string;
  name: string;
  sinceMs: number;
}

/** A worker that was there lately. */
export interface LiveWorker {
  id: string;
  host: string;
  pid: number;
  /** Of this package. */
  version: string;
  /** How many jobs it holds. */
  running: number;
  /** What weight of jobs it runs at once by handlers, and what weight of them runs. Jobs that it pulls count for neither. */
  concurrency: number;
  weight: number;
  /** The names that it handles, sorted. */
  handles: readonly string[];
  options: SharedOptions;
  /** Beside the jobs that it holds. */
  stuck?: StuckSince;
  lastSeenAtMs: number;
}

/** All that is known of a job, as it is stored. */
export interface StoredJob {
  id: string;
  state: JobState | EndedState;
  /** When it is due, or was. */
  dueAtMs: number;
  /** When it died or ended. */
  endedAtMs?: number;
  leaseUntilMs?: number;
  /** How many attempts have begun. */
  attempts: number;
  crashes: number;
  fence?: string;
  worker?: string;
  cancelRequested?: boolean;
  /** A waiting job that has one crash left: it waits for a process that holds nothing else. */
  isSuspect?: boolean;
  /** Of an occurrence that waits because the previous one has not ended: the id of that one. */
  waitsForEndOf?: string;
  /** Of an active job: when the job that is queued behind it is due. */
  queuedDueAtMs?: number;
  envelope: Envelope | Unreadable;
  /** The oldest first. */
  failures: readonly StoredFailure[];
  /** What the latest run has reported last, as JSON. */
  progress?: string;
  /** Of a completed job: what its handler returned, as JSON. */
  result?: string;
  /** Of a job that was discarded or cancelled: why, or by which call. Its payload is gone. */
  reason?: string;
}
