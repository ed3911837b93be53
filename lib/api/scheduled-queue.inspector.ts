import type { Blackout } from '../core/blackouts/blackout.js';
import { readBlackouts } from '../core/blackouts/read-blackouts.js';
import { invalidSchedule } from '../core/errors.js';
import { type DeadFilter, type ReplayOptions, readDeadFilter, readReplay } from '../core/options/dead-filter.js';
import { type GroupOptions, readGroup, readGroupSettings } from '../core/options/group-options.js';
import { type JobRef, readRef } from '../core/options/job-ref.js';
import { DEFAULT_QUEUE } from '../core/options/queue-options.js';
import type { Duration } from '../core/read/duration.js';
import { jobTag, keyPart } from '../core/read/names.js';
import { duration, readOne, readOptions, type Shape, signedDuration } from '../core/read/shape.js';
import { queueOf } from './inspection/inspector-options.js';
import { QueueReader } from './inspection/queue-reader.js';
import { inQueues, type TaggedOptions } from './inspection/tagged-queues.js';

/** The options of `pause` and `pauseGroup`. */
export interface PauseOptions {
  /** For how long, by Redis' clock, at least 1. Default: until `resume`, or `resumeGroup`. */
  forMs?: Duration;
  /** Default `'default'`. */
  queue?: string;
}

const PAUSE_SHAPE: Shape<{ forMs: number; queue: string }> = { forMs: duration(1), queue: keyPart };

/**
 * Looks at queues, groups, jobs and workers, and manages them: pauses queues and groups, limits groups, sets the blackouts of queues, cancels
 * running jobs, deletes other jobs, cancels or moves the jobs of a tag, and replays or purges dead jobs. If no queue is named, the default queue is meant.
 * Every method throws `InvalidScheduleError` for a job or an option that cannot be used, `QueueUnavailableError` if Redis has not
 * answered within `commandTimeoutMs`, and `QueueClosedError` after shutdown.
 */
export class ScheduledQueueInspector extends QueueReader {
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
   * Deletes one job that is not running: a waiting one (counted as `cancelled`), a dead one (counted as `deadDropped`), or one
   * that is kept although it has completed, was discarded or was cancelled. `false`: the job is running (then use `cancelRunning`), or
   * there is no such job. Its id is free at once. Atomic.
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
   * Cancels all waiting jobs with a tag, and those with the tag that are queued behind running ones. Answers how many. Only jobs that
   * were there when the call began are cancelled. A running job goes on, and so do its later attempts. Atomic for each step of up to
   * two hundred jobs: after a `QueueUnavailableError` some may be gone; call again to cancel the rest. With several queues, one after another.
   */
  async cancelTagged(tag: string, options?: TaggedOptions): Promise<number> {
    const read = readOne(jobTag, tag, 'cancelTagged: tag');
    return inQueues(this.store, options, 'cancelTagged', (queue) =>
      this.store.queue(queue).management.cancelTagged(read, (ids) => {
        if (this.events.wants(queue)) for (const id of ids) this.events.tell({ type: 'cancelled', queue, id });
      }),
    );
  }

  /**
   * Moves the due times of all waiting jobs with a tag, and of those with the tag that are queued behind running ones: later (a number
   * of milliseconds, or `'2h'`) or earlier (a negative number, or `'-2h'`). Answers how many. Only jobs that were there when the call
   * began are moved; running ones are not. If a new due time lies in the past, the job is due at once and counts as late since then.
   * Atomic for each step of up to two hundred jobs: after a `QueueUnavailableError` some may have been moved, and calling again moves them again. With several queues,
   * one after another.
   */
  async shiftTagged(tag: string, ms: Duration, options?: TaggedOptions): Promise<number> {
    const read = readOne(jobTag, tag, 'shiftTagged: tag');
    const byMs = readOne(signedDuration, ms, 'shiftTagged: ms');
    return inQueues(this.store, options, 'shiftTagged', (queue) =>
      this.store.queue(queue).management.shiftTagged(read, byMs),
    );
  }

  /**
   * Pauses the queue in all processes: no job is claimed until `forMs` is over or somebody calls `resume`. Running jobs go on, and new
   * jobs can be scheduled. Of two calls the later one holds, even if its pause ends earlier. The pause is kept in Redis and survives
   * restarts. Atomic.
   */
  async pause(options: PauseOptions = {}): Promise<void> {
    const { forMs, queue = DEFAULT_QUEUE } = readOptions(options, PAUSE_SHAPE, 'pause', invalidSchedule);
    return this.store.queue(queue).management.pause(forMs);
  }

  /** Ends a pause; work goes on at once. Does nothing if the queue is not paused. Atomic. */
  async resume(options?: { queue?: string }): Promise<void> {
    return this.store.queue(queueOf(options, 'resume')).management.resume();
  }

  /**
   * Sets weight and limits of one group, in the place of all that was set for it: what is left out is as the queue's option `groups` says,
   * and `{}` forgets the settings. They hold from the next claim of any process on; running jobs go on, even if they are more than
   * a new `concurrency` allows. Kept in Redis, until they are set anew. Under `order: 'fifo'` a group runs one job at a time, whatever is set. Atomic.
   */
  async setGroup(group: string, settings: GroupOptions, options?: { queue?: string }): Promise<void> {
    const name = readGroup(group, 'setGroup');
    const read = readGroupSettings(settings, 'setGroup');
    return this.store.queue(queueOf(options, 'setGroup')).management.setGroup(name, read);
  }

  /**
   * Pauses one group in all processes: none of its jobs is claimed, popped or relayed until `forMs` is over or somebody calls
   * `resumeGroup`. Running jobs go on, and new ones can be scheduled. Of two calls the later one holds. Kept in Redis. A handler that an
   * API tells to slow down pauses the group of its own job and snoozes. Atomic.
   */
  async pauseGroup(group: string, options: PauseOptions = {}): Promise<void> {
    const name = readGroup(group, 'pauseGroup');
    const { forMs, queue = DEFAULT_QUEUE } = readOptions(options, PAUSE_SHAPE, 'pauseGroup', invalidSchedule);
    return this.store.queue(queue).management.pauseGroup(name, forMs);
  }

  /** Ends the pause of a group; its work goes on at once. Does nothing if the group is not paused. Atomic. */
  async resumeGroup(group: string, options?: { queue?: string }): Promise<void> {
    const name = readGroup(group, 'resumeGroup');
    return this.store.queue(queueOf(options, 'resumeGroup')).management.resumeGroup(name);
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
