import type { ScheduledQueueErrorFields } from '../../../core/errors.js';
import type { Due } from '../../../core/read/due.js';
import type { Answered, NewJob, QueueJobs, ScheduledAnswer } from '../../job-store.js';
import { encodeFlags, encodeRoute, encodeSettings } from '../codec/envelope-text.js';
import type { QueueKeys } from '../keys.js';
import { saying } from '../link/call-error.js';
import type { ScriptArgument } from '../link/connection.js';
import type { ScheduleOutbox } from '../schedule/schedule-outbox.js';
import { statusOf } from '../schedule/schedule-status.js';
import type { ScriptName } from '../scripts/embedded.js';
import { toDueArgument } from './due-argument.js';
import { howChosen } from './how-chosen.js';
import type { SlotPool } from './slot-pool.js';

/** What is done to single jobs of one queue. New ones go through the outbox, many in one call. */
export class RedisQueueJobs implements QueueJobs {
  constructor(
    private readonly outbox: ScheduleOutbox,
    private readonly slots: SlotPool,
    private readonly keys: QueueKeys,
    private readonly options: {
      queue: string;
      clustered: boolean;
      keepRecordMs: number;
      stealAfterMs: number;
    },
  ) {}

  schedule(job: NewJob): Promise<ScheduledAnswer> {
    return this.outbox.add(job);
  }

  scheduleMany(jobs: readonly NewJob[], answered: Answered): Promise<void> {
    return this.outbox.addMany(jobs, answered);
  }

  async cancel(id: string): Promise<boolean> {
    const { keys, options } = this;
    const fixed = [keys.jobs, keys.claims, keys.failures, keys.queued, keys.stats, keys.levels];
    const reply = await this.call('cancel', fixed, [options.keepRecordMs, id], { jobId: id });
    return reply[2] === '1';
  }

  async reschedule(id: string, due: Due): Promise<boolean> {
    const { keys } = this;
    const { keepRecordMs, stealAfterMs } = this.options;
    const rest = [keepRecordMs, this.clusterFlag, id, toDueArgument(due), stealAfterMs];
    const reply = await this.call('reschedule', [keys.jobs, keys.levels, keys.sleeping, keys.queued], rest, {
      jobId: id,
    });
    return reply[2] === '1';
  }

  async replace(job: NewJob & { id: string }): Promise<ScheduledAnswer> {
    const { keys } = this;
    const fixed = [
      keys.jobs,
      keys.claims,
      keys.failures,
      keys.active,
      keys.dead,
      keys.usedIds,
      keys.stats,
      keys.completed,
      keys.results,
      keys.levels,
      keys.sleeping,
      keys.queued,
    ];
    const args = [
      this.options.keepRecordMs,
      this.clusterFlag,
      job.id,
      encodeRoute(job),
      toDueArgument(job.due),
      howChosen(job.id),
      `${encodeFlags(true, job.tags)}${encodeSettings(job.settings)}\n${job.payload}`,
      this.options.stealAfterMs,
    ];
    const [, , letter, dueAtMs, besides] = (await this.call(
      'replace',
      fixed,
      args,
      { jobId: job.id, jobName: job.name },
      job.payload.length,
    )) as string[];
    const status = statusOf(letter!);
    return {
      id: job.id,
      status,
      dueAtMs: dueAtMs === undefined ? null : Number(dueAtMs),
      ...(status === 'taken' && { takenBy: besides }),
      ...(status === 'created' && besides && { pushedOut: true }),
    };
  }

  async cancelRunning(id: string): Promise<boolean> {
    const { keys, options } = this;
    const reply = await this.call('cancel-running', [keys.claims], [options.keepRecordMs, id], { jobId: id });
    return reply[2] === '1';
  }

  async remove(id: string): Promise<boolean> {
    const { keys, options } = this;
    const fixed = [
      keys.jobs,
      keys.claims,
      keys.failures,
      keys.usedIds,
      keys.stats,
      keys.levels,
      keys.dead,
      keys.completed,
      keys.results,
      keys.queued,
    ];
    const reply = await this.call('remove', fixed, [options.keepRecordMs, id], { jobId: id });
    return reply[2] === '1';
  }

  private get clusterFlag(): number {
    return this.options.clustered ? 1 : 0;
  }

  private call(
    script: ScriptName,
    keys: readonly string[],
    rest: readonly ScriptArgument[],
    about: ScheduledQueueErrorFields,
    bytes = 0,
  ): Promise<unknown[]> {
    return saying(this.slots.call(script, keys, rest, bytes), { queue: this.options.queue, ...about });
  }
}
