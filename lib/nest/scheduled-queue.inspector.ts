import { type DeadFilter, type ReplayOptions, readDeadFilter, readReplay } from '../core/dead-filter.js';
import { describe } from '../core/describe.js';
import type { Duration } from '../core/duration.js';
import { InvalidOptionsError, InvalidScheduleError } from '../core/errors.js';
import type { EventSink } from '../core/events.js';
import { keyPart } from '../core/names.js';
import { DEFAULT_QUEUE, type QueueSettings } from '../core/queue-options.js';
import { type JobRef, readRef } from '../core/schedule-options.js';
import { duration, integer, readOptions, type Shape } from '../core/shape.js';
import { readShift, readTag } from '../core/tags.js';
import type { JobCounts, JobState, JobStore, PriorityCounts } from '../store/job-store.js';
import { type Explanation, explainJob } from './explanation.js';
import { type InspectedJob, toInspected } from './inspected-job.js';
import { type InspectedWorker, toInspectedWorker } from './inspected-worker.js';
import { type QueueStats, toStats } from './queue-stats.js';

const STATES: readonly JobState[] = ['scheduled', 'due', 'active', 'completed', 'dead'];
const LISTED_AT_MOST = 1_000;
const PASSED_OVER_AT_MOST = 100_000;
const LIST_OPTIONS: Shape<{ offset: number; limit: number; queue: string }> = {
  offset: integer(0),
  limit: integer(1, LISTED_AT_MOST),
  queue: keyPart,
};

export interface PauseOptions {
  /** For how long, by Redis' clock, at least 1. Default: until `resume`. */
  forMs?: Duration;
  queue?: string;
}

const PAUSE_OPTIONS: Shape<{ forMs: number; queue: string }> = { forMs: duration(1), queue: keyPart };

/**
 * Looks into queues and at their workers; pauses queues; cancels what runs, deletes what does not; cancels or moves what carries a
 * tag; replays and purges what is dead. Where no queue is named, it is the default one.
 * Every method may throw `QueueUnavailableError`, `InvalidScheduleError` for a reference or an option that it cannot use, and
 * `QueueClosedError` after shutdown.
 */
export class ScheduledQueueInspector {
  constructor(
    private readonly store: JobStore,
    private readonly events: EventSink,
    private readonly settingsOf: (queue: string) => QueueSettings,
  ) {}

  /** How many jobs are in each state, all of one moment up to 5 000 due lanes (names times priorities). `scheduled` ones are not yet due, `due` ones wait for a worker. */
  async counts(options?: { queue?: string }): Promise<JobCounts> {
    return this.store.counts(queueOf(options, 'counts'));
  }

  /**
   * How many jobs wait at each priority that has any, most urgent first; all of one moment up to 5 000 lanes (names times
   * priorities).
   */
  async countsByPriority(options?: { queue?: string }): Promise<PriorityCounts[]> {
    return this.store.countsByPriority(queueOf(options, 'countsByPriority'));
  }

  /** When the earliest waiting job is due, be that past; `null` if none waits. */
  async nextDueAt(options?: { queue?: string }): Promise<Date | null> {
    const { dueAtMs } = await this.store.nextDue(queueOf(options, 'nextDueAt'));
    return dueAtMs === undefined ? null : new Date(dueAtMs);
  }

  /** How long the oldest due job has waited, in ms by Redis' clock; 0 if none is due. */
  async latenessMs(options?: { queue?: string }): Promise<number> {
    const { dueAtMs, nowMs } = await this.store.nextDue(queueOf(options, 'latenessMs'));
    return dueAtMs === undefined ? 0 : Math.max(0, nowMs - dueAtMs);
  }

  /** What has happened since the queue began; counted in the same step as each transition. */
  async stats(options?: { queue?: string }): Promise<QueueStats> {
    return toStats(await this.store.stats(queueOf(options, 'stats')));
  }

  /** One job, or `null` where there is none of that id: it was never there, or has ended and is not kept. */
  async job(ref: JobRef, options?: { queue?: string }): Promise<InspectedJob | null> {
    const { id, queue } = readRef(ref, options, 'job');
    const stored = await this.store.job(queue, id);
    return stored ? toInspected(queue, stored) : null;
  }

