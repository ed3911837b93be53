import type { BlackoutRule } from '../../core/blackouts/blackout.js';
import { FIRST_INSTANT_MS, LAST_INSTANT_MS } from '../../core/constants.js';
import type { GroupSettings } from '../../core/options/group-options.js';
import type { Due } from '../../core/read/due.js';
import type { CancelReason, DeadSelection, QueueManagement } from '../../store/job-store.js';
import type { Job } from './job.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { MemoryQueue } from './memory-queue.js';
import type { Steps } from './steps.js';

/** What is done to a queue, or to many of its jobs at once. */
export class MemoryManagement implements Steps<QueueManagement> {
  constructor(
    private readonly queue: MemoryQueue,
    private readonly jobs: MemoryJobs,
  ) {}

  pause(forMs = Number.POSITIVE_INFINITY): void {
    const untilMs = this.queue.nowMs() + forMs;
    this.queue.gates.pause(untilMs);
    // Who has seen a pause that ended later would sleep beyond the end of this one.
    this.queue.sleepers.tellAll(untilMs);
  }

  resume(): void {
    const wasPaused = this.queue.gates.pausedUntil(this.queue.nowMs()) !== undefined;
    this.queue.gates.pause(0);
    if (wasPaused) this.queue.sleepers.tellAll(this.queue.nowMs());
  }

  setGroup(group: string, settings: GroupSettings): void {
    this.queue.groups.set(group, settings);
    this.queue.tellOfGroup(group, this.queue.nowMs());
  }

  pauseGroup(group: string, forMs = Number.POSITIVE_INFINITY): void {
    const untilMs = this.queue.nowMs() + forMs;
    this.queue.groups.pause(group, untilMs);
    this.queue.tellOfGroup(group, untilMs);
  }

  resumeGroup(group: string): void {
    const nowMs = this.queue.nowMs();
    if (this.queue.groups.resume(group, nowMs)) this.queue.tellOfGroup(group, nowMs);
  }

  setBlackouts(blackouts: readonly BlackoutRule[]): void {
    const { gates, sleepers } = this.queue;
    const nowMs = this.queue.nowMs();
    const wasShutUntilMs = gates.blackoutUntil(nowMs);
    gates.setBlackouts(blackouts);
    const opensAtMs = gates.blackoutUntil(nowMs) ?? nowMs;
    // Who has seen a blackout that ended later would sleep beyond the end of this one.
    if (wasShutUntilMs !== undefined && opensAtMs < wasShutUntilMs) sleepers.tellAll(opensAtMs);
  }

  /** They are computed when somebody looks. */
  tendBlackouts(): undefined {
    return undefined;
  }

  clear(): number {
    return this.cancelAll([...this.queue.ledger.jobs.values()], 'clear').length;
  }

  cancelTagged(tag: string, told: (ids: readonly string[]) => void): number {
    const ids = this.cancelAll(this.tagged(tag).all, 'cancelTagged');
    told(ids);
    return ids.length;
  }

  shiftTagged(tag: string, byMs: number): number {
    const { ledger } = this.queue;
    const { waiting, queued } = this.tagged(tag);
    const shifted = (dueAtMs: number) => Math.min(Math.max(dueAtMs + byMs, FIRST_INSTANT_MS), LAST_INSTANT_MS);
    const moved = waiting.filter(({ dueAtMs }) => shifted(dueAtMs) !== dueAtMs);
    for (const job of moved) ledger.move(job, shifted(job.dueAtMs));
    for (const job of moved) this.queue.tellOf(job);
    const movedBehind = queued.filter(({ queued }) => shifted(queued!.dueAtMs) !== queued!.dueAtMs);
    for (const job of movedBehind) job.queued!.dueAtMs = shifted(job.queued!.dueAtMs);
    return moved.length + movedBehind.length;
  }

  replayDead(which: string | DeadSelection = {}, due: Due, perSecond?: number): number {
    const { ledger } = this.queue;
    const firstAtMs = this.queue.dueAt(due);
    const spacingMs = typeof which === 'string' || perSecond === undefined ? 0 : 1_000 / perSecond;
    const chosen = this.dead(which);
    chosen.forEach((job, index) => {
      ledger.revive(job);
      // Their failures stay with them.
      job.attempts = 0;
      job.crashes = 0;
      job.progress = undefined;
      job.dueAtMs = Math.floor(firstAtMs + index * spacingMs);
      ledger.wait(job);
    });
    for (const job of chosen) this.queue.tellOf(job);
    return chosen.length;
  }

  purgeDead(which: DeadSelection = {}): number {
    const chosen = this.dead(which);
    for (const job of chosen) this.jobs.dropDead(job);
    return chosen.length;
  }

  /**
   * Cancels those that wait, and those that are queued behind others; answers their ids. Recurrences go on once all are gone: an instant whose
   * job, made beside the rule, is gone as well is not passed over.
   */
  private cancelAll(jobs: readonly Job[], reason: CancelReason): string[] {
    const { ledger, timetable } = this.queue;
    const waiting = jobs.filter(({ id }) => ledger.findWaiting(id));
    const armed = waiting.filter((job) => timetable.ofArmed(job));
    ledger.cancel(waiting, reason, this.queue.nowMs());
    for (const job of armed) timetable.skip(job);
    const gone = new Set(waiting);
    return jobs.filter((job) => gone.has(job) || this.jobs.cancelQueued(job)).map(({ id }) => id);
  }

  /** The waiting jobs of a tag, and those behind which a job of this tag is queued, in the order in which they came by it. */
  private tagged(tag: string): { all: Job[]; waiting: Job[]; queued: Job[] } {
    const { ledger } = this.queue;
    const jobs = ledger.tags.ids(tag).map((id) => ledger.jobs.get(id)!);
    const isWaiting = ({ id }: Job) => ledger.findWaiting(id) !== undefined;
    const isQueued = ({ queued }: Job) => queued?.envelope.tags.includes(tag) === true;
    return {
      all: jobs.filter((job) => isWaiting(job) || isQueued(job)),
      waiting: jobs.filter(isWaiting),
      queued: jobs.filter(isQueued),
    };
  }

  /** The dead jobs that are meant, the oldest first. */
  private dead(which: string | DeadSelection): Job[] {
    const { ledger } = this.queue;
    if (typeof which === 'string') {
      const job = ledger.jobs.get(which);
      return job?.diedAtMs === undefined ? [] : [job];
    }
    const { names, reason, diedBeforeMs = Number.POSITIVE_INFINITY, limit } = which;
    return [...ledger.dead]
      .filter(({ diedAtMs }) => diedAtMs! < diedBeforeMs)
      .filter(({ envelope }) => !names || names.length === 0 || names.includes(envelope.name))
      .filter(({ failures }) => !reason || failures.at(-1)?.reason === reason)
      .slice(0, limit);
  }
}
