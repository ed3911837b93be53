import { FAILURES_KEPT, LAST_INSTANT_MS, THROTTLED_LONGER_MS } from '../../core/constants.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import type { StoredFailure } from '../../store/envelope.js';
import type { CancelReason, StoredJob } from '../../store/queue-view.js';
import { byId, type Holding, isSuspect, type Job } from './job.js';
import { Kept } from './lists/kept.js';
import { SortedList } from './lists/sorted-list.js';
import { TagIndex } from './lists/tag-index.js';

/** The waiting jobs of one priority, by due time and then by id. */
export interface Level {
  readonly priority: number;
  readonly jobs: SortedList<Job>;
  /** The same by group; under '' those that have none. */
  readonly units: Map<string, SortedList<Job>>;
  /** How many of them prefer a worker. */
  preferring: number;
  /** How many of them are suspects. */
  suspects: number;
}

const byDueTime = () => new SortedList<Job>((a, b) => a.dueAtMs - b.dueAtMs || byId(a, b));

/** How a job has ended, and when. */
export type Ending = Pick<StoredJob, 'state' | 'endedAtMs' | 'result' | 'reason'>;

/** All jobs of one queue, each in one state, and the ways from one state into another. Each way is counted once. */
export class Ledger {
  /** Those that have not ended. */
  readonly jobs = new Map<string, Job>();
  readonly active = new SortedList<Job>((a, b) => a.held!.leaseUntilMs - b.held!.leaseUntilMs || byId(a, b));
  readonly dead = new SortedList<Job>((a, b) => a.diedAtMs! - b.diedAtMs! || byId(a, b));
  readonly completed: Kept;
  /** Those that were discarded or cancelled. */
  readonly ended: Kept;
  readonly tags = new TagIndex();
  readonly counters = new Map<string, number>();
  /** Chosen ids of jobs that have ended, and until when they are remembered; and throttles, under a tab and the id, likewise. */
  readonly usedIds = new Map<string, number>();
  /** Where the order is 'fifo': of each group the job that has begun and has not ended. */
  readonly holders = new Map<string, Job>();
  /** How many jobs of each group run. */
  readonly running = new Map<string, number>();
  /** Told of each waiting job that is taken out for good, whoever does it. */
  onCancel?: (job: Job) => void;
  /** Told of each group of which a job runs no more, or holds it no more. */
  onFreed?: (group: string) => void;
  private readonly levels = new Map<number, Level>();

  constructor(private readonly settings: QueueSettings) {
    this.completed = new Kept(settings.keepCompleted);
    this.ended = new Kept(settings.keepEnded);
  }

  count(counter: string, by = 1): void {
    this.counters.set(counter, (this.counters.get(counter) ?? 0) + by);
  }

  /** Levels that hold something, the most urgent first. */
  waiting(): Level[] {
    return [...this.levels.values()].sort((a, b) => a.priority - b.priority);
  }

  get waitingCount(): number {
    return this.jobs.size - this.active.size - this.dead.size;
  }

  /** The job of this id, if it waits. */
  findWaiting(id: string): Job | undefined {
    const job = this.jobs.get(id);
    return job && !job.held && job.diedAtMs === undefined ? job : undefined;
  }

  /** Takes a new job in: it waits. What is kept of one of its id that has ended is forgotten. */
  enter(job: Job): void {
    this.jobs.set(job.id, job);
    this.tags.add(job.id, job.envelope.tags);
    this.completed.forget(job.id);
    this.ended.forget(job.id);
    this.wait(job);
    this.count('scheduled');
  }

  /** Lets a job wait that is in no state now. */
  wait(job: Job): void {
    const { priority, worker, group = '' } = job.envelope;
    let level = this.levels.get(priority);
    if (!level) {
      level = {
        priority,
        jobs: byDueTime(),
        units: new Map(),
        preferring: 0,
        suspects: 0,
      };
      this.levels.set(priority, level);
    }
    level.jobs.add(job);
    const unit = level.units.get(group) ?? byDueTime();
    level.units.set(group, unit);
    unit.add(job);
    if (worker !== undefined) level.preferring++;
    if (isSuspect(job, this.settings.maxCrashes)) level.suspects++;
  }

  /** Takes a waiting job out of its level; it is in no state then. */
  takeOut(job: Job): void {
    const { priority, worker, group = '' } = job.envelope;
    const level = this.levels.get(priority)!;
    level.jobs.delete(job);
    const unit = level.units.get(group)!;
    unit.delete(job);
    if (unit.size === 0) level.units.delete(group);
    if (worker !== undefined) level.preferring--;
    if (isSuspect(job, this.settings.maxCrashes)) level.suspects--;
    if (level.jobs.size === 0) this.levels.delete(priority);
  }

