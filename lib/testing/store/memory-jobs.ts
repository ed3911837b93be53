import { type JobIdMaker, newMaker } from '../../core/job/job-id.js';
import type { Due } from '../../core/read/due.js';
import type { CancelReason, NewJob, QueueJobs, ScheduledAnswer } from '../../store/job-store.js';
import { envelopeOf, type Job, type QueuedJob } from './job.js';
import { without } from './lists/tag-index.js';
import type { MemoryQueue } from './memory-queue.js';
import type { Steps } from './steps.js';

/** But for the call that schedules many: it takes a step for each. */
export type SingleJobs = Omit<QueueJobs, 'scheduleMany'>;

/** What is done to single jobs. */
export class MemoryJobs implements Steps<SingleJobs> {
  private readonly maker = newMaker();

  constructor(
    private readonly queue: MemoryQueue,
    private readonly ids: JobIdMaker,
  ) {}

  schedule(job: NewJob): ScheduledAnswer {
    this.queue.noteUse();
    const { ledger } = this.queue;
    const id = job.id ?? this.ids.next(this.maker, this.queue.nowMs());
    const there = ledger.jobs.get(id);
    if (there) {
      // Who is told that a job is active counts on its further attempts.
      if (there.envelope.name === job.name) there.isLastRun = undefined;
      return answerOf(there, job.name, there.held ? 'active' : there.diedAtMs === undefined ? 'waiting' : 'dead');
    }
    if (ledger.isRemembered(id, this.queue.nowMs())) return { id, status: 'ended', dueAtMs: null };
    return this.create(id, job);
  }

  replace(job: NewJob & { id: string }): ScheduledAnswer {
    this.queue.noteUse();
    const there = this.queue.ledger.jobs.get(job.id);
    if (!there) return this.create(job.id, job);
    if (there.envelope.name !== job.name) return answerOf(there, job.name, 'taken');
    if (there.held) return this.queueBehind(there, job);
    if (there.diedAtMs === undefined) return this.replaceWaiting(there, job);
    this.dropDead(there);
    return { ...this.create(job.id, job), pushedOut: true };
  }

  cancel(id: string): boolean {
    const waiting = this.queue.ledger.findWaiting(id);
    return waiting ? this.cancelWaiting(waiting, 'cancel') : this.cancelQueued(this.queue.ledger.jobs.get(id));
  }

  cancelRunning(id: string): boolean {
    const held = this.queue.ledger.jobs.get(id)?.held;
    if (!held) return false;
    held.isCancelled = true;
    this.queue.sleepers.cancel(held.session);
    return true;
  }

  remove(id: string): boolean {
    const { ledger } = this.queue;
    const job = ledger.jobs.get(id);
    if (job?.held) return false;
    if (!job) {
      const wasKept = ledger.completed.forget(id) || ledger.ended.forget(id);
      if (wasKept) ledger.usedIds.delete(id);
      return wasKept;
    }
    if (job.diedAtMs === undefined) return this.cancelWaiting(job, '');
    this.dropDead(job);
    return true;
  }

  reschedule(id: string, due: Due): boolean {
    const { ledger } = this.queue;
    const dueAtMs = this.queue.dueAt(due);
    const waiting = ledger.findWaiting(id);
    const queued = ledger.jobs.get(id)?.queued;
    if (waiting) {
      ledger.move(waiting, dueAtMs);
      this.queue.tellOf(waiting);
    } else if (queued) queued.dueAtMs = dueAtMs;
    return waiting !== undefined || queued !== undefined;
  }

  /** Its id is free at once. Where it was the armed occurrence of a recurrence, the one after it is armed. */
  private cancelWaiting(job: Job, reason: CancelReason | ''): true {
    this.queue.ledger.cancel([job], reason, this.queue.nowMs());
    this.queue.timetable.skip(job);
    return true;
  }

  /** The run goes on, and is the last of its id. A queued job counts as scheduled only now. */
  cancelQueued(job: Job | undefined): boolean {
    if (!job?.queued) return false;
    const { ledger } = this.queue;
    ledger.tags.delete(job.id, without(job.queued.envelope.tags, job.envelope.tags));
    job.queued = undefined;
    job.isLastRun = true;
    ledger.count('scheduled');
    ledger.count('cancelled');
    return true;
  }

  dropDead(job: Job): void {
    const { ledger } = this.queue;
    ledger.revive(job);
    ledger.leave(job);
    ledger.count('deadDropped');
  }

  private create(id: string, job: NewJob): ScheduledAnswer {
    const created: Job = {
      id,
      ...this.placed(id, job),
      attempts: 0,
      crashes: 0,
      failures: [],
    };
    this.queue.ledger.usedIds.delete(id);
    this.queue.ledger.enter(created);
    this.queue.tellOf(created);
    return { id, status: 'created', dueAtMs: created.dueAtMs };
  }

  /** The new job keeps the crashes: or a job that kills its process could be kept alive for ever by replacing it. */
  private replaceWaiting(there: Job, job: NewJob & { id: string }): ScheduledAnswer {
    const { ledger } = this.queue;
    ledger.takeOut(there);
    ledger.endHold(there);
    this.queue.ledger.tags.change(there.id, there.envelope.tags, job.tags ?? []);
    Object.assign(there, this.placed(there.id, job, there), {
      attempts: 0,
      failures: [],
      progress: undefined,
      hasBegun: false,
    });
    ledger.wait(there);
    this.queue.tellOf(there);
    return { id: there.id, status: 'replaced', dueAtMs: there.dueAtMs };
  }

  private queueBehind(there: Job, job: NewJob & { id: string }): ScheduledAnswer {
    const { tags } = there.envelope;
    this.queue.ledger.tags.change(
      there.id,
      without(there.queued?.envelope.tags ?? [], tags),
      without(job.tags ?? [], tags),
    );
    there.isLastRun = undefined;
    there.queued = this.placed(there.id, job, there.queued);
    return { id: there.id, status: 'queued', dueAtMs: there.queued.dueAtMs };
  }

  /** The job as it comes into the place of `before`, a waiting or queued job, if there is one: its due time, and since when its row lasts. */
  private placed(id: string, job: NewJob, before?: QueuedJob & Pick<Job, 'hasBegun'>): QueuedJob {
    const { ledger } = this.queue;
    const nowMs = this.queue.nowMs();
    const { maxWaitMs, throttleMs } = job;
    const isRow = before && !before.hasBegun && (maxWaitMs !== undefined || before.isBounded);
    const createdAtMs = isRow ? before.envelope.createdAtMs : nowMs;
    let dueAtMs = Math.min(this.queue.dueAt(job.due), createdAtMs + (maxWaitMs ?? Number.POSITIVE_INFINITY));
    if (throttleMs !== undefined) {
      dueAtMs = before?.dueAtMs ?? Math.max(dueAtMs, ledger.throttledUntil(id, nowMs));
      if (!before) ledger.throttle(id, dueAtMs + throttleMs);
    }
    return {
      envelope: envelopeOf(job, createdAtMs, job.id !== undefined),
      dueAtMs,
      isBounded: isRow || maxWaitMs !== undefined,
    };
  }
}

function answerOf(
  { id, dueAtMs, envelope }: Job,
  name: string,
  status: 'active' | 'waiting' | 'dead' | 'taken',
): ScheduledAnswer {
  if (envelope.name !== name) return { id, status: 'taken', dueAtMs, takenBy: envelope.name };
  return { id, status, dueAtMs };
}
