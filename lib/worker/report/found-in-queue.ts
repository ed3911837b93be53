import { WHY_SKIPPED } from '../../core/calendar/rule.js';
import type { DeadReason, ScheduledQueueEvent } from '../../core/job/events.js';
import { type KnownOfJob, titleOf } from '../../core/job/reported-job.js';
import type { Log } from '../../core/log.js';
import { firstFew } from '../../core/read/describe.js';
import { span } from '../../core/read/duration.js';
import type { LateJob, RecoveredJob, SkippedOccurrence, TurnAnswer } from '../../store/job-store.js';
import type { RecoveryLog } from './recovery-log.js';

/** Why jobs die that no handler had. */
const WHY_DEAD: Partial<Record<DeadReason, string>> = {
  crashed: 'its lease ran out too often, so its workers died or were blocked with it',
  'envelope-missing':
    'its envelope is gone from Redis, so its payload is lost; look for evictions and for deleted keys',
  unreadable: 'what is stored of it in Redis cannot be read',
  'not-relayable':
    'its chain goes on after it, and a relay cannot tell when it has completed; relay only jobs whose chain ends with them',
};

const IDS_TOLD = 5;

/** Where what was found is told. */
export interface FoundListener {
  tell(event: ScheduledQueueEvent): void;
  /** Writes a line about one job. */
  about(job: KnownOfJob, write: () => void): void;
}

/** Tells what turns found in the queue besides jobs to run: jobs that nobody had, or that nobody could begin in time. */
export class FoundReporter {
  constructor(
    private readonly log: Log,
    private readonly listener: FoundListener,
    private readonly recoveries: RecoveryLog,
  ) {}

  tell(queue: string, { recovered, late, skippedOccurrences, brokenJobs, deadDropped, completions }: TurnAnswer): void {
    this.recovered(queue, recovered);
    this.late(queue, late);
    if (skippedOccurrences.length > 0) this.skippedOccurrences(queue, skippedOccurrences);
    this.brokenJobs(queue, brokenJobs);
    // Their deaths have been logged; that they made room is counted, and told to those who keep what must not go.
    for (const job of deadDropped) this.listener.tell({ type: 'deadDropped', queue, ...job });
    for (const { id, name, dueAtMs } of completions)
      this.listener.tell({ type: 'scheduled', queue, id, name, dueAt: new Date(dueAtMs) });
  }

  /** A lease ran out: once is an accident, and often the end of the job. */
  private recovered(queue: string, jobs: readonly RecoveredJob[]): void {
    for (const { id, name, attempt, fate } of jobs) {
      const run = { queue, id, name, attempt };
      this.listener.tell({ type: 'recovered', ...run });
      if (fate === 'cancelled') this.listener.tell({ type: 'cancelled', queue, id });
      if (fate === 'cancelled' || fate === 'waiting') continue;
      this.logDeath(run, fate);
      this.listener.tell({ type: 'dead', ...run, reason: fate });
    }
    if (jobs.length > 0) this.recoveries.note(queue, jobs);
  }

  /** Somebody, or an eviction, has taken what these waiting jobs were made of. */
  private brokenJobs(queue: string, jobs: TurnAnswer['brokenJobs']): void {
    for (const job of jobs) {
      this.logDeath({ queue, ...job }, job.reason);
      this.listener.tell({ type: 'dead', queue, ...job });
    }
  }

  private logDeath(job: KnownOfJob & { attempt: number }, reason: DeadReason): void {
    this.listener.about(job, () => {
      this.log.error(`${titleOf(job, true)} is dead after attempt ${job.attempt} (${reason}): ${WHY_DEAD[reason]}.`);
    });
  }

  private late(queue: string, jobs: readonly LateJob[]): void {
    for (const { id, name, attempt, latenessMs, onLate } of jobs) {
      this.listener.tell({ type: 'late', queue, id, name, latenessMs, onLate });
      // One that runs all the same says so by its event alone.
      if (onLate === 'run') continue;
      const run = { queue, id, name, attempt };
      const fate = onLate === 'discard' ? 'is discarded' : 'is dead (late)';
      this.listener.about({ ...run, latenessMs }, () => {
        this.log.warn(`${titleOf(run, true)} ${fate}: it could only begin ${span(latenessMs)} after it was due.`);
      });
      if (onLate === 'discard') this.listener.tell({ type: 'discarded', ...run, reason: 'late' });
      else this.listener.tell({ type: 'dead', ...run, reason: 'late' });
    }
  }

  /** One line for each reason: an outage may leave thousands. */
  private skippedOccurrences(queue: string, jobs: readonly SkippedOccurrence[]): void {
    for (const reason of ['missed', 'overlap'] as const) {
      const ids = jobs.filter((job) => job.reason === reason).map(({ id }) => `'${id}'`);
      if (ids.length === 0) continue;
      const what = ids.length === 1 ? '1 occurrence' : `${ids.length} occurrences`;
      this.log.warn(`Left out ${what} in queue '${queue}': ${WHY_SKIPPED[reason]}: ${firstFew(ids, IDS_TOLD)}.`);
    }
    for (const { id, name, reason } of jobs)
      this.listener.tell({ type: 'discarded', queue, id, name, attempt: 0, reason });
  }
}
