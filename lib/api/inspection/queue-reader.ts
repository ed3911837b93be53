import { type ListedBlackout, toListed } from '../../core/blackouts/blackout.js';
import { InvalidScheduleError, invalidSchedule } from '../../core/errors.js';
import type { EventSink } from '../../core/job/events.js';
import { type FindOptions, readFind } from '../../core/options/find-options.js';
import { readGroup } from '../../core/options/group-options.js';
import { DEFAULT_QUEUE, type QueueSettings } from '../../core/options/queue-options.js';
import { type JobRef, readRef } from '../../core/options/schedule-options.js';
import type { Codecs } from '../../core/payload/codecs.js';
import { describe } from '../../core/read/describe.js';
import { jobName, keyPart } from '../../core/read/names.js';
import { integer, readOne, readOptions, type Shape } from '../../core/read/shape.js';
import type { JobCounts, JobState, JobStore, PriorityCounts } from '../../store/job-store.js';
import { type Explanation, explainJob } from './explanation.js';
import { type FoundPage, findJobs } from './find-jobs.js';
import { type ForecastBucket, type ForecastOptions, readForecast } from './forecast.js';
import { type InspectedGroup, toInspectedGroup } from './inspected-group.js';
import { type InspectedJob, toInspected } from './inspected-job.js';
import { type InspectedWorker, toInspectedWorker } from './inspected-worker.js';
import { queueOf } from './inspector-options.js';
import { type LoadOptions, loadOf, type QueueLoad, readLoad } from './queue-load.js';
import { type QueueStats, toStats } from './queue-stats.js';
import { type UsedVersion, usedVersions } from './used-versions.js';

/** A queue that somebody has used. */
export interface InspectedQueue {
  /** As `schedule` and the options of the module name it. */
  name: string;
  /** When a process that schedules or works there last said so; each says so every ten minutes. */
  lastSeenAt: Date;
}

const STATES: readonly JobState[] = ['scheduled', 'due', 'active', 'completed', 'dead'];
const LISTED_AT_MOST = 1_000;
const PASSED_OVER_AT_MOST = 100_000;
const LIST_OPTIONS: Shape<{ offset: number; limit: number; queue: string }> = {
  offset: integer(0),
  limit: integer(1, LISTED_AT_MOST),
  queue: keyPart,
};
const GROUPS_OPTIONS: Shape<{ limit: number; queue: string }> = { limit: integer(1, LISTED_AT_MOST), queue: keyPart };

/** The part of the inspector that reads: it changes nothing. */
export abstract class QueueReader {
  /** @internal The module makes it. */
  constructor(
    /** @internal */
    protected readonly store: JobStore,
    /** @internal */
    protected readonly events: EventSink,
    /** @internal */
    protected readonly settingsOf: (queue: string) => QueueSettings,
    /** @internal */
    protected readonly codecs: Codecs,
  ) {}

  /** How many jobs are in each state, at one moment for up to 400 combinations of name and priority that have a due job. `scheduled` jobs are not due yet; `due` ones wait for a worker. */
  async counts(options?: { queue?: string }): Promise<JobCounts> {
    return this.store.queue(queueOf(options, 'counts')).view.counts();
  }

  /**
   * How many jobs wait at each priority that has any, most urgent first. The numbers are of one moment, for up to 400 combinations of
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
   * ones latest first. `limit`: 1 to 1 000, by default 100. `offset`: at most 100 000; `find` goes on by a cursor. Throws `InvalidScheduleError` beyond these. The order of scheduled
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
    const {
      offset = 0,
      limit = 100,
      queue = DEFAULT_QUEUE,
    } = readOptions(options, LIST_OPTIONS, 'list', invalidSchedule);
    if (offset > PASSED_OVER_AT_MOST)
      throw invalidSchedule(
        `list: offset: got ${offset}, expected at most ${PASSED_OVER_AT_MOST}. Use find, which goes on by a cursor.`,
      );
    const { view } = this.store.queue(queue);
    return Promise.all(await view.list(state, offset, limit, (job) => toInspected(queue, job, this.codecs)));
  }

  /**
   * Searches a queue for jobs. A job that fits from the first call to the last is given; it is given once, unless it moved meanwhile: began,
   * ended, or got another due time. In no order. Each call looks at about 10 000 jobs or 64 MiB of them, and answers what it has found,
   * which may be nothing: go on while there is a `cursor`. Jobs are read in short steps, so not all at one moment. A cursor also holds over
   * a failover, but then jobs may be left out or given again.
   * @example
   * ```ts
   * let cursor: string | undefined;
   * do {
   *   const page = await inspector.find({ names: ['mail.send'], idPrefix: 'order-7/', cursor });
   *   for (const job of page.jobs) console.log(job.id, job.dueAt);
   *   cursor = page.cursor;
   * } while (cursor);
   * ```
   */
  async find(options: FindOptions<InspectedJob>): Promise<FoundPage> {
    const request = readFind<InspectedJob>(options);
    return findJobs(this.store.queue(request.queue).view, request, this.codecs);
  }

