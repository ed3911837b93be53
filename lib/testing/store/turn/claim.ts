import { BYTES_A_CLAIM, UNCONFIRMED_BYTES } from '../../../core/constants.js';
import type { ClaimedJob, LateJob, SkippedOccurrence } from '../../../store/job-store.js';
import type { Job } from '../job.js';
import { mayBegin, noteArmed } from '../recur/judge.js';
import { die, leave } from './endings.js';
import type { Selection } from './order.js';
import { giveBack, type Stage } from './stage.js';

export interface Claimed {
  readonly claimed: ClaimedJob[];
  readonly late: LateJob[];
  readonly skippedOccurrences: SkippedOccurrence[];
  readonly isUnconfirmed: boolean;
  /** What they weigh. */
  readonly weight: number;
}

/** Hands out what was picked under one fence, but for jobs that are too late, and occurrences that may not begin: those end here. */
export function claim(stage: Stage, selection: Selection): Claimed {
  const { queue, session, nowMs } = stage;
  const isLarge = cutToSize(stage, selection);
  const late: LateJob[] = [];
  const skippedOccurrences: SkippedOccurrence[] = [];
  for (const { job } of selection.picked) queue.ledger.takeOut(job);
  const fit = selection.picked.filter(({ job }) => mayStart(stage, selection, job, late, skippedOccurrences));
  const fence = fit.length > 0 ? queue.nextFence() : '';
  const claimed = fit.map(({ job }): ClaimedJob => {
    job.attempts++;
    job.progress = undefined;
    queue.ledger.hold(job, {
      fence,
      session: session.key,
      worker: session.worker,
      leaseUntilMs: nowMs + queue.settings.leaseMs,
      isCancelled: false,
      isUnconfirmed: isLarge,
    });
    const { id, dueAtMs, attempts, crashes, envelope } = job;
    return { id, fence, dueAtMs, claimedAtMs: nowMs, attempt: attempts, crashes, envelope };
  });
  if (claimed.length > 0) queue.ledger.count('started', claimed.length);
  queue.gates.noteStarts(claimed.length, nowMs);
  return {
    claimed,
    late,
    skippedOccurrences,
    isUnconfirmed: isLarge,
    weight: fit.reduce((sum, { weight }) => sum + weight, 0),
  };
}

/** Cuts the claim where it grows too large for one answer; true where it is so large that it must be confirmed. */
function cutToSize(stage: Stage, selection: Selection): boolean {
  const { picked } = selection;
  let bytes = 0;
  for (let i = 0; i < picked.length; i++) {
    bytes += Buffer.byteLength(picked[i]!.job.envelope.payload);
    if (bytes <= BYTES_A_CLAIM || i === 0) continue;
    for (const { job } of picked.splice(i)) giveBack(stage, job);
    selection.stopped = 'bytes';
    return true;
  }
  return bytes > UNCONFIRMED_BYTES;
}

/** Where the armed occurrence of a recurrence starts, or ends here, the next one is armed. */
function mayStart(
  stage: Stage,
  selection: Selection,
  job: Job,
  late: LateJob[],
  skippedOccurrences: SkippedOccurrence[],
): boolean {
  const { timetable } = stage.queue;
  const recurrence = timetable.ofArmed(job);
  if (!recurrence) return isInTime(stage, job, late);
  if (!mayBegin({ stage, selection, recurrence, job, skippedOccurrences })) return false;
  const starts = isInTime(stage, job, late);
  const next = starts
    ? timetable.begin(recurrence, stage.left)
    : timetable.advanceTo(recurrence, recurrence.armedAtMs!, stage.left);
  noteArmed(stage, next);
  return starts;
}

/**
 * Tells a late job, and turns it away where its rule says so: it takes no place, and counts no attempt. An occurrence that is made up for
 * is never late.
 */
function isInTime(stage: Stage, job: Job, late: LateJob[]): boolean {
  const { lateness, name, idWasChosen, occurrence } = job.envelope;
  const latenessMs = stage.nowMs - job.dueAtMs;
  if (!lateness || occurrence?.isMissed || latenessMs <= lateness.maxLatenessMs) return true;
  late.push({ id: job.id, name, attempt: job.attempts, latenessMs, onLate: lateness.onLate });
  if (lateness.onLate === 'run') return true;
  giveBack(stage, job);
  // The turn may claim another job instead.
  stage.looksAgain = true;
  if (lateness.onLate === 'discard') leave(stage, job, { state: 'discarded', reason: 'late' }, idWasChosen);
  else die(stage, job, { reason: 'late' });
  return false;
}
