import type { CancelReason, Claim, Settled, Settlement, TurnAnswer } from '../../../store/job-store.js';
import type { Job } from '../job.js';
import { die, endLastRun, goBack, leave, noteFailure, type RunEnd, takePlace } from './endings.js';
import type { Stage } from './stage.js';

type Settles = Pick<TurnAnswer, 'settled' | 'lost' | 'toCancel'> & {
  /** Ids of jobs that stay with their holder: they are not recovered in this turn, however late they are. */
  staying: ReadonlySet<string>;
};

/** Settles and renews. All of it counts by what holds when the turn begins, and only where the fence is still the job's. */
export function settle(stage: Stage): Settles {
  const { turn, queue, nowMs } = stage;
  const held = ({ id, fence }: Claim): Job | undefined => {
    const job = queue.ledger.jobs.get(id);
    return job?.held?.fence === fence ? job : undefined;
  };
  const meant = turn.settlements.map((settlement) => {
    const job = held(settlement);
    return { settlement, job, isCancelled: job?.held?.isCancelled };
  });
  const renewed = turn.renewals.map((claim) => ({ id: claim.id, job: held(claim) }));
  const toCancel = renewed.filter(({ job }) => job?.held?.isCancelled).map(({ id }) => id);

  const settled = meant.map(({ settlement, job, isCancelled }): Settled => {
    if (!job) return 'lost';
    if (isCancelled) return cancelHeld(stage, job);
    return settlement.transition === 'extend' ? 'counted' : end(stage, job, settlement);
  });
  const staying = new Set<string>();
  const stay = (job: Job | undefined, leaseMs: number) => {
    // One that this turn ends stays ended, whichever is said first.
    if (!job?.held) return;
    queue.ledger.renew(job, nowMs + leaseMs);
    staying.add(job.id);
  };
  for (const report of turn.reports ?? []) {
    const job = held(report);
    if (!job || job.held!.isUnconfirmed) continue;
    job.progress = report.value;
    staying.add(job.id);
  }
  for (const { settlement, job } of meant) if (settlement.transition === 'extend') stay(job, settlement.leaseMs);
  for (const { job } of renewed) {
    stay(job, queue.settings.leaseMs);
    // The claim has arrived.
    if (job?.held) job.held.isUnconfirmed = false;
  }
  return { settled, lost: renewed.filter(({ job }) => !job).map(({ id }) => id), toCancel, staying };
}

/** Whatever its holder says of a job that is to be cancelled, it ends as cancelled. */
function cancelHeld(stage: Stage, job: Job): Settled {
  if (!job.held) return 'cancelled';
  stage.queue.ledger.letGo(job);
  if (!takePlace(stage, job, 'cancel'))
    leave(stage, job, { state: 'cancelled', reason: 'cancelRunning' satisfies CancelReason });
  return 'cancelled';
}

function end(stage: Stage, job: Job, settlement: Exclude<Settlement, { transition: 'extend' }>): Settled {
  if (!job.held) return 'lost';
  const { ledger } = stage.queue;
  ledger.letGo(job);
  if (takePlace(stage, job, endOf(settlement))) return 'replaced';
  if (endLastRun(stage, job, endOf(settlement))) return 'final';
  if ('progress' in settlement) job.progress = settlement.progress ?? job.progress;
  switch (settlement.transition) {
    case 'complete':
      leave(stage, job, { state: 'completed', result: settlement.result ?? '' }, settlement.idWasChosen);
      break;
    case 'retry':
      noteFailure(stage, job, settlement.failure);
      goBack(stage, job, stage.nowMs + settlement.delayMs);
      ledger.count('failed');
      ledger.count('retried');
      break;
    case 'dead':
      if (!settlement.ran) job.attempts--;
      if (settlement.failed) ledger.count('failed');
      die(stage, job, settlement.failure);
      break;
    case 'snooze':
      job.attempts--;
      goBack(stage, job, stage.queue.dueAt(settlement.due));
      ledger.count('snoozed');
      break;
    case 'discard':
      leave(stage, job, { state: 'discarded', reason: settlement.reason }, settlement.idWasChosen);
      break;
    case 'cancel':
      leave(stage, job, { state: 'cancelled', reason: 'cancelRunning' satisfies CancelReason });
      break;
    case 'release':
      job.attempts--;
      goBack(stage, job, job.dueAtMs);
      stage.looksAgain = true;
      break;
  }
  return 'counted';
}

function endOf(settlement: Settlement): RunEnd {
  switch (settlement.transition) {
    case 'complete':
    case 'discard':
    case 'cancel':
    case 'snooze':
      return settlement.transition;
    case 'retry':
      return 'failed';
    case 'dead':
      return settlement.failed && settlement.ran ? 'failed' : 'other';
    default:
      return 'other';
  }
}
