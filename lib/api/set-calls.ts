import type { SetState } from '../core/job/job-set.js';
import { type OpenSetOptions, readOpenSet, readSetId } from '../core/options/set-options.js';
import { HandOverCalls } from './hand-over-calls.js';
import { queueOf } from './inspection/inspector-options.js';

/** The answer of `openSet`. */
export interface OpenedSet {
  /** The id of the set: give it to `schedule` as `set`. */
  readonly id: string;
  /** The queue of the set, in which its members must be. */
  readonly queue: string;
  /** Whether this call has opened the set; `false` if there was one of that id, which stays as it is. */
  readonly created: boolean;
  /** How the set is now. */
  readonly state: SetState;
}

/** The calls of `ScheduledQueueProducer` about sets. */
export abstract class SetCalls extends HandOverCalls {
  /**
   * Opens a set: jobs that are scheduled with the option `set` are its members. Once it is closed and no member waits, runs or is queued, it is
   * done, and the job of `done` is scheduled, once, by the very script that ended the last member. A set of that id that is there is not
   * changed. An open set stays until it is closed; a done one is remembered for `keepIdsMs`. Ids have 1 to 256 printable characters. Throws
   * `InvalidScheduleError`, `InvalidPayloadError` or `PayloadTooLargeError` before anything is written. Atomic.
   *
   * @example
   * ```ts
   * const { id: set } = await producer.openSet('import/7', { done: { job: sendReminder, payload: { to: 'ada@example.com' } } });
   * await producer.schedule(sendReminder, { to: 'bob@example.com' }, { set });
   * await producer.closeSet(set);
   * ```
   */
  async openSet<T>(id: string, options?: OpenSetOptions<T>): Promise<OpenedSet> {
    const { queue, done } = readOpenSet(id, options);
    const job = done && this.withId(await this.written(done.payload, done.request));
    const { isOpened, state } = await this.store.queue(queue).sets.open(id, job && { ...job, due: delayOf(job.due) });
    return { id, queue, created: isOpened, state };
  }

  /**
   * Closes a set: it is done once none of its members is pending, which may be at once. Members may still be added until then. `false`: there is no
   * such set, or it was closed before. Atomic.
   */
  async closeSet(id: string, options?: { queue?: string }): Promise<boolean> {
    const read = readSetId(id, 'closeSet');
    return await this.store.queue(queueOf(options, 'closeSet')).sets.close(read);
  }
}

/** A completion job has no instant of its own. */
function delayOf(due: { at: number } | { delayMs: number }): { delayMs: number } {
  return { delayMs: 'delayMs' in due ? due.delayMs : 0 };
}
