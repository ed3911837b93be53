import { FIRST_VERSION, type VersionRange } from '../../core/job/job-versions.js';
import { occurrenceId } from '../../core/job/occurrence-id.js';
import type {
  Envelope,
  FoundJobs,
  JobCounts,
  JobSelection,
  JobState,
  KnownBlackouts,
  KnownGroup,
  LimitsUse,
  LiveWorker,
  PriorityCounts,
  QueueOverview,
  QueueView,
  SearchStep,
  StoredJob,
  VersionCounts,
} from '../../store/job-store.js';
import { compareJobs, isSuspect, type Job } from './job.js';
import { liveWorkers } from './live-workers.js';
import type { MemoryQueue } from './memory-queue.js';
import { handlesVersion } from './presence.js';
import { readOccurrence } from './recur/recurrence.js';
import { searchStep } from './search.js';
import type { Steps } from './steps.js';

const BY_DUE_TIME = { mode: 'aging', msPerLevel: 0 } as const;

/** How many of the workers that handle a name are told by id. */
const LISTED_WORKERS = 10;

/** What can be read of a queue. */
export class MemoryView implements Steps<QueueView> {
  constructor(
    private readonly queue: MemoryQueue,
    private readonly place: { host: string; pid: number },
  ) {}

  counts(): JobCounts {
    const { ledger } = this.queue;
    const priorities = this.countsByPriority();
    return {
      scheduled: sum(priorities.map(({ scheduled }) => scheduled)),
      due: sum(priorities.map(({ due }) => due)),
      active: ledger.active.size,
      completed: ledger.completed.size,
      dead: ledger.dead.size,
    };
  }

  overview(): QueueOverview {
    return { counts: this.counts(), ...this.nextDue() };
  }

  countsByPriority(): PriorityCounts[] {
    const nowMs = this.queue.nowMs();
    return this.queue.ledger.waiting().map(({ priority, jobs }) => {
      const due = jobs.countBefore(({ dueAtMs }) => dueAtMs <= nowMs);
      return { priority, scheduled: jobs.size - due, due };
    });
  }

  nextDue(fits?: (job: Job) => boolean): { dueAtMs: number | undefined; nowMs: number } {
    const dueAtMs = this.queue.ledger.nextDue(undefined, fits);
    return { dueAtMs: Number.isFinite(dueAtMs) ? dueAtMs : undefined, nowMs: this.queue.nowMs() };
  }

  nextFree(): { dueAtMs: number | undefined; nowMs: number } {
    const nowMs = this.queue.nowMs();
    return this.nextDue(
      ({ dueAtMs, envelope: { group } }) =>
        group === undefined || dueAtMs > nowMs || !this.queue.groups.stateOf(group, nowMs).heldBy,
    );
  }

  stats(): Record<string, number> {
    return Object.fromEntries(this.queue.ledger.counters);
  }

  job(id: string): StoredJob | undefined {
    const { jobs, completed, ended } = this.queue.ledger;
    const job = jobs.get(id);
    return job ? { ...this.describe(job), ...this.blockedBy(job) } : (completed.get(id) ?? ended.get(id));
  }

  /** The occurrence for whose end this one waits, and its own due time; `undefined` where it waits for none. */
  private blockedBy(job: Job): Partial<StoredJob> | undefined {
    const occurrence = readOccurrence(job);
    const { id, armedAtMs, blockedDueAtMs, beganAtMs } =
      (occurrence && this.queue.timetable.find(occurrence.recurrenceId)) ?? {};
    if (blockedDueAtMs === undefined || armedAtMs !== occurrence!.atMs || beganAtMs === undefined) return undefined;
    return { waitsForEndOf: occurrenceId(id!, beganAtMs), dueAtMs: blockedDueAtMs };
  }

  list(state: JobState, offset: number, limit: number, as: (job: StoredJob) => unknown = (job) => job): unknown[] {
    return [...this.inState(state)].slice(offset, offset + limit).map(as);
  }

  peek(count: number, as: (job: StoredJob) => unknown): unknown[] {
    return [...this.inState('due'), ...this.inState('scheduled')].slice(0, count).map(as);
  }

  find(selection: JobSelection, place: string | undefined, step: SearchStep): FoundJobs {
    const jobs = [...new Set(selection.states)].flatMap((state) => [...this.inState(state)]);
    return searchStep(jobs, selection, place, step);
  }

  forecast(boundsMs: readonly number[]): number[] {
    const before = boundsMs.map((atMs) =>
      sum(this.queue.ledger.waiting().map(({ jobs }) => jobs.countBefore(({ dueAtMs }) => dueAtMs < atMs))),
    );
    return before.slice(1).map((count, i) => count - before[i]!);
  }