  /**
   * Jobs of one state: due ones in the order of claims, scheduled ones by due time, active ones by the end of their lease, ended
   * ones latest first. `limit`: 1 to 1 000, 100 by default. `offset`: at most 100 000, else `InvalidOptionsError`. The order of scheduled
   * ones is exact while at most 1 000 lanes (a lane: one name of one priority) have a due job. Read in short steps, so of several
   * moments, all within one `commandTimeoutMs`, else `QueueUnavailableError`: ask for few large jobs at a time, as 1 000 jobs of 1 MiB
   * are a gigabyte.
   */
  async list(
    state: JobState,
    options: { offset?: number; limit?: number; queue?: string } = {},
  ): Promise<InspectedJob[]> {
    if (!STATES.includes(state)) {
      throw new InvalidScheduleError(`list: state: got ${describe(state)}, expected one of ${STATES.join(', ')}.`);
    }
    const { offset = 0, limit = 100, queue = DEFAULT_QUEUE } = readOptions(options, LIST_OPTIONS, 'list', refuse);
    if (offset > PASSED_OVER_AT_MOST)
      throw new InvalidOptionsError(`list: offset: got ${offset}, expected at most ${PASSED_OVER_AT_MOST}.`, { queue });
    return await this.store.list(queue, state, offset, limit, (job) => toInspected(queue, job));
  }

  /**
   * The next `count` jobs, 1 to 1 000, 1 by default: due ones in the order of claims, then those not yet due by due time.
   * Takes nothing. A worker claims only names that it handles, so it may come to others first.
   */
  async peek(count = 1, options?: { queue?: string }): Promise<InspectedJob[]> {
    const queue = queueOf(options, 'peek');
    const limit = integer(1, LISTED_AT_MOST)(count);
    if ('problem' in limit) throw refuse(`peek: count: ${limit.problem}.`);
    return await this.store.peek(queue, count, (job) => toInspected(queue, job));
  }

  /**
   * Asks for a running job to be cancelled: its `signal` aborts in whichever process runs it, what its handler answers is
   * dropped, it ends `cancelled` and is not retried. A job that is queued behind it then takes its place. `true` if the job was
   * running; for a waiting job call `producer.cancel`. Atomic; the process hears at once, or a third of `leaseMs` later at most.
   */
  async cancelRunning(ref: JobRef, options?: { queue?: string }): Promise<boolean> {
    const { id, queue } = readRef(ref, options, 'cancelRunning');
    return this.store.cancelRunning(queue, id);
  }

  /**
   * Deletes one job that does not run, with all that is known of it: one that waits, which counts as `cancelled`; a dead one,
   * which counts as `deadDropped`; or a completed one that is kept. `false` if it runs, which is for `cancelRunning`, or is not
   * there. Its id is free at once. Atomic.
   */
  async remove(ref: JobRef, options?: { queue?: string }): Promise<boolean> {
    const { id, queue } = readRef(ref, options, 'remove');
    return this.store.remove(queue, id);
  }

  /**
   * Deletes all jobs that wait, due ones and those between two attempts too, and counts them as `cancelled`. Answers how many.
   * Jobs that are queued behind running ones are deleted too. What runs, is dead or completed stays, and so does what is scheduled a
   * millisecond or more after the call began, by Redis' clock. A job that goes back to waiting meanwhile may be deleted. Atomic for
   * each few hundred: after a `QueueUnavailableError` some may be gone, and calling again goes on with the rest. Ids as in `remove`.
   */
  async clear(options?: { queue?: string }): Promise<number> {
    return this.store.clear(queueOf(options, 'clear'));
  }

  /**
   * The workers of the queue that were there within the last `leaseMs`, by id: where each is, what it handles, and how many jobs
   * it holds, all of one moment up to 5 000 running jobs.
   */
  async workers(options?: { queue?: string }): Promise<InspectedWorker[]> {
    return (await this.store.workers(queueOf(options, 'workers'))).map(toInspectedWorker);
  }

