import { BYTES_A_CLAIM, UNCONFIRMED_BYTES } from '../../../core/constants.js';
import type { ClaimedJob } from '../../../store/job-store.js';
import type { Job } from '../job.js';
import { mayBegin, noteArmed } from '../recur/judge.js';
import { die, leave } from './endings.js';
import { giveBack, type Stage } from './stage.js';

/** Hands out what was picked under one fence, but for jobs that are too late, and occurrences that may not begin: those end here. */
export function claim(stage: Stage): { weight: number; isUnconfirmed: boolean } {
  const { queue, session, nowMs } = stage;
  const isUnconfirmed = cutToSize(stage);
  for (const { job } of stage.picked) queue.ledger.takeOut(job);
  const fit = stage.picked.filter(({ job }) => mayStart(stage, job));
  const fence = fit.length > 0 ? queue.nextFence() : '';
  stage.claimed = fit.map(({ job }): ClaimedJob => {
    job.attempts++;
    job.progress = undefined;
    queue.ledger.hold(job, {
      fence,
      session: session.key,
      worker: session.worker,
      leaseUntilMs: nowMs + queue.settings.leaseMs,
      isCancelled: false,
      isUnconfirmed,
    });
    queue.groups.noteStart(job, nowMs);
    const { id, dueAtMs, attempts, crashes, envelope } = job;
    return { id, fence, dueAtMs, claimedAtMs: nowMs, attempt: attempts, crashes, envelope };
  });
  if (fit.length > 0) queue.ledger.count('started', fit.length);
  queue.gates.noteStarts(fit.length, nowMs);
  return { weight: fit.reduce((sum, { weight }) => sum + weight, 0), isUnconfirmed };
}

/** Cuts the claim where it grows too large for one answer; true where it is so large that it must be confirmed. */
function cutToSize(stage: Stage): boolean {
  const { picked } = stage;
  let bytes = 0;
  for (let i = 0; i < picked.length; i++) {
    bytes += Buffer.byteLength(picked[i]!.job.envelope.payload);
    if (bytes <= BYTES_A_CLAIM || i === 0) continue;
    for (const { job } of picked.splice(i)) giveBack(stage, job);
    stage.stopped = 'size';
    return true;
  }
  return bytes > UNCONFIRMED_BYTES;
}

/** Where the armed occurrence of a recurrence starts, or ends here, the next one is armed. */
function mayStart(stage: Stage, job: Job): boolean {
  const { timetable } = stage.queue;
  const recurrence = timetable.ofArmed(job);
  if (!recurrence) return isInTime(stage, job);
  if (!mayBegin(stage, recurrence, job)) return false;
  const starts = isInTime(stage, job);
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
function isInTime(stage: Stage, job: Job): boolean {
  const { lateness, name, idWasChosen, occurrence } = job.envelope;
  const latenessMs = stage.nowMs - job.dueAtMs;
  if (!lateness || occurrence?.isMissed || latenessMs <= lateness.maxLatenessMs) return true;
  stage.late.push({ id: job.id, name, attempt: job.attempts, latenessMs, onLate: lateness.onLate });
  if (lateness.onLate === 'run') return true;
  giveBack(stage, job);
  // The turn may claim another job instead.
  stage.looksAgain = true;
  if (lateness.onLate === 'discard') leave(stage, job, { state: 'discarded', reason: 'late' }, idWasChosen);
  else die(stage, job, { reason: 'late' });
  return false;
}
