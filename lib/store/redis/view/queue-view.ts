import type { ScheduledQueueErrorFields } from '../../../core/errors.js';
import type { OrderingRule } from '../../../core/options/queue-options.js';
import type {
  FoundJobs,
  JobCounts,
  JobSelection,
  JobState,
  KnownBlackouts,
  LimitsUse,
  LiveWorker,
  PriorityCounts,
  QueueView,
  SearchStep,
  StoredJob,
} from '../../job-store.js';
import type { RedisBlackouts } from '../calls/blackouts.js';
import type { RedisGate } from '../calls/gate.js';
import { annotated } from '../link/call-error.js';
import type { RedisInspection } from './inspection.js';
import type { RedisPresence } from './presence.js';
import type { RedisSearch } from './search.js';

/** What can be read of one queue, each call by the part that knows how; here its errors learn what they are about. */
export class RedisQueueView implements QueueView {
  constructor(
    private readonly queue: string,
    private readonly ordering: OrderingRule,
    private readonly parts: {
      inspection: RedisInspection;
      search: RedisSearch;
      presence: RedisPresence;
      gate: RedisGate;
      blackouts: RedisBlackouts;
    },
  ) {}

  counts(): Promise<JobCounts> {
    return this.about(this.parts.inspection.counts());
  }

  countsByPriority(): Promise<PriorityCounts[]> {
    return this.about(this.parts.inspection.countsByPriority());
  }

  nextDue(): Promise<{ dueAtMs: number | undefined; nowMs: number }> {
    return this.about(this.parts.inspection.nextDue());
  }

  stats(): Promise<Record<string, number>> {
    return this.about(this.parts.inspection.stats());
  }

  job(id: string): Promise<StoredJob | undefined> {
    return this.about(this.parts.inspection.job(id), { jobId: id });
  }

  list<T = StoredJob>(
    state: JobState,
    offset: number,
    limit: number,
    as: (job: StoredJob) => T = (job) => job as T,
  ): Promise<T[]> {
    return this.about(this.parts.inspection.list(state, offset, limit, this.ordering, as));
  }

  peek<T>(count: number, as: (job: StoredJob) => T): Promise<T[]> {
    return this.about(this.parts.inspection.peek(count, this.ordering, as));
  }

  find(selection: JobSelection, place: string | undefined, step: SearchStep): Promise<FoundJobs> {
    return this.about(this.parts.search.find(selection, place, step));
  }

  forecast(boundsMs: readonly number[]): Promise<number[]> {
    return this.about(this.parts.inspection.forecast(boundsMs));
  }

  handledBy(name: string): Promise<{ count: number; workers: string[] }> {
    return this.about(this.parts.presence.handledBy(name), { jobName: name });
  }

  workers(): Promise<LiveWorker[]> {
    return this.about(this.parts.presence.workers());
  }

  pausedUntil(): Promise<number | undefined> {
    return this.about(this.parts.gate.pausedUntil());
  }

  blackouts(): Promise<KnownBlackouts> {
    return this.about(this.parts.blackouts.read());
  }

  limits(): Promise<LimitsUse> {
    return this.about(this.parts.gate.limits());
  }

  private about<T>(call: Promise<T>, fields?: ScheduledQueueErrorFields): Promise<T> {
    return annotated(call, { queue: this.queue, ...fields });
  }
}
