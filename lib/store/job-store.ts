import type { BlackoutRule } from '../core/blackouts/blackout.js';
import type { NewJob } from '../core/job/new-job.js';
import type { ScheduleStatus } from '../core/job/scheduled-job.js';
import type { DeadSelection } from '../core/options/dead-filter.js';
import type { GroupSettings } from '../core/options/group-options.js';
import type { RelayTarget } from '../core/options/relay-options.js';
import type { Due } from '../core/read/due.js';
import type { QueueDeclarations } from './declarations.js';
import type { QueueEvents } from './events.js';
import type {
  FoundJobs,
  JobCounts,
  JobSelection,
  JobState,
  KnownBlackouts,
  KnownGroup,
  LimitsUse,
  LiveWorker,
  PriorityCounts,
  QueueOverview,
  SearchStep,
  SeenQueue,
  StoredJob,
  VersionCounts,
} from './queue-view.js';
import type { QueueRecurrences } from './recurrences.js';
import type { Session, SessionNames } from './session.js';

export type { NewJob } from '../core/job/new-job.js';
export type { DeadSelection } from '../core/options/dead-filter.js';
export type * from './declarations.js';
export type { Envelope, EnvelopeSettings, Failure, StoredFailure, Unreadable } from './envelope.js';
export type { QueueEvents, ReadEvents } from './events.js';
export type * from './queue-view.js';
export type * from './recurrences.js';
export type * from './session.js';

/** Where the jobs lie. It was given the settings of its queues when it was opened. */
export interface JobStore {
  /** Begins to connect, and tries until it has: so a wrong address is told in the log before anybody calls. Waits for nothing. */
  connect(): void;
  /** One queue; the same object each time. Nothing is sent for it. */
  queue(name: string): QueueStore;
  /** The same queues as producers see them: a call that changes one is answered once as many replicas have the change as the store was told. */
  readonly confirmed: Pick<JobStore, 'queue' | 'transaction'>;
  /** A MULTI of the caller's own. Throws `InvalidScheduleError` where no job can be appended to it. */
  transaction(multi: unknown): Transaction;
  /** The queues in which somebody has scheduled or worked, by name. */
  queues(): Promise<SeenQueue[]>;
  /**
   * Asks the store for the time: answers by how many ms its clock is ahead of this process's. Throws `QueueUnavailableError` where it has
   * not answered within so many ms.
   */
  clockOffsetMs(withinMs: number): Promise<number>;
  /**
   * Tells for which of these queues the store answers, within so many ms, over a connection that is opened for this question and closed
   * again. Never rejects.
   */
  answering(queues: readonly string[], withinMs: number): Promise<string[]>;
  /** Why calls cannot reach the store; `undefined` where they can, or where nothing is known. */
  readonly trouble: Error | undefined;
  /** Closes all that was opened; calls that are under way fail with `QueueClosedError`, and so do later ones. */
  close(): Promise<void>;
}

/** A MULTI of the caller's own, to which jobs are appended. They are there once its EXEC has run, or not at all. */
export interface Transaction {
  /** Appends a job, which EXEC adds as `QueueJobs.schedule` does. Rejects with `InvalidScheduleError` where that cannot be done, or not any more. */
  append(queue: string, job: NewJob & { id: string }): Promise<void>;
}

/** One queue, by what can be asked of it. Each method is one transition, or reads. */
export interface QueueStore {
  readonly jobs: QueueJobs;
  readonly management: QueueManagement;
  readonly view: QueueView;
  readonly sessions: QueueSessions;
  readonly recurrences: QueueRecurrences;
  readonly declarations: QueueDeclarations;
  readonly events: QueueEvents;
}

/** What became of a job that was to be scheduled. */
export interface ScheduledAnswer {
  id: string;
  status: ScheduleStatus;
  /** When the job that has the id now is due; `null` where there is none. */
  dueAtMs: number | null;
  /** With `'taken'`: the name of the job that has the id. */
  takenBy?: string;
  /** A dead job of this id was pushed out to make place. */
  pushedOut?: boolean;
}

