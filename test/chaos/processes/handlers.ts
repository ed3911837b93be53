import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { IsIn, IsInt, IsString } from 'class-validator';
import {
  type BatchOptions,
  defineScheduledJob,
  JobCancelledError,
  JobOutcome,
  JobTimeoutError,
  OnScheduledJob,
  ScheduledJob,
  UnrecoverableJobError,
} from 'nestjs-redis-scheduled-queue';
import { History, monotonicMs, type RunEnd } from '../history.js';
import { type ChaosPayload, KINDS, type KindName } from '../job-kinds.js';
import { occurrenceOf, RECURRENCES, workOf } from '../recurrences.js';
import { BACKOFF_MS, QUEUE_NAMES, type QueueName, SNOOZE_MS, TIMEOUT_MS } from '../settings.js';

/** What `typed` and `unfit` are checked against; the revision of an unfit one is no number. */
class TypedPayload {
  @IsString() token!: string;
  @IsInt() revision!: number;
  @IsIn(['typed', 'unfit']) kind!: KindName;
}

/** The handler of a kind, in every queue. */
function Handles(
  kind: KindName,
  { payload, timeoutMs, batch }: { payload?: typeof TypedPayload; timeoutMs?: number; batch?: BatchOptions } = {},
) {
  const { maxAttempts } = KINDS[kind];
  const definition = payload ? defineScheduledJob(kind, { payload }) : defineScheduledJob<ChaosPayload>(kind);
  return (target: object, key: string, descriptor: PropertyDescriptor) => {
    for (const queue of QUEUE_NAMES) {
      const backoff = { type: 'fixed', delayMs: BACKOFF_MS } as const;
      const options = { queue, maxAttempts, timeoutMs, backoff, batch };
      OnScheduledJob(definition as never, options as never)(target, key, descriptor as never);
    }
  };
}

/** Notes when runs begin and what they answer. */
@Injectable()
export class Notebook {
  constructor(private readonly history: History) {}

  start(payload: Pick<ChaosPayload, 'token' | 'revision' | 'kind'>, job: ScheduledJob): void {
    const { id, attempt, maxAttempts, fence, latenessMs } = job;
    const times = { dueAt: job.dueAt.getTime(), createdAt: job.createdAt.getTime(), latenessMs };
    const { token, revision, kind } = payload;
    const noted = { token, revision, kind, group: job.group, id, queue: job.queue as QueueName, attempt, maxAttempts };
    const recurrence = job.recurrence && { ...job.recurrence, at: job.recurrence.at.getTime() };
    this.history.note({ type: 'start', ...noted, fence, ...times, recurrence });
  }

  stoodStill(from: number): void {
    this.history.note({ type: 'stall', from });
  }

  end({ id, fence }: ScheduledJob, how: RunEnd): void {
    this.history.note({ type: 'end', id, fence, how });
  }
}

/** Results are fences: what a kept job holds in the end says which of its runs counted. */
@Injectable()
export class Handlers {
  constructor(@Inject(Notebook) private readonly notebook: Notebook) {}

  /** Synchronous, as some handlers are. */
  @Handles('quick')
  @Handles('debounced')
  @Handles('throttled')
  quick(payload: ChaosPayload, job: ScheduledJob): number {
    this.notebook.start(payload, job);
    return this.completed(job);
  }

  @Handles('slow')
  async slow(payload: ChaosPayload, job: ScheduledJob): Promise<number> {
    this.notebook.start(payload, job);
    await sleep(payload.workMs);
    return this.completed(job);
  }

  @Handles('flaky')
  async flaky(payload: ChaosPayload, job: ScheduledJob): Promise<number> {
    this.notebook.start(payload, job);
    await sleep(5);
    if (job.attempt <= payload.fails!) this.fail(job, new Error(`flaky ${job.fence}`));
    return this.completed(job);
  }

  /** Ends in the same round of the event loop in which its jobs are noted as ended, as the others do. */
  @Handles('batched', { batch: { size: 10, waitMs: 40 } })
  async batched(payloads: ChaosPayload[], jobs: ScheduledJob[]): Promise<JobOutcome> {
    for (const [i, job] of jobs.entries()) this.notebook.start(payloads[i]!, job);
    await sleep(5);
    const fails = (i: number) => jobs[i]!.attempt <= (payloads[i]!.fails ?? 0);
    // Every other time the failure of the first is that of all.
    if (fails(0) && jobs[0]!.fence % 2 === 0) {
      for (const job of jobs) this.notebook.end(job, 'fail');
      throw new Error('batched');
    }
    return JobOutcome.each(
      jobs.map((job, i) => {
        if (!fails(i)) return this.completed(job);
        this.notebook.end(job, 'fail');
        return new Error(`batched ${job.fence}`);
      }),
    );
  }

  @Handles('grouped')
  async grouped(payload: ChaosPayload, job: ScheduledJob): Promise<number> {
    this.notebook.start(payload, job);
    await sleep(payload.workMs);
    if (job.attempt <= (payload.fails ?? 0)) this.fail(job, new Error(`grouped ${job.fence}`));
    return this.completed(job);
  }

  @Handles('failing')
  async failing(payload: ChaosPayload, job: ScheduledJob): Promise<void> {
    this.notebook.start(payload, job);
    this.fail(job, new Error(`failing ${job.fence}`));
  }

