import { type Blackout, type ListedBlackout, toListed } from '../core/blackouts/blackout.js';
import { readBlackouts } from '../core/blackouts/read-blackouts.js';
import { InvalidOptionsError, InvalidScheduleError } from '../core/errors.js';
import type { EventSink } from '../core/job/events.js';
import { type DeadFilter, type ReplayOptions, readDeadFilter, readReplay } from '../core/options/dead-filter.js';
import { PAUSE_OPTIONS, type PauseOptions } from '../core/options/pause-options.js';
import { DEFAULT_QUEUE, type QueueSettings } from '../core/options/queue-options.js';
import { type JobRef, readRef } from '../core/options/schedule-options.js';
import type { Codecs } from '../core/payload/codecs.js';
import { describe } from '../core/read/describe.js';
import type { Duration } from '../core/read/duration.js';
import { keyPart } from '../core/read/names.js';
import { integer, readOptions, type Shape } from '../core/read/shape.js';
import { readShift, readTag } from '../core/read/tags.js';
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

/**
 * Looks at queues, jobs and workers, and manages them: pauses queues, sets their blackouts, cancels running jobs, deletes other jobs, cancels or moves the
 * jobs of a tag, and replays or purges dead jobs. If no queue is named, the default queue is meant.
 * Every method throws `InvalidScheduleError` for a job or an option that cannot be used, `QueueUnavailableError` if Redis has not
 * answered within `commandTimeoutMs`, and `QueueClosedError` after shutdown.
 */
export class ScheduledQueueInspector {
  constructor(
    private readonly store: JobStore,
    private readonly events: EventSink,
    private readonly settingsOf: (queue: string) => QueueSettings,
    private readonly codecs: Codecs,
  ) {}

  /** How many jobs are in each state, at one moment for up to 5 000 combinations of name and priority. `scheduled` jobs are not due yet; `due` ones wait for a worker. */
  async counts(options?: { queue?: string }): Promise<JobCounts> {
    return this.store.queue(queueOf(options, 'counts')).view.counts();
  }

  /**
   * How many jobs wait at each priority that has any, most urgent first. The numbers are of one moment, for up to 5 000 combinations of
   * name and priority.
   */
  async countsByPriority(options?: { queue?: string }): Promise<PriorityCounts[]> {
    return this.store.queue(queueOf(options, 'countsByPriority')).view.countsByPriority();
  }

  /** When the earliest waiting job is due, which may be in the past; `null` if no job waits. */
  async nextDueAt(options?: { queue?: string }): Promise<Date | null> {
    const { dueAtMs } = await this.store.queue(queueOf(options, 'nextDueAt')).view.nextDue();
    return dueAtMs === undefined ? null : new Date(dueAtMs);
  }

  /** How long the oldest due job has waited, in ms by Redis' clock; 0 if none is due. */
  async latenessMs(options?: { queue?: string }): Promise<number> {
    const { dueAtMs, nowMs } = await this.store.queue(queueOf(options, 'latenessMs')).view.nextDue();
    return dueAtMs === undefined ? 0 : Math.max(0, nowMs - dueAtMs);
  }

  /** What has happened since the queue began. Each transition is counted in the step that makes it, so the numbers are exact. */
  async stats(options?: { queue?: string }): Promise<QueueStats> {
    return toStats(await this.store.queue(queueOf(options, 'stats')).view.stats());
  }

  /** All that is known of one job; `null` if there is no job of that id, or if it has ended and is not kept. */
  async job(ref: JobRef, options?: { queue?: string }): Promise<InspectedJob | null> {
    const { id, queue } = readRef(ref, options, 'job');
    const stored = await this.store.queue(queue).view.job(id);
    return stored ? toInspected(queue, stored, this.codecs) : null;
  }