/** Hears what became of one of many: its index among them, its answer, or why there is none. */
export type Answered = (index: number, answer: ScheduledAnswer | undefined, error?: unknown) => void;

/** What is done to single jobs. */
export interface QueueJobs {
  /** Adds a job, unless its id waits, runs, is dead or has ended lately; the answer tells which. */
  schedule(job: NewJob): Promise<ScheduledAnswer>;
  /** The same for many, in their order, each whole or not at all: `answered` hears of each; resolves after the last. */
  scheduleMany(jobs: readonly NewJob[], answered: Answered): Promise<void>;
  /**
   * Adds a job, or puts it in the place of the one that has its id; beside a running one it is queued until the run ends. With `maxWaitMs`
   * it is due no later than so long after the first job of the row was created, whose time of creation it has. With `throttleMs` a new job is
   * due no earlier than the last new one of the id and that one's `throttleMs`, and another one when the job is whose place it takes.
   */
  replace(job: NewJob & { id: string }): Promise<ScheduledAnswer>;
  /** Takes a waiting job out of its queue, or the one queued behind a running job; false if there is neither. */
  cancel(id: string): Promise<boolean>;
  /** Asks for a running job to be cancelled; false if it does not run. */
  cancelRunning(id: string): Promise<boolean>;
  /** Deletes a job that waits, is dead, or has completed and is kept; false if it runs or is not there. */
  remove(id: string): Promise<boolean>;
  /** Gives a waiting job, or the one queued behind a running job, another due time; false if there is neither. */
  reschedule(id: string, due: Due): Promise<boolean>;
}

/** What is done to a queue, or to many of its jobs at once. */
export interface QueueManagement {
  /** Lets nothing be claimed, for so long or until it is resumed. */
  pause(forMs?: number): Promise<void>;
  /** Lets jobs be claimed again. */
  resume(): Promise<void>;
  /** Puts these settings in the place of those that were set for a group; `{}` forgets them. They hold from the next claim on. */
  setGroup(group: string, settings: GroupSettings): Promise<void>;
  /** Lets no job of a group be claimed or relayed, for so long or until it is resumed. */
  pauseGroup(group: string, forMs?: number): Promise<void>;
  /** Lets jobs of the group be claimed again. */
  resumeGroup(group: string): Promise<void>;
  /**
   * Puts these blackouts in the place of those that were set: in each of them nothing is claimed. Those that come again and again are
   * known for a time ahead only, beyond which the queue is shut until `tendBlackouts` has been called.
   */
  setBlackouts(blackouts: readonly BlackoutRule[]): Promise<void>;
  /**
   * Computes blackouts that come again and again further ahead, where it is time for that. Answers in how many ms it is to be called
   * again; `undefined` where none come again.
   */
  tendBlackouts(): Promise<number | undefined>;
  /**
   * Takes all jobs that wait by now, or are queued behind running ones, out of the queue. Recurrences go on once all of these are gone. Answers
   * how many.
   */
  clear(): Promise<number>;
  /**
   * Takes the waiting and queued jobs that carry a tag out of the queue, in atomic steps whose ids `told` hears, in the order in which the jobs
   * came by the tag. Recurrences go on once the jobs of a step are gone. Answers how many.
   */
  cancelTagged(tag: string, told: (ids: readonly string[]) => void): Promise<number>;
  /** Moves their due times, each once: later by so many ms, or earlier where below 0. Answers how many were moved. */
  shiftTagged(tag: string, byMs: number): Promise<number>;
  /** Puts one dead job, or those that are selected and dead by now, back to run from attempt 1; at most so many a second. Answers how many. */
  replayDead(which: string | DeadSelection | undefined, due: Due, perSecond?: number): Promise<number>;
  /** Deletes the jobs that are selected and dead by now. Answers how many. */
  purgeDead(which?: DeadSelection): Promise<number>;
}

