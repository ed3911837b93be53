import type { DeadSelection } from '../core/options/dead-filter.js';
import type { QueueSettings } from '../core/options/queue-options.js';
import type { RelayTarget } from '../core/options/relay-options.js';
import type { Due } from '../core/read/due.js';
import type { Answered, NewJob, ScheduledAnswer } from './new-job.js';
import type { JobCounts, JobState, LimitsUse, LiveWorker, PriorityCounts, StoredJob } from './queue-view.js';
import type { SeatNames, WorkerSeat } from './turn.js';

export type { DeadSelection } from '../core/options/dead-filter.js';
export type { Answered, NewJob, ScheduledAnswer } from './new-job.js';
export type * from './queue-view.js';
export type {
  ClaimedJob,
  HandlerRoom,
  LateJob,
  MissingJob,
  RecoveredJob,
  SeatNames,
  Settled,
  Settlement,
  SuspectWish,
  Turn,
  TurnAnswer,
  WorkerHints,
  WorkerSeat,
} from './turn.js';

/** Where the jobs lie. One method, one transition. */
export interface JobStore {
  /** Begins to connect, and tries until it has: so a wrong address is told in the log before anybody calls. Waits for nothing. */
  connect(): void;
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
  /** Puts one dead job, or those that are selected and dead by now, back to run from attempt 1; at most so many a second. Answers how many. */
  replayDead(queue: string, which: string | DeadSelection | undefined, due: Due, perSecond?: number): Promise<number>;
  /** Deletes the jobs that are selected and dead by now. Answers how many. */
  purgeDead(queue: string, which?: DeadSelection): Promise<number>;
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
  /**
   * Reads jobs of one state: due ones in claim order, scheduled ones by due time, ended ones latest first. `as` converts each job as
   * it arrives, so that its stored form need not be kept.
   */
  list<T = StoredJob>(
    queue: string,
    state: JobState,
    offset: number,
    limit: number,
    as?: (job: StoredJob) => T,
  ): Promise<T[]>;
  /** Reads the next jobs: due ones in claim order, then scheduled ones by due time. */
  peek<T>(queue: string, count: number, as: (job: StoredJob) => T): Promise<T[]>;
  /** Closes what was opened; calls that are under way fail. */
  close(): Promise<void>;
}