  /**
   * The jobs of one state: due ones in the order of claims, scheduled ones by due time, active ones by the end of their lease, ended
   * ones latest first. `limit`: 1 to 1 000, by default 100. `offset`: at most 100 000, else `InvalidOptionsError`. The order of scheduled
   * jobs is exact while at most 1 000 combinations of name and priority have a due job. Jobs are read in short steps, so not all at one
   * moment. All steps must end within one `commandTimeoutMs`, else `QueueUnavailableError`: if jobs are large, ask for few.
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
    const { view } = this.store.queue(queue);
    return Promise.all(await view.list(state, offset, limit, (job) => toInspected(queue, job, this.codecs)));
  }

  /**
   * Shows the next `count` jobs (1 to 1 000, by default 1) without taking them: due ones in the order of claims, then the others by due
   * time. A worker claims only jobs that it handles, so it may take another one first.
   */
  async peek(count = 1, options?: { queue?: string }): Promise<InspectedJob[]> {
    const queue = queueOf(options, 'peek');
    const limit = integer(1, LISTED_AT_MOST)(count);
    if ('problem' in limit) throw refuse(`peek: count: ${limit.problem}.`);
    const { view } = this.store.queue(queue);
    return Promise.all(await view.peek(count, (job) => toInspected(queue, job, this.codecs)));
  }

  /**
   * Cancels a running job. Its `signal` aborts in the process that runs it, its result is dropped, and it is not retried. A job that is
   * queued behind it then takes its place. `true`: the job was running. For a waiting job call `producer.cancel`. Atomic; the process
   * notices at once, or after a third of `leaseMs` at most.
   */
  async cancelRunning(ref: JobRef, options?: { queue?: string }): Promise<boolean> {
    const { id, queue } = readRef(ref, options, 'cancelRunning');
    return this.store.queue(queue).jobs.cancelRunning(id);
  }

  /**
   * Deletes one job that is not running: a waiting one (counted as `cancelled`), a dead one (counted as `deadDropped`), or a completed
   * one that is kept. `false`: the job is running (then use `cancelRunning`), or there is no such job. Its id is free at once. Atomic.
   */
  async remove(ref: JobRef, options?: { queue?: string }): Promise<boolean> {
    const { id, queue } = readRef(ref, options, 'remove');
    return this.store.queue(queue).jobs.remove(id);
  }

  /**
   * Deletes all waiting jobs, counts them as `cancelled`, and answers how many. This includes due jobs, jobs that wait for their next
   * attempt, and jobs that are queued behind running ones. Running, dead and completed jobs stay, and so does a job that is scheduled a
   * millisecond or more after the call began. A running job that goes back to waiting meanwhile may be deleted. The ids are free at
   * once. Atomic for each few hundred jobs: after a `QueueUnavailableError` some may be gone; call again to delete the rest.
   */
  async clear(options?: { queue?: string }): Promise<number> {
    return this.store.queue(queueOf(options, 'clear')).management.clear();
  }

  /**
   * The live workers of the queue (heard of within the last `leaseMs`), by id: where each one is, which names it handles, and how many
   * jobs it holds. The numbers are of one moment, for up to 5 000 running jobs.
   */
  async workers(options?: { queue?: string }): Promise<InspectedWorker[]> {
    return (await this.store.queue(queueOf(options, 'workers')).view.workers()).map(toInspectedWorker);
  }

  /**
   * Cancels all waiting jobs with a tag, and those with the tag that are queued behind running ones. Answers how many. Only jobs that
   * were there when the call began are cancelled. A running job goes on, and so do its later attempts. Atomic for each five hundred
   * jobs: after a `QueueUnavailableError` some may be gone; call again to cancel the rest.
   */
  async cancelTagged(tag: string, options?: { queue?: string }): Promise<number> {
    const queue = queueOf(options, 'cancelTagged');
    return this.store.queue(queue).management.cancelTagged(readTag(tag, 'cancelTagged'), (ids) => {
      if (this.events.wanted) for (const id of ids) this.events.tell({ type: 'cancelled', queue, id });
    });
  }

  /**
   * Moves the due times of all waiting jobs with a tag, and of those with the tag that are queued behind running ones: later (a number
   * of milliseconds, or `'2h'`) or earlier (a negative number, or `'-2h'`). Answers how many. Only jobs that were there when the call
   * began are moved; running ones are not. If a new due time lies in the past, the job is due at once and counts as late since then.
   * Atomic for each five hundred jobs: after a `QueueUnavailableError` some may have been moved, and calling again moves them again.
   */
  async shiftTagged(tag: string, ms: Duration, options?: { queue?: string }): Promise<number> {
    const queue = queueOf(options, 'shiftTagged');
    return this.store.queue(queue).management.shiftTagged(readTag(tag, 'shiftTagged'), readShift(ms, 'shiftTagged'));
  }