/** What can be read of a queue; see `queue-view.ts`. */
export interface QueueView {
  /** Counts the jobs by state. */
  counts(): Promise<JobCounts>;
  /** Answers what `counts` and `nextDue` answer, in one call unless many lanes are due. Throws where that takes longer than so many ms. */
  overview(withinMs: number): Promise<QueueOverview>;
  /** Counts the waiting jobs by priority, most urgent first. */
  countsByPriority(): Promise<PriorityCounts[]>;
  /** Tells when the earliest waiting job is due, and the time now, both by the store's clock. */
  nextDue(): Promise<{ dueAtMs: number | undefined; nowMs: number }>;
  /** The same of jobs whose group is not held. A store may pass over 1 000 lanes of held groups, and count the next. */
  nextFree(): Promise<{ dueAtMs: number | undefined; nowMs: number }>;
  /** Reads the counters. */
  stats(): Promise<Record<string, number>>;
  /** Reads one job. */
  job(id: string): Promise<StoredJob | undefined>;
  /**
   * Reads jobs of one state: due ones in claim order, scheduled ones by due time, ended ones latest first. `as` converts each job as
   * it arrives, so that its stored form need not be kept.
   */
  list<T = StoredJob>(state: JobState, offset: number, limit: number, as?: (job: StoredJob) => T): Promise<T[]>;
  /** Reads the next jobs: due ones in claim order, then scheduled ones by due time. */
  peek<T>(count: number, as: (job: StoredJob) => T): Promise<T[]>;
  /**
   * Takes a step of a search, from the start or from where the last one ended. A job that is wanted from the first step to the last is
   * told, and once unless it has moved meanwhile. Throws `RangeError` for a place that no step has answered.
   */
  find(selection: JobSelection, place: string | undefined, step: SearchStep): Promise<FoundJobs>;
  /** Counts the waiting jobs between each two of these instants: due at the first or later, and before the second. */
  forecast(boundsMs: readonly number[]): Promise<number[]>;
  /** Tells which workers that are alive handle a name in this version, 1 unless said: how many, and some of them. */
  handledBy(name: string, version?: number): Promise<{ count: number; workers: string[] }>;
  /** Tells which versions of a name live workers handle, in ascending order. Pulls and relays, which take all, do not count. */
  versionsHandled(name: string): Promise<number[]>;
  /** Counts the jobs of a name by version, each version of which there is one; in ascending order. Of one moment only where few jobs are there. */
  versions(name: string): Promise<VersionCounts[]>;
  /** Tells which workers are alive, by id. */
  workers(): Promise<LiveWorker[]>;
  /** Tells until when the queue is paused, `Infinity` where that has no end; `undefined` where it is not. */
  pausedUntil(): Promise<number | undefined>;
  /** Tells which blackouts were set and are not over, and until when one lasts that is on. */
  blackouts(): Promise<KnownBlackouts>;
  /** Tells how far the limits over all processes are used up. */
  limits(): Promise<LimitsUse>;
  /** Tells what is known of a group, by the limits of this process where `setGroup` has set none; also of one that nobody has named. */
  group(group: string): Promise<KnownGroup>;
  /**
   * Tells the same of the groups that have waiting or running jobs, a pause or a setting: those with the most waiting jobs first, then by
   * name. Not of one instant.
   */
  groups(limit: number): Promise<KnownGroup[]>;
  /**
   * Counts the due jobs of held groups, whether a claim has met their limits or not. A store may look at 1 000 groups that claims have held, and
   * at 1 000 lanes of others.
   */
  heldDue(): Promise<number>;
}

/** The sessions of a queue: each is the talk of one consumer in this process. */
export interface QueueSessions {
  /** Opens the session of a worker that handles these names, each in its versions. */
  worker(workerId: string, names: SessionNames): Session;
  /** Opens a session that pulls jobs of these names in all versions, or of every name, also of those to come. */
  pull(workerId: string, names: readonly string[] | undefined): Session;
  /**
   * Opens a session whose turns move due jobs, of all versions, to a stream or a list: a turn claims nothing, and what it had capacity for is gone from
   * the queue. Throws `InvalidOptionsError` where the target cannot be one of this queue, or where the store has no such targets.
   */
  relay(workerId: string, names: readonly string[] | undefined, target: RelayTarget): Session;
}
