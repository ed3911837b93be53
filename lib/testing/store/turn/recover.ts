import { PUT_OFF_AGAIN_LEASES, SILENT_LEASES } from '../../../core/constants.js';
import type { CancelReason, RecoveredJob } from '../../../store/job-store.js';
import type { Job } from '../job.js';
import type { MemoryQueue } from '../memory-queue.js';
import { die, goBack, leave, noteFailure, takePlace } from './endings.js';
import type { Stage } from './stage.js';

/** When leases may be recovered. */
export interface Patience {
  recoverFromMs: number;
  postponedAtMs: number;
  /** The end of the lease that ends first; `undefined` where nothing runs. */
  firstLeaseEndMs: number | undefined;
}

/**
 * After a silence of more than half a lease (every worker froze, or the clock jumped) nobody could renew: so a lease is waited before
 * anybody is taken for dead. Not again within two leases, so that an only worker that is as slow as that does not put it off for ever.
 */
export function patienceOf({ ledger, served, settings: { leaseMs } }: MemoryQueue, nowMs: number): Patience {
  const firstLeaseEndMs = ledger.active.first?.held?.leaseUntilMs;
  if (firstLeaseEndMs === undefined || !served) return { recoverFromMs: 0, postponedAtMs: 0, firstLeaseEndMs };
  // Where the clock went forward and back, no further off than a lease.
  const recoverFromMs = Math.min(served.recoverFromMs, nowMs + leaseMs);
  const postponedAtMs = Math.min(served.postponedAtMs, nowMs);
  const isSilent =
    nowMs - served.atMs > SILENT_LEASES * leaseMs && nowMs - postponedAtMs > PUT_OFF_AGAIN_LEASES * leaseMs;
  if (isSilent) return { recoverFromMs: nowMs + leaseMs, postponedAtMs: nowMs, firstLeaseEndMs };
  return { recoverFromMs, postponedAtMs, firstLeaseEndMs };
}

/** Takes back the jobs whose leases have run out, but for those that this turn has extended. */
export function recover(stage: Stage, { recoverFromMs }: Patience, staying: ReadonlySet<string>): RecoveredJob[] {
  const { queue, nowMs } = stage;
  if (nowMs < recoverFromMs) return [];
  const expired: Job[] = [];
  for (const job of queue.ledger.active) {
    if (job.held!.leaseUntilMs > nowMs) break;
    if (!staying.has(job.id)) expired.push(job);
  }
  if (expired.length > 0) queue.ledger.count('recovered', expired.length);
  return expired.map((job) => recoverJob(stage, job));
}

/** The job goes back, one crash the richer; once it has crashed too often it is dead, so that it cannot kill worker after worker. */
function recoverJob(stage: Stage, job: Job): RecoveredJob {
  const { ledger, settings } = stage.queue;
  const { worker, isCancelled, isUnconfirmed } = job.held!;
  const told = { id: job.id, name: job.envelope.name, attempt: job.attempts, worker };
  ledger.letGo(job);
  // Of a claim that was never confirmed no job has begun.
  if (!isUnconfirmed && (job.queued || !isCancelled)) job.crashes++;
  if (takePlace(stage, job, isCancelled ? 'cancel' : 'other'))
    return { ...told, fate: isCancelled ? 'cancelled' : 'waiting' };
  if (isCancelled || job.isLastRun) {
    leave(stage, job, {
      state: 'cancelled',
      reason: (isCancelled ? 'cancelRunning' : 'cancel') satisfies CancelReason,
    });
    return { ...told, fate: 'cancelled' };
  }
  if (isUnconfirmed) {
    job.attempts--;
    return waitAgain(stage, job, told);
  }
  const failure = { name: 'Error', message: `the lease ran out: worker ${worker} died or was blocked` };
  if (job.crashes >= settings.maxCrashes) {
    die(stage, job, { ...failure, reason: 'crashed' });
    return { ...told, fate: 'crashed' };
  }
  noteFailure(stage, job, failure);
  return waitAgain(stage, job, told);
}

function waitAgain(stage: Stage, job: Job, told: Omit<RecoveredJob, 'fate'>): RecoveredJob {
  goBack(stage, job, job.dueAtMs);
  stage.looksAgain = true;
  return { ...told, fate: 'waiting' };
}