  /**
   * Cancels all jobs that carry a tag and wait, or are queued behind running ones, as `producer.cancel` does with one: those that were
   * there when the call began. Answers how many. A running job is left alone, and so are its later attempts. Atomic for each five
   * hundred: after a `QueueUnavailableError` some hundreds may be gone, and calling again goes on with the rest.
   */
  async cancelTagged(tag: string, options?: { queue?: string }): Promise<number> {
    const queue = queueOf(options, 'cancelTagged');
    return this.store.cancelTagged(queue, readTag(tag, 'cancelTagged'), (ids) => {
      if (this.events.wanted) for (const id of ids) this.events.tell({ type: 'cancelled', queue, id });
    });
  }

  /**
   * Moves the due times of all jobs that carry a tag and wait, or are queued behind running ones, and were there when the call began:
   * `ms` later (a number, or a string such as `'2h'`), or earlier (below 0, `'-2h'`). A time in the past is kept: the job is due at
   * once, and ordered and counted late by it. Answers how many were moved. A running job is left alone. Atomic for each five
   * hundred: after a `QueueUnavailableError` some hundreds may have been moved, and calling again would move them once more.
   */
  async shiftTagged(tag: string, ms: Duration, options?: { queue?: string }): Promise<number> {
    const queue = queueOf(options, 'shiftTagged');
    return this.store.shiftTagged(queue, readTag(tag, 'shiftTagged'), readShift(ms, 'shiftTagged'));
  }

  /** Why a job has not run yet, or what has become of it: a code for programs and a sentence for people. */
  async explain(ref: JobRef, options?: { queue?: string }): Promise<Explanation> {
    const { id, queue } = readRef(ref, options, 'explain');
    return explainJob(this.store, queue, id, this.settingsOf(queue));
  }

  /**
   * Pauses the queue for all processes: from then on nothing of it is claimed, until `forMs` is over or `resume` is called. What
   * runs goes on, renews its lease and is settled; what is scheduled waits. The later of two calls holds, be its end the earlier
   * one. Kept in Redis, whoever restarts. Atomic.
   */
  async pause(options: PauseOptions = {}): Promise<void> {
    const { forMs, queue = DEFAULT_QUEUE } = readOptions(options, PAUSE_OPTIONS, 'pause', refuse);
    return this.store.pause(queue, forMs);
  }

  /** Ends a pause, and has work go on at once; harmless where there is none. Atomic. */
  async resume(options?: { queue?: string }): Promise<void> {
    return this.store.resume(queueOf(options, 'resume'));
  }

  /** Whether the queue is paused now. */
  async isPaused(options?: { queue?: string }): Promise<boolean> {
    return (await this.store.pausedUntil(queueOf(options, 'isPaused'))) !== undefined;
  }

  /**
   * Puts a dead job, all that are dead by now, or those of them that a filter wants, back into the queue: due at `at`, or now, from
   * attempt 1 on, with its history. With `perSecond` each is due that much after the one before. Answers how many. `'all'` never means an
   * id: one job of that id is `{ id: 'all' }`. Atomic for each hundred: after a `QueueUnavailableError` some hundreds may be back,
   * and calling again goes on with the rest; where the filter has a `limit`, it then counts anew.
   */
  async replayDead(which: JobRef | 'all' | DeadFilter, options?: ReplayOptions): Promise<number> {
    const read = readReplay(which, options);
    return this.store.replayDead(read.queue, read.which, read.due, read.perSecond);
  }

  /**
   * Deletes all jobs that are dead by now, or those of them that a filter wants, with their histories. Answers how many. Atomic for each
   * hundred, as `replayDead`. Their ids are free at once.
   */
  async purgeDead(filter?: DeadFilter, options?: { queue?: string }): Promise<number> {
    const { queue, which } = readDeadFilter(filter, options, 'purgeDead');
    return this.store.purgeDead(queue, which);
  }
}

const refuse = (message: string) => new InvalidScheduleError(message);

/** Which queue is meant; what is not an option is refused, lest it be the default one by mistake. */
function queueOf(options: { queue?: string } | undefined, where: string): string {
  return readOptions<{ queue: string }>(options, { queue: keyPart }, where, refuse).queue ?? DEFAULT_QUEUE;
}