  handledBy(name: string, version = FIRST_VERSION): { count: number; workers: string[] } {
    const here = this.queue.presence.sessionsHere(this.queue.nowMs());
    const handling = here.filter(({ handled }) => handlesVersion(handled, name, version));
    return { count: handling.length, workers: handling.slice(0, LISTED_WORKERS).map(({ worker }) => worker) };
  }

  versionsHandled(name: string): number[] {
    const here = this.queue.presence.sessionsHere(this.queue.nowMs());
    const versions = here.flatMap(({ handled }) => allOf(handled?.get(name)));
    return [...new Set(versions)].sort((a, b) => a - b);
  }

  versions(name: string): VersionCounts[] {
    const { ledger } = this.queue;
    const counts = new Map<number, VersionCounts>();
    const count = (state: 'waiting' | 'active' | 'dead', envelope: Envelope) => {
      if (envelope.name !== name) return;
      const { version = FIRST_VERSION } = envelope;
      const known = counts.get(version) ?? { version, waiting: 0, active: 0, dead: 0 };
      counts.set(version, { ...known, [state]: known[state] + 1 });
    };
    for (const { jobs } of ledger.waiting()) for (const { envelope } of jobs) count('waiting', envelope);
    for (const { envelope, queued } of ledger.active) {
      count('active', envelope);
      if (queued) count('waiting', queued.envelope);
    }
    for (const { envelope } of ledger.dead) count('dead', envelope);
    return [...counts.values()].sort((a, b) => a.version - b.version);
  }

  workers(): LiveWorker[] {
    return liveWorkers(this.queue, this.place);
  }

  pausedUntil(): number | undefined {
    return this.queue.gates.pausedUntil(this.queue.nowMs());
  }

  blackouts(): KnownBlackouts {
    const nowMs = this.queue.nowMs();
    const { gates } = this.queue;
    return { rules: gates.blackoutsAt(nowMs), untilMs: gates.blackoutUntil(nowMs) };
  }

  group(group: string): KnownGroup {
    return this.queue.groups.describe(group, this.queue.nowMs());
  }

  groups(limit: number): KnownGroup[] {
    return this.queue.groups.list(this.queue.nowMs()).slice(0, limit);
  }

  heldDue(): number {
    const known = this.queue.groups.list(this.queue.nowMs());
    return sum(known.filter(({ heldBy }) => heldBy !== undefined).map(({ due }) => due));
  }

  limits(): LimitsUse {
    const nowMs = this.queue.nowMs();
    return { nowMs, running: this.queue.ledger.active.size, ...this.queue.gates.rate(nowMs) };
  }

  private *inState(state: JobState): Generator<StoredJob> {
    const { ledger } = this.queue;
    if (state === 'completed') yield* ledger.completed.latestFirst();
    else if (state === 'active') for (const job of ledger.active) yield this.describe(job);
    else if (state === 'dead') for (const job of ledger.dead.reversed()) yield this.describe(job);
    else for (const job of this.inOrder(state)) yield this.describe(job);
  }

  /** Due jobs in the order of a worker that none of them prefers, scheduled ones by due time. */
  private inOrder(state: 'due' | 'scheduled'): Job[] {
    const nowMs = this.queue.nowMs();
    const ordering = state === 'due' ? this.queue.settings.ordering : BY_DUE_TIME;
    return this.queue.ledger
      .waiting()
      .flatMap(({ jobs }) => [...jobs].filter(({ dueAtMs }) => dueAtMs <= nowMs === (state === 'due')))
      .sort(compareJobs(ordering));
  }

  private describe(job: Job): StoredJob {
    const { id, dueAtMs, attempts, crashes, envelope, failures, progress, held, queued, diedAtMs } = job;
    const reported = progress === undefined ? {} : { progress };
    const known = { id, dueAtMs, attempts, crashes, envelope, failures, ...reported };
    if (held)
      return {
        ...known,
        state: 'active',
        leaseUntilMs: held.leaseUntilMs,
        fence: held.fence,
        worker: held.worker,
        cancelRequested: held.isCancelled,
        ...(queued && { queuedDueAtMs: queued.dueAtMs }),
      };
    if (diedAtMs !== undefined) return { ...known, state: 'dead', endedAtMs: diedAtMs };
    const state = dueAtMs <= this.queue.nowMs() ? 'due' : 'scheduled';
    return { ...known, state, isSuspect: isSuspect(job, this.queue.settings.maxCrashes) };
  }
}

const allOf = (versions: VersionRange | undefined) =>
  versions ? Array.from({ length: versions.last - versions.first + 1 }, (_, i) => versions.first + i) : [];

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);