  /**
   * Shows the next `count` jobs (1 to 1 000, by default 1) without taking them: due ones in the order of claims, then the others by due
   * time. A worker claims only jobs that it handles, so it may take another one first.
   */
  async peek(count = 1, options?: { queue?: string }): Promise<InspectedJob[]> {
    const queue = queueOf(options, 'peek');
    const limit = readOne(integer(1, LISTED_AT_MOST), count, 'peek: count');
    const { view } = this.store.queue(queue);
    return Promise.all(await view.peek(limit, (job) => toInspected(queue, job, this.codecs)));
  }

  /**
   * The live workers of the queue (heard of within the last `leaseMs`), by id: where each one is, which names it handles, how many
   * jobs it holds and how many of its handlers are stuck. The numbers are of one moment for up to 1 000 running jobs, fewer where these
   * have reported much progress.
   */
  async workers(options?: { queue?: string }): Promise<InspectedWorker[]> {
    return (await this.store.queue(queueOf(options, 'workers')).view.workers()).map(toInspectedWorker);
  }

  /**
   * The queues in which somebody has scheduled or worked under this prefix, by name, and when a process that uses it last said so: each one
   * says so when it begins, and every ten minutes while it goes on. Redis searches no keys for this; queues stay listed when they are empty.
   */
  async queues(): Promise<InspectedQueue[]> {
    const seen = await this.store.queues();
    return seen.map(({ name, lastSeenAtMs }) => ({ name, lastSeenAt: new Date(lastSeenAtMs) }));
  }

  /**
   * How many waiting jobs are due in each of `buckets` equal spans (1 to 1 000, by default 1) from `from` on and before `to`. Occurrences of
   * recurrences count once they are armed, jobs queued behind running ones do not count. The numbers are of one moment for up to some
   * hundred combinations of name and priority.
   */
  async forecast(options: ForecastOptions): Promise<ForecastBucket[]> {
    const { queue, boundsMs } = readForecast(options);
    const counts = await this.store.queue(queue).view.forecast(boundsMs);
    return counts.map((count, i) => ({ from: new Date(boundsMs[i]!), count }));
  }

  /** What an autoscaler asks: how much is due, now and within `withinMs` (by default 60 000), and how much the live workers can run. Several reads, not of one moment. */
  async load(options?: LoadOptions): Promise<QueueLoad> {
    const { queue, withinMs } = readLoad(options);
    return loadOf(this.store.queue(queue).view, this.settingsOf(queue), withinMs);
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
   * Which versions of a job name are in use, in ascending order, and how many jobs and recurrences each has: a step of a definition's `upgrade`
   * may be deleted once its version is not among them. Several reads, not of one moment: in a large queue a job that begins or goes back
   * meanwhile may be missed, so ask twice. Jobs that are kept after their end do not count.
   * @example `const versions = await inspector.versions('report.build');`
   */
  async versions(name: string, options?: { queue?: string }): Promise<UsedVersion[]> {
    const read = readOne(jobName, name, 'versions: name');
    return usedVersions(this.store.queue(queueOf(options, 'versions')), read);
  }

  /**
   * What is known of a group; one that nobody has named has no jobs, weight 1 and no limits. `heldBy` is judged by the options of this
   * process where `setGroup` has set none.
   */
  async group(group: string, options?: { queue?: string }): Promise<InspectedGroup> {
    const name = readGroup(group, 'group');
    return toInspectedGroup(await this.store.queue(queueOf(options, 'group')).view.group(name));
  }

  /**
   * The groups that have waiting or running jobs, a pause or a setting: those with the most waiting jobs first, then by name. `limit`: 1 to
   * 1 000, by default 100. Several reads, not of one moment.
   */
  async groups(options: { limit?: number; queue?: string } = {}): Promise<InspectedGroup[]> {
    const { limit = 100, queue = DEFAULT_QUEUE } = readOptions(options, GROUPS_OPTIONS, 'groups', invalidSchedule);
    return (await this.store.queue(queue).view.groups(limit)).map(toInspectedGroup);
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
}
