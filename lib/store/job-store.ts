import type { Due } from '../core/due.js';
import type { DeadReason } from '../core/events.js';
import type { OnLate } from '../core/lateness.js';
import type { QueueSettings } from '../core/queue-options.js';
import type { RelayTarget } from '../core/relay-options.js';
import type { Answered, NewJob, ScheduledAnswer } from './new-job.js';
import type { JobCounts, JobState, LimitsUse, LiveWorker, PriorityCounts, StoredJob } from './queue-view.js';

export type { Answered, NewJob, ScheduledAnswer } from './new-job.js';
export type {
  JobCounts,
  JobState,
  LimitsUse,
  LiveWorker,
  PriorityCounts,
  StoredJob,
  WaitingState,
} from './queue-view.js';

/** A job that this worker holds until its lease ends. */
export interface ClaimedJob {
  id: string;
  fence: string;
  dueAtMs: number;
  claimedAtMs: number;
  attempt: number;
  /** How often a worker died with it. */
  crashes: number;
  envelope: string;
}

/** How a claimed job leaves its worker, or how much longer it stays. Counts only where the fence is still the job's. */
export type Settlement = { id: string; fence: string } & (
  | { transition: 'complete'; result?: string; idWasChosen: boolean }
  | { transition: 'retry'; delayMs: number; failure: string }
  /** `ran`: the attempt began, and is counted. `failed`: it threw, and is counted as failed. */
  | { transition: 'dead'; failure: string; ran: boolean; failed: boolean; idWasChosen: boolean }
  /** Goes back for later; the attempt is not counted. */
  | { transition: 'snooze'; due: Due }
  | { transition: 'discard'; idWasChosen: boolean }
  | { transition: 'release' }
  | { transition: 'cancel' }
  /** Stays with its holder: the lease ends so long from now. */
  | { transition: 'extend'; leaseMs: number }
);

/**
 * What a settlement came to: it counted; it counted, and the job that was queued behind the run has taken its place; the job ended
 * as cancelled instead, because somebody had asked for that (a queued one has taken its place then, too); or the lease was no
 * longer held, and nothing changed.
 */
export type Settled = 'counted' | 'replaced' | 'cancelled' | 'lost';

/** A job whose lease ran out. `dead`: once too often. `cancelled`: somebody had asked for that. */
export interface RecoveredJob {
  id: string;
  name: string;
  attempt: number;
  /** What became of it; a reason where it is dead. */
  fate: 'waiting' | 'cancelled' | DeadReason;
}

/** A job that nobody could begin in time, and what became of it for that. */
export interface LateJob {
  id: string;
  name: string;
  /** How many have begun; 0 where it is late at its first. */
  attempt: number;
  latenessMs: number;
  onLate: OnLate;
}

/** A job that could not be handed out: what it was made of is gone, or, where a relay was to move it, unreadable. */
export interface MissingJob {
  id: string;
  name: string;
  /** How many have begun. */
  attempt: number;
  reason: Extract<DeadReason, 'envelope-missing' | 'unreadable'>;
}

/** What a run of one name weighs here, and how many more its handler may run. */
export interface HandlerRoom {
  name: string;
  weight: number;
  free: number;
}

/** One round trip of a worker. */
export interface Turn {
  settlements: readonly Settlement[];
  renewals: readonly { id: string; fence: string }[];
  /** What weight of jobs there is room for; 0 claims none. */
  room: number;
  /** Names whose handlers have a weight or a limit of their own. */
  handlers: readonly HandlerRoom[];
  /** Where the last turn stopped looking, or '' for the start. */
  lookFrom: string;
  /** Whether this is the worker's last turn: it is no longer counted among those that are there. */
  leaving: boolean;
  /**
   * Of a pull, which does not go on looking as a worker does. `waits`: until something is claimed, somebody waits for it;
   * `goes`: nobody waits after this turn.
   */
  pull?: 'waits' | 'goes';
}

export interface TurnAnswer {
  /** For each settlement in order. */
  settled: readonly Settled[];
  /** Ids of leases that are no longer this worker's. */
  lost: readonly string[];
  /** Ids of renewed jobs that somebody wants cancelled. */
  toCancel: readonly string[];
  recovered: readonly RecoveredJob[];
  late: readonly LateJob[];
  /** Waiting jobs that are dead because somebody, or an eviction, took what they were made of, or damaged it. */
  missing: readonly MissingJob[];
  /** Dead jobs that were deleted, as there are more or older ones than are kept. */
  dropped: readonly { id: string; name: string }[];
  claimed: readonly ClaimedJob[];
  /** How long until this worker should look again, in ms and fractions; `undefined` when it had no room to look. */
  sleepMs?: number;
  lookFrom: string;
  /** Another worker was the last to fill sixteen places or more. */
  hasCompany: boolean;
}

export interface WorkerHints {
  /** Something earlier than known may be due in so many ms. */
  look(inMs: number): void;
  /** Somebody wants a job cancelled that this worker may hold: renewing tells which. */
  renew(): void;
}