  @Handles('unrecoverable')
  async unrecoverable(payload: ChaosPayload, job: ScheduledJob): Promise<void> {
    this.notebook.start(payload, job);
    this.notebook.end(job, 'dead-letter');
    throw new UnrecoverableJobError(`unrecoverable ${job.fence}`);
  }

  @Handles('snoozing')
  async snoozing(payload: ChaosPayload, job: ScheduledJob): Promise<JobOutcome | number> {
    this.notebook.start(payload, job);
    if (Date.now() - job.createdAt.getTime() > payload.snoozesForMs!) return this.completed(job);
    this.notebook.end(job, 'snooze');
    return JobOutcome.snooze(SNOOZE_MS);
  }

  @Handles('discarded')
  async discarded(payload: ChaosPayload, job: ScheduledJob): Promise<JobOutcome> {
    this.notebook.start(payload, job);
    await sleep(2);
    this.notebook.end(job, 'discard');
    return JobOutcome.discard(`discarded ${job.fence}`);
  }

  @Handles('deadLettered')
  async deadLettered(payload: ChaosPayload, job: ScheduledJob): Promise<JobOutcome> {
    this.notebook.start(payload, job);
    this.notebook.end(job, 'dead-letter');
    return JobOutcome.deadLetter(`dead-lettered ${job.fence}`);
  }

  @Handles('typed', { payload: TypedPayload })
  @Handles('unfit', { payload: TypedPayload })
  async typed(payload: TypedPayload, job: ScheduledJob): Promise<number> {
    this.notebook.start(payload, job);
    return this.completed(job);
  }

  /** Nothing renews a lease while the event loop stands still. */
  @Handles('blocking')
  async blocking(payload: ChaosPayload, job: ScheduledJob): Promise<number> {
    this.notebook.start(payload, job);
    const from = monotonicMs();
    const until = from + (job.attempt === 1 ? payload.workMs! : 0);
    while (monotonicMs() < until);
    // By itself: of poison that waits behind this the process dies before it would notice that it stood still.
    this.notebook.stoodStill(from);
    return this.completed(job);
  }

  /** By its signal it learns that its time is over, and so that the attempt has failed, whatever it does then. */
  @Handles('timed', { timeoutMs: TIMEOUT_MS })
  async timed(payload: ChaosPayload, job: ScheduledJob): Promise<number> {
    this.notebook.start(payload, job);
    if (job.attempt > payload.fails!) return this.completed(job);
    const reason = await this.aborted(job, 3 * TIMEOUT_MS, 'fail', JobTimeoutError);
    if (!reason) this.fail(job, new Error(`timed ${job.fence}`));
    if (payload.deaf) await sleep(2 * TIMEOUT_MS);
    throw reason;
  }

  @Handles('cancellable')
  async cancellable(payload: ChaosPayload, job: ScheduledJob): Promise<number> {
    this.notebook.start(payload, job);
    const reason = await this.aborted(job, payload.workMs!, 'cancel', JobCancelledError);
    if (reason) throw reason;
    return this.completed(job);
  }

  @Handles('perishable')
  async perishable(payload: ChaosPayload, job: ScheduledJob): Promise<number> {
    this.notebook.start(payload, job);
    return this.completed(job);
  }

  /** All occurrences of a recurrence carry the same, so an id is the token. */
  @Handles('recurring')
  async recurring(_payload: object, job: ScheduledJob): Promise<number> {
    this.notebook.start({ token: job.id, revision: 0, kind: 'recurring' }, job);
    const { recurrence, at } = occurrenceOf(job.id)!;
    const { workMs, fails } = workOf(RECURRENCES[recurrence]!, at);
    if (workMs > 0) await sleep(workMs);
    if (job.attempt <= fails) this.fail(job, new Error(`recurring ${job.fence}`));
    return this.completed(job);
  }

  @Handles('poison')
  async poison(payload: ChaosPayload, job: ScheduledJob): Promise<void> {
    this.notebook.start(payload, job);
    if (payload.abruptly) process.kill(process.pid, 'SIGKILL');
    process.exit(86);
  }

  /** Works until the signal aborts, which it notes at once where that ends the run so, or for a while. */
  private async aborted(
    job: ScheduledJob,
    workMs: number,
    how: RunEnd,
    by: typeof JobTimeoutError | typeof JobCancelledError,
  ): Promise<Error | undefined> {
    const { signal } = job;
    signal.addEventListener('abort', () => signal.reason instanceof by && this.notebook.end(job, how), { once: true });
    await sleep(workMs, undefined, { signal }).catch(() => {});
    return signal.aborted ? signal.reason : undefined;
  }

  private completed(job: ScheduledJob): number {
    this.notebook.end(job, 'ok');
    return job.fence;
  }

  private fail(job: ScheduledJob, error: Error): never {
    this.notebook.end(job, 'fail');
    throw error;
  }
}

/** Of one worker only, so that workers of unequal crews share a queue. */
@Injectable()
export class SoloHandlers {
  constructor(@Inject(Notebook) private readonly notebook: Notebook) {}

  @Handles('solo')
  async solo(payload: ChaosPayload, job: ScheduledJob): Promise<number> {
    this.notebook.start(payload, job);
    this.notebook.end(job, 'ok');
    return job.fence;
  }
}
