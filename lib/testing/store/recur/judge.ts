import type { Rule } from '../../../core/calendar/rule.js';
import { BLOCKED_LOOK_MS, MADE_UP_WITHIN_MS, MOST_MADE_UP } from '../../../core/constants.js';
import type { SkippedOccurrence } from '../../../store/job-store.js';
import type { Job } from '../job.js';
import { goBack, leave } from '../turn/endings.js';
import { giveBack, type Stage } from '../turn/stage.js';
import { dueOf, instantAfter, isMissed, type Past, pastOf } from './instants.js';
import type { Recurrence } from './recurrence.js';

/**
 * Decides whether an armed occurrence begins now. Where it was missed, or the previous one has not ended, it may be left out, with some
 * that follow, or wait.
 */
export function mayBegin(stage: Stage, recurrence: Recurrence, job: Job): boolean {
  const { rule, blockedDueAtMs } = recurrence;
  const atMs = recurrence.armedAtMs!;
  const isBlocked = blockedDueAtMs !== undefined;
  if (isBlocked) job.dueAtMs = blockedDueAtMs;
  const past = pastOf(rule.timing, atMs, stage.nowMs);
  // Who waits for the end of the previous one is not missed by that; but where all are to run it is made up for once the next one is due, as
  // the next one would take its place otherwise.
  const mayBeMissed = !isBlocked || rule.onMissed === 'all';
  const dueAtMs = isBlocked ? Number.POSITIVE_INFINITY : job.dueAtMs;
  // One that was moved may be picked before its nominal instant.
  if (past.count > 0 && mayBeMissed && isMissed(recurrence.id, rule, atMs, dueAtMs, stage.nowMs)) {
    const count = countSkipped(recurrence, past, stage.nowMs);
    if (count > 0) {
      leaveOut(stage, recurrence, job, 'missed', past, count);
      return false;
    }
    job.dueAtMs = atMs;
    job.envelope = { ...job.envelope, occurrence: { isMissed: true } };
  }
  if (rule.overlap === 'allow' || !stage.queue.timetable.previousRuns(recurrence)) return true;
  if (rule.overlap === 'skip') leaveOut(stage, recurrence, job, 'overlap', past, 1);
  else waitForEnd(stage, recurrence, job, past);
  return false;
}

/** How many of the past instants, of which the first is missed, the policy leaves out before the first that is to begin. */
function countSkipped({ id, rule }: Recurrence, past: Past, nowMs: number): number {
  // The first is known to be missed; the latest may be in time still, and where it is not due yet, the one before it as well.
  let missed = past.count;
  while (missed > 1 && !isMissed(id, rule, past.at(missed - 1), dueOf(id, rule, past.at(missed - 1)), nowMs)) missed--;
  if (rule.onMissed === 'skip') return missed;
  const first = rule.onMissed === 'once' ? missed - 1 : Math.max(0, missed - MOST_MADE_UP);
  for (let i = first; i < missed; i++) {
    const nextMs = i + 1 < past.count ? past.at(i + 1) : instantAfter(rule.timing, past.at(i));
    if (nowMs - past.at(i) <= withinMs(rule, past.at(i), nextMs)) return i;
  }
  return missed;
}

const withinMs = ({ missedWithinMs }: Rule, atMs: number, nextMs = atMs) =>
  missedWithinMs ?? Math.max(MADE_UP_WITHIN_MS, nextMs - atMs);

/** At most one waits for the end of the previous one: the latest that is due; the first one where all are to run. */
function waitForEnd(stage: Stage, recurrence: Recurrence, job: Job, past: Past): void {
  const { queue, nowMs } = stage;
  let latest = recurrence.rule.onMissed === 'all' ? 0 : past.count - 1;
  if (latest > 0 && dueOf(recurrence.id, recurrence.rule, past.at(latest)) > nowMs) latest--;
  if (latest <= 0) {
    recurrence.blockedDueAtMs = job.dueAtMs;
    goBack(stage, job, nowMs + BLOCKED_LOOK_MS);
    giveBack(stage, job);
    // It stood before others that are due.
    if (stage.stopped || stage.fullNames.has(job.envelope.name)) stage.looksAgain = true;
    return;
  }
  const armed = leaveOut(stage, recurrence, job, 'overlap', past, latest);
  // Where the job of the latest is there beside the rule, a later one was armed.
  if (!armed || recurrence.armedAtMs !== past.at(latest)) return;
  recurrence.blockedDueAtMs = dueOf(recurrence.id, recurrence.rule, recurrence.armedAtMs!);
  queue.ledger.move(armed, nowMs + BLOCKED_LOOK_MS);
}

/**
 * Ends the job without a run, and as many of the past instants in all as said: the others never become jobs, and are only counted. The
 * first instant that is not left out is armed, and answered.
 */
function leaveOut(
  stage: Stage,
  recurrence: Recurrence,
  job: Job,
  reason: SkippedOccurrence['reason'],
  past: Past,
  count: number,
): Job | undefined {
  const { ledger, timetable } = stage.queue;
  // Its id is not remembered: a backfill may want it, and no rule comes back to it.
  leave(stage, job, { state: 'discarded', reason });
  giveBack(stage, job);
  // The turn may claim another job instead.
  stage.looksAgain = true;
  stage.skippedOccurrences.push({ id: job.id, name: job.envelope.name, reason });
  if (count > 1) for (const counter of ['scheduled', 'discarded']) ledger.count(counter, count - 1);
  const armed = timetable.advanceTo(recurrence, count > 1 ? past.at(count - 1) : recurrence.armedAtMs!, stage.left);
  noteArmed(stage, armed);
  return armed;
}

/** The turn may claim the occurrence that it has armed. */
export function noteArmed(stage: Stage, armed: Job | undefined): void {
  if (armed && armed.dueAtMs <= stage.nowMs) stage.looksAgain = true;
}