  /**
   * Says why a job has not run yet, or what has become of it: a `code` for programs and a `message` for people.
   * @example `const { code, message } = await inspector.explain(job);`
   */
  async explain(ref: JobRef, options?: { queue?: string }): Promise<Explanation> {
    const { id, queue } = readRef(ref, options, 'explain');
    return explainJob(this.store.queue(queue).view, queue, id, this.settingsOf(queue));
  }

  /**
   * Pauses the queue in all processes: no job is claimed until `forMs` is over or somebody calls `resume`. Running jobs go on, and new
   * jobs can be scheduled. Of two calls the later one holds, even if its pause ends earlier. The pause is kept in Redis and survives
   * restarts. Atomic.
   */
  async pause(options: PauseOptions = {}): Promise<void> {
    const { forMs, queue = DEFAULT_QUEUE } = readOptions(options, PAUSE_OPTIONS, 'pause', refuse);
    return this.store.queue(queue).management.pause(forMs);
  }

  /** Ends a pause; work goes on at once. Does nothing if the queue is not paused. Atomic. */
  async resume(options?: { queue?: string }): Promise<void> {
    return this.store.queue(queueOf(options, 'resume')).management.resume();
  }

  /** Whether the queue is paused now. */
  async isPaused(options?: { queue?: string }): Promise<boolean> {
    return (await this.store.queue(queueOf(options, 'isPaused')).view.pausedUntil()) !== undefined;
  }

  /** The blackouts that were set and are not over for good, with instants as Dates and durations in milliseconds. */
  async blackouts(options?: { queue?: string }): Promise<ListedBlackout[]> {
    const { rules } = await this.store.queue(queueOf(options, 'blackouts')).view.blackouts();
    return rules.map(toListed);
  }

  /**
   * Replaces the blackouts of the queue, at most 1 000; `[]` ends them all. In a blackout nothing of the queue is claimed, popped or
   * relayed in any process, not even what was retried or `runNow`; what runs goes on, and jobs can be scheduled. One that comes again
   * lasts `durationMs` from each instant of its `cron` on. Throws `InvalidOptionsError` for a list that cannot be used, also for a
   * blackout that would never end. Kept in Redis, counted by Redis' clock. Atomic.
   */
  async setBlackouts(blackouts: readonly Blackout[], options?: { queue?: string }): Promise<void> {
    const { management } = this.store.queue(queueOf(options, 'setBlackouts'));
    return management.setBlackouts(readBlackouts(blackouts, 'setBlackouts'));
  }

  /**
   * Puts a dead job, all that are dead by now, or those of them that a filter wants, back into the queue: due at `at`, or now, from
   * attempt 1 on, with its history. With `perSecond` each is due that much after the one before. Answers how many. `'all'` never means an
   * id: one job of that id is `{ id: 'all' }`. Atomic for each hundred: after a `QueueUnavailableError` some hundreds may be back,
   * and calling again goes on with the rest; where the filter has a `limit`, it then counts anew.
   */
  async replayDead(which: JobRef | 'all' | DeadFilter, options?: ReplayOptions): Promise<number> {
    const read = readReplay(which, options);
    return this.store.queue(read.queue).management.replayDead(read.which, read.due, read.perSecond);
  }

  /**
   * Deletes all jobs that are dead by now, or those of them that a filter wants, with their histories. Answers how many. Atomic for each
   * hundred, as `replayDead`. Their ids are free at once.
   */
  async purgeDead(filter?: DeadFilter, options?: { queue?: string }): Promise<number> {
    const { queue, which } = readDeadFilter(filter, options, 'purgeDead');
    return this.store.queue(queue).management.purgeDead(which);
  }
}

const refuse = (message: string) => new InvalidScheduleError(message);

/** Which queue is meant; what is not an option is refused, lest it be the default one by mistake. */
function queueOf(options: { queue?: string } | undefined, where: string): string {
  return readOptions<{ queue: string }>(options, { queue: keyPart }, where, refuse).queue ?? DEFAULT_QUEUE;
}