/** Which names a worker handles, and whether some of their handlers have limits of their own. */
export interface SeatNames {
  names: readonly string[];
  limited: boolean;
}

/** A worker's place at one queue: who it is, and which names it handles. */
export interface WorkerSeat {
  /**
   * Settles, renews, recovers and claims in one step; waits out an outage until `signal` aborts. Where it throws, the same
   * turn, the very object, must be sent until it is answered: it may have happened.
   */
  turn(turn: Turn, signal: AbortSignal): Promise<TurnAnswer>;
  /** Hears what others say to this worker. What is said is a hint: it may be lost. */
  listen(hints: WorkerHints): void;
  /** Stops listening. */
  leave(): void;
}

/** Where the jobs lie. One method, one transition. */
export interface JobStore {
  /** Adds jobs to a queue, each whole or not at all. */
  schedule(queue: string, jobs: readonly NewJob[]): Promise<ScheduledAnswer>[];
  /** The same for many, none of which replaces another: `answered` hears of each; resolves after the last. */
  scheduleMany(queue: string, jobs: readonly NewJob[], answered: Answered): Promise<void>;
  /** Takes a waiting job out of its queue, or the one queued behind a running job; false if there is neither. */
  cancel(queue: string, id: string): Promise<boolean>;
  /** Asks for a running job to be cancelled; false if it does not run. */
  cancelRunning(queue: string, id: string): Promise<boolean>;
  /** Deletes a job that waits, is dead, or has completed and is kept; false if it runs or is not there. */
  remove(queue: string, id: string): Promise<boolean>;
  /** Takes all jobs that wait by now, or are queued behind running ones, out of their queue. Answers how many. */
  clear(queue: string): Promise<number>;
  /** Gives a waiting job, or the one queued behind a running job, another due time; false if there is neither. */
  reschedule(queue: string, id: string, due: Due): Promise<boolean>;
  /** Takes the waiting and queued jobs that carry a tag out of their queue, in atomic steps whose ids `told` hears. Answers how many. */
  cancelTagged(queue: string, tag: string, told: (ids: readonly string[]) => void): Promise<number>;
  /** Moves their due times, each once: later by so many ms, or earlier where below 0. Answers how many were moved. */
  shiftTagged(queue: string, tag: string, byMs: number): Promise<number>;
  /** Puts one dead job, or all that are dead by now, back to run from attempt 1; at most so many a second. Answers how many. */
  replayDead(queue: string, id: string | undefined, due: Due, perSecond?: number): Promise<number>;
  /** Deletes all jobs that are dead by now. Answers how many. */
  purgeDead(queue: string): Promise<number>;
  /** Lets nothing of a queue be claimed, for so long or until it is resumed. */
  pause(queue: string, forMs?: number): Promise<void>;
  /** Lets a queue's jobs be claimed again. */
  resume(queue: string): Promise<void>;
  /** Tells until when a queue is paused, `Infinity` where that has no end; `undefined` where it is not. */
  pausedUntil(queue: string): Promise<number | undefined>;
  /** Tells how far a queue's limits over all processes are used up. */
  limits(queue: string): Promise<LimitsUse>;
  /** Takes a place as a worker of a queue that handles these names. */
  seat(queue: string, worker: string, names: SeatNames, settings: QueueSettings): WorkerSeat;
  /** Takes a place to pull jobs of these names from a queue, or of every name, also of those to come. */
  pullSeat(queue: string, worker: string, names: readonly string[] | undefined, settings: QueueSettings): WorkerSeat;
  /**
   * Takes a place whose turns move due jobs to a stream or a list: a turn claims nothing, and what it had room for is gone from the
   * queue. Throws `InvalidOptionsError` where the target cannot be one of this queue.
   */
  relaySeat(
    queue: string,
    worker: string,
    names: readonly string[] | undefined,
    target: RelayTarget,
    settings: QueueSettings,
  ): WorkerSeat;
  /** Counts the jobs of a queue by state. */
  counts(queue: string): Promise<JobCounts>;
  /** Counts the waiting jobs of a queue by priority, most urgent first. */
  countsByPriority(queue: string): Promise<PriorityCounts[]>;
  /** Tells when the earliest waiting job is due, and the time now, both by Redis' clock. */
  nextDue(queue: string): Promise<{ dueAtMs: number | undefined; nowMs: number }>;
  /** Reads the counters of a queue. */
  stats(queue: string): Promise<Record<string, number>>;
  /** Reads one job. */
  job(queue: string, id: string): Promise<StoredJob | undefined>;
  /** Tells which workers that are alive handle a name: how many, and some of them. */
  handledBy(queue: string, name: string): Promise<{ count: number; workers: string[] }>;
  /** Tells which workers are alive, by id. */
  workers(queue: string): Promise<LiveWorker[]>;
  /** Reads jobs of one state: waiting ones in claim order, ended ones latest first. */
  list(queue: string, state: JobState, offset: number, limit: number): Promise<StoredJob[]>;
  /** Closes what was opened; calls that are under way fail. */
  close(): Promise<void>;
}
