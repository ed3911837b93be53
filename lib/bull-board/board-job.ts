import type { JobState as BoardState, QueueJob, QueueJobJson } from '@bull-board/api/typings/app';
import type { FailedAttempt, InspectedJob } from '../api/inspection/inspected-job.js';
import type { ScheduledQueueInspector } from '../api/scheduled-queue.inspector.js';
import type { ScheduledQueueProducer } from '../api/scheduled-queue.producer.js';
import { FIRST_VERSION } from '../core/job/job-versions.js';
import { DEFAULT_PRIORITY } from '../core/options/defaults.js';
import { boardId } from './board-id.js';
import { outdated, refused } from './refusal.js';

/** Who does what the board's buttons say. */
export interface JobCalls {
  readonly inspector: ScheduledQueueInspector;
  /** The board hides the buttons where not, and carries out what its API is asked for all the same. */
  readonly mayRetry: boolean;
  /** Throws where the board has no producer. */
  producerTo(action: string): ScheduledQueueProducer;
}

/** How the board calls the states; it has no name for discarded and cancelled jobs. */
export const BOARD_STATES = {
  due: 'waiting',
  scheduled: 'delayed',
  active: 'active',
  completed: 'completed',
  dead: 'failed',
} as const satisfies Partial<Record<InspectedJob['state'], BoardState>>;

/** A job as bull-board shows it, redacted before, and works with it. It was read once: what happens to the job later does not show. */
export class BoardJob implements QueueJob {
  constructor(
    private readonly calls: JobCalls,
    private readonly job: InspectedJob,
  ) {}

  get id(): string {
    return boardId(this.job.id);
  }

  /** By the names that `schedule` takes, as the button "Duplicate" sends them back. The delay of a job that is due or over is history. */
  get opts(): QueueJobJson['opts'] {
    const { state, priority, maxAttempts, backoff, timeoutMs, maxLatenessMs, onLate, tags, headers } = this.job;
    const { preferredWorker: worker, group, version } = this.job;
    return {
      ...(state === 'scheduled' && { delay: delayOf(this.job) }),
      ...(priority !== DEFAULT_PRIORITY && { priority }),
      ...(maxAttempts !== undefined && { maxAttempts }),
      ...(backoff !== undefined && { backoff }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(maxLatenessMs !== undefined && { maxLatenessMs, onLate }),
      ...(worker !== undefined && { worker }),
      ...(group !== undefined && { group }),
      ...(version > FIRST_VERSION && { version }),
      ...(tags.length > 0 && { tags }),
      ...(Object.keys(headers).length > 0 && { headers }),
    };
  }

  toJSON(): QueueJobJson {
    const { job, opts } = this;
    const last = job.failures.at(-1);
    return {
      id: this.id,
      name: job.name,
      timestamp: timestampOf(job),
      delay: delayOf(job),
      ...timesOfRun(job),
      processedBy: job.worker,
      attemptsMade: job.attempts,
      // The board wants a value.
      progress: (job.progress ?? 0) as QueueJobJson['progress'],
      failedReason: last ? lineOf(last) : '',
      stacktrace: job.failures.map(
        (failure) => `Attempt ${failure.attempt} at ${failure.at.toISOString()}: ${failure.stack ?? lineOf(failure)}`,
      ),
      data: job.payload,
      returnvalue: job.result,
      opts,
      priority: opts.priority,
      stalledCounter: job.crashes,
      repeatJobKey: job.recurrence && boardId(job.recurrence.id),
    };
  }

  async getState(): Promise<BoardState> {
    const { state } = this.job;
    return state in BOARD_STATES ? BOARD_STATES[state as keyof typeof BOARD_STATES] : 'unknown';
  }

  async promote(): Promise<void> {
    const isPromoted = await this.calls.producerTo('promoting a job').runNow(this.job);
    if (!isPromoted) throw this.outdated('promoted', 'it has started, or it is gone');
  }

  async retry(): Promise<void> {
    if (!this.calls.mayRetry)
      throw refused('This board does not allow retries: its ScheduledQueueAdapter has allowRetries: false.');
    const retried = await this.calls.inspector.replayDead(this.job);
    if (retried === 0) throw this.outdated('retried', 'it is not dead any more');
  }

  async remove(): Promise<void> {
    const isRemoved = await this.calls.inspector.remove(this.job);
    if (!isRemoved) throw this.outdated('deleted', 'it is running, or it is gone');
  }

  /** `delay`: from now, in ms. */
  async changeDelay(delay: number): Promise<void> {
    // Somebody has chosen an instant, of which the board has made a delay by the clock of this process. Redis would count it by its own.
    const at = new Date(Date.now() + delay);
    const isMoved = await this.calls.producerTo('giving a job a new time').reschedule(this.job, { at });
    if (!isMoved) throw this.outdated('given a new time', 'it has started, or it is gone');
  }

  async changePriority(): Promise<void> {
    throw refused(
      "The priority of a job cannot be changed here: schedule it again under its id, with onDuplicate: 'replace' and the new priority.",
    );
  }

  async updateData(): Promise<void> {
    throw refused(
      "The payload of a job cannot be edited here: schedule it again under its id, with onDuplicate: 'replace' and the new payload.",
    );
  }

  private outdated(done: string, why: string): Error {
    return outdated(`Job '${this.job.id}' was not ${done}: ${why}.`);
  }
}

/** When it was scheduled. If Redis has lost the content of the job, its due time stands for that. */
const timestampOf = ({ createdAt, dueAt }: InspectedJob) => (createdAt ?? dueAt).getTime();

/** The board adds it to the timestamp. Negative if the job was scheduled for a time in the past. */
const delayOf = (job: InspectedJob) => job.dueAt.getTime() - timestampOf(job);

/**
 * When the latest run began and ended. Redis does not keep when it began, so the time stands for it at which it could begin: without one
 * the board would say that the run began in 1970.
 */
function timesOfRun(job: InspectedJob): Pick<QueueJobJson, 'processedOn' | 'finishedOn'> {
  if (job.state === 'scheduled' || job.state === 'due') return {};
  const finishedOn = job.endedAt?.getTime();
  const couldBegin = Math.max(timestampOf(job), job.dueAt.getTime());
  return { processedOn: Math.min(couldBegin, finishedOn ?? couldBegin), finishedOn };
}

function lineOf({ name, message, cause }: FailedAttempt): string {
  const said = [name, message].filter(Boolean).join(': ');
  return cause === undefined ? said : `${said} (cause: ${cause})`;
}