  /** Gives a waiting job another due time. */
  move(job: Job, dueAtMs: number): void {
    this.takeOut(job);
    job.dueAtMs = dueAtMs;
    this.wait(job);
  }

  /** Takes waiting jobs out of the queue for good; their ids are free at once. `reason`: by which call, '' to keep nothing of them. */
  cancel(jobs: readonly Job[], reason: CancelReason | '', nowMs: number): void {
    for (const job of jobs) {
      this.takeOut(job);
      this.leave(job);
      this.count('cancelled');
      if (reason !== '') this.noteEnded(job, { state: 'cancelled', reason, endedAtMs: nowMs });
      this.onCancel?.(job);
    }
    if (reason !== '' && jobs.length > 0 && this.ended.keepsSome) this.ended.trim(nowMs);
  }

  hold(job: Job, holding: Holding): void {
    job.held = holding;
    job.hasBegun = true;
    this.active.add(job);
    this.countRunning(job, 1);
  }

  renew(job: Job, leaseUntilMs: number): void {
    this.active.delete(job);
    job.held!.leaseUntilMs = leaseUntilMs;
    this.active.add(job);
  }

  /** Takes a running job from its holder; it is in no state then. */
  letGo(job: Job): void {
    this.active.delete(job);
    job.held = undefined;
    this.countRunning(job, -1);
  }

  private countRunning({ envelope: { group } }: Job, by: 1 | -1): void {
    if (group === undefined) return;
    const count = (this.running.get(group) ?? 0) + by;
    if (count > 0) this.running.set(group, count);
    else this.running.delete(group);
    if (by < 0) this.onFreed?.(group);
  }

  /** A job that has begun has ended, or another one has taken its place: it holds its group no more. */
  endHold(job: Job): void {
    const { group } = job.envelope;
    if (group === undefined || this.holders.get(group) !== job) return;
    this.holders.delete(group);
    this.onFreed?.(group);
  }

  die(job: Job, nowMs: number): void {
    this.endHold(job);
    job.diedAtMs = nowMs;
    job.hasBegun = true;
    this.dead.add(job);
  }

  /** Takes a dead job out of the dead ones; it is in no state then. */
  revive(job: Job): void {
    this.dead.delete(job);
    job.diedAtMs = undefined;
  }

  /** Forgets a job that is in no state: it has ended. */
  leave(job: Job): void {
    this.endHold(job);
    this.jobs.delete(job.id);
    this.tags.delete(job.id, job.envelope.tags);
  }

  /** Keeps how a job has ended that leaves no dead letter, where that is to be kept. The payload stays only of one that has completed. */
  noteEnded({ id, envelope, dueAtMs, attempts, progress }: Job, how: Ending): void {
    const isCompleted = how.state === 'completed';
    const kept = isCompleted ? this.completed : this.ended;
    if (!kept.keepsSome) return;
    const known = { id, dueAtMs, attempts, crashes: 0, failures: [], ...how };
    kept.add(isCompleted ? { ...known, envelope, progress } : { ...known, envelope: { ...envelope, payload: '' } });
  }

  /** Remembers the id of a job that has ended, where its caller chose it. */
  remember(id: string, nowMs: number): void {
    if (this.settings.keepIdsMs > 0) this.usedIds.set(id, nowMs + this.settings.keepIdsMs);
  }

  isRemembered(id: string, nowMs: number): boolean {
    return (this.usedIds.get(id) ?? 0) > nowMs;
  }

  /** Remembers when the next new job of an id with a throttle may be due at the earliest. */
  throttle(id: string, untilMs: number): void {
    this.usedIds.set(`\t${id}`, untilMs + THROTTLED_LONGER_MS);
  }

  /** When a new job of an id with a throttle may be due at the earliest. */
  throttledUntil(id: string, nowMs: number): number {
    const isThrottled = this.isRemembered(`\t${id}`, nowMs);
    return isThrottled ? Math.min(this.usedIds.get(`\t${id}`)! - THROTTLED_LONGER_MS, LAST_INSTANT_MS) : 0;
  }

  noteFailure(job: Job, failure: StoredFailure): void {
    job.failures = [...job.failures, failure].slice(-FAILURES_KEPT);
  }

  /** When the first job is due of those that fit, and later than this. */
  nextDue(afterMs = Number.NEGATIVE_INFINITY, fits?: (job: Job) => boolean): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { jobs } of this.levels.values()) {
      if (!fits) earliest = Math.min(earliest, jobs.firstNot(({ dueAtMs }) => dueAtMs <= afterMs)?.dueAtMs ?? earliest);
      else
        for (const job of jobs) {
          if (job.dueAtMs <= afterMs || !fits(job)) continue;
          earliest = Math.min(earliest, job.dueAtMs);
          break;
        }
    }
    return earliest;
  }

  get somePrefer(): boolean {
    return [...this.levels.values()].some(({ preferring }) => preferring > 0);
  }
}
