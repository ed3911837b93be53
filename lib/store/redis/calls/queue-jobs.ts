import type { Due } from '../../../core/read/due.js';
import type { Answered, NewJob, QueueJobs, ScheduledAnswer } from '../../job-store.js';
import { type CompletionListener, completionsOf } from '../codec/completion-fields.js';
import { encodeRest, encodeRoute } from '../codec/envelope-text.js';
import type { QueueKeys } from '../keys.js';
import { annotated } from '../link/call-error.js';
import type { RedisTending } from '../recur/redis-tending.js';
import type { ScheduleOutbox } from '../schedule/schedule-outbox.js';
import { SET_OVER, setOver, statusOf } from '../schedule/shared-arguments.js';
import { cancelRunningScript, cancelScript, removeScript, rescheduleScript } from '../scripts/change/contract.js';
import { replaceScript } from '../scripts/schedule/contract.js';
import type { CallerPool } from './caller-pool.js';
import { howChosen, toDueArgument } from './job-arguments.js';

/**
 * What is done to single jobs of one queue. New ones go through the outbox, many in one call. `cancel`, `reschedule` and `replace` also act
 * on the job queued behind a running one; `cancelRunning` and `remove` do not.
 */
export class RedisQueueJobs implements QueueJobs {
  private readonly scripts;

  constructor(
    private readonly outbox: ScheduleOutbox,
    private readonly callers: CallerPool,
    keys: QueueKeys,
    private readonly tending: RedisTending,
    private readonly queue: string,
    private readonly isUsed: () => void,
    private readonly completed: CompletionListener,
  ) {
    this.scripts = {
      cancel: cancelScript(keys),
      reschedule: rescheduleScript(keys),
      replace: replaceScript(keys),
      cancelRunning: cancelRunningScript(keys),
      remove: removeScript(keys),
    };
  }

  schedule(job: NewJob): Promise<ScheduledAnswer> {
    this.isUsed();
    return this.outbox.add(job);
  }

  scheduleMany(jobs: readonly NewJob[], answered: Answered): Promise<void> {
    this.isUsed();
    return this.outbox.addMany(jobs, answered);
  }

  async cancel(id: string): Promise<boolean> {
    const call = this.callers.call(this.scripts.cancel, { id });
    const [, , count, ...completions] = await annotated(call, { jobId: id });
    this.completed(completionsOf(completions));
    if (count === '1') await this.tending.afterCancel([id]);
    return count === '1';
  }

  async reschedule(id: string, due: Due): Promise<boolean> {
    const args = { id, dueOrDelay: toDueArgument(due) };
    const [, , isMoved] = await annotated(this.callers.call(this.scripts.reschedule, args), { jobId: id });
    return isMoved === '1';
  }

  async replace(job: NewJob & { id: string }): Promise<ScheduledAnswer> {
    this.isUsed();
    const args = {
      id: job.id,
      chosen: howChosen(job.id),
      route: encodeRoute(job),
      dueOrDelay: toDueArgument(job.due),
      maxWaitMs: job.maxWaitMs ?? -1,
      throttleMs: job.throttleMs ?? -1,
      rest: encodeRest(job),
    };
    const call = this.callers.call(this.scripts.replace, args, job.payload.length);
    const [, , letter, dueAtMs, besides, ...completions] = await annotated(call, { jobId: job.id, jobName: job.name });
    this.completed(completionsOf(completions));
    if (letter === SET_OVER) throw setOver(job, this.queue);
    const status = statusOf(letter);
    return {
      id: job.id,
      status,
      dueAtMs: dueAtMs === '' ? null : Number(dueAtMs),
      ...(status === 'taken' && { takenBy: besides }),
      ...(status === 'created' && besides && { pushedOut: true }),
    };
  }

  async cancelRunning(id: string): Promise<boolean> {
    const [, , wasRunning] = await annotated(this.callers.call(this.scripts.cancelRunning, { id }), { jobId: id });
    return wasRunning === '1';
  }

  async remove(id: string): Promise<boolean> {
    const call = this.callers.call(this.scripts.remove, { id });
    const [, , isRemoved, ...completions] = await annotated(call, { jobId: id });
    this.completed(completionsOf(completions));
    if (isRemoved === '1') await this.tending.afterCancel([id]);
    return isRemoved === '1';
  }
}
