import type { CancelReason, Failure } from '../../../store/job-store.js';
import type { Job } from '../job.js';
import type { Ending } from '../ledger.js';
import { without } from '../lists/tag-index.js';
import type { Stage } from './stage.js';

// The ways in which a claimed job leaves its session. Each takes a job that is in no state any more.

/**
 * What counts when a queued job takes the place of a run. A run that has ended leaves the queue, and the queued job enters it. A run that
 * would have come back, or be dead, is replaced instead.
 */
const COUNTED = {
  complete: ['completed', 'scheduled'],
  discard: ['discarded', 'scheduled'],
  cancel: ['cancelled', 'scheduled'],
  snooze: ['snoozed'],
  failed: ['failed'],
  other: [],
} as const;

export type RunEnd = keyof typeof COUNTED;

/** Puts the queued job, if there is one, in the place of the run: as a job that has never run, but for its crashes. */
export function takePlace(stage: Stage, job: Job, end: RunEnd): boolean {
  const { queued } = job;
  if (!queued) return false;
  const { ledger } = stage.queue;
  ledger.endHold(job);
  ledger.tags.delete(job.id, without(job.envelope.tags, queued.envelope.tags));
  Object.assign(job, { ...queued, attempts: 0, failures: [], progress: undefined, queued: undefined, hasBegun: false });
  goBack(stage, job, queued.dueAtMs);
  for (const counter of COUNTED[end]) ledger.count(counter);
  return true;
}

/** Ends a run as cancelled that would have come back, or be dead, though the job that was queued behind it was cancelled. */
export function endLastRun(stage: Stage, job: Job, end: RunEnd): boolean {
  if (!job.isLastRun || end === 'complete' || end === 'discard' || end === 'cancel') return false;
  leave(stage, job, { state: 'cancelled', reason: 'cancel' satisfies CancelReason });
  for (const counter of COUNTED[end]) stage.queue.ledger.count(counter);
  return true;
}

/** The job waits again, from the end of this turn on. */
export function goBack(stage: Stage, job: Job, dueAtMs: number): void {
  job.dueAtMs = dueAtMs;
  stage.returning.push(job);
  if (dueAtMs <= stage.nowMs) stage.looksAgain = true;
}

/** A job that has completed, was discarded or was cancelled. */
export function leave(stage: Stage, job: Job, how: Omit<Ending, 'endedAtMs'>, remembers = false): void {
  const { ledger } = stage.queue;
  const { state } = how;
  ledger.leave(job);
  ledger.count(state);
  stage.left.add(job.id);
  if (state !== 'completed') stage.someDiscardedOrCancelled = true;
  ledger.noteEnded(job, { ...how, endedAtMs: stage.nowMs });
  if (!remembers) return;
  ledger.remember(job.id, stage.nowMs);
  stage.remembers = true;
}

export function die(stage: Stage, job: Job, failure: Partial<Failure>): void {
  const { ledger } = stage.queue;
  noteFailure(stage, job, failure);
  ledger.die(job, stage.nowMs);
  ledger.count('dead');
  stage.died++;
}

export function noteFailure(stage: Stage, job: Job, failure: Partial<Failure>): void {
  stage.queue.ledger.noteFailure(job, { ...failure, atMs: stage.nowMs, attempt: job.attempts });
}
