import { LEASE_MS, MAX_WAIT_MS, THROTTLE_MS } from '../settings.js';
import type { Job, Run, Timeline } from '../timeline.js';
import { aboutJobs, clockTime } from './rule.js';

/** Redis' clock counts whole ms here and there. */
const ROUNDING_MS = 1;

/** What is debounced with a longest wait is due no later than that after the first change since its last run. */
export const waitsNoLonger = aboutJobs('waits-no-longer', (job, timeline) => {
  if (job.kind !== 'debounced') return [];
  return job.runs.flatMap((run, i) => {
    const { dueAt, createdAt } = run;
    const first = firstChangeOf(job, run, i > 0 ? job.runs[i - 1]! : undefined, timeline);
    const waitedMs = dueAt - createdAt!;
    return [
      ...(waitedMs > MAX_WAIT_MS ? [`a run was due ${waitedMs} ms after the first of its row`] : []),
      ...(first !== undefined && createdAt! > first + ROUNDING_MS
        ? [`the row of a run began at ${clockTime(createdAt!)}, and the job was changed by ${clockTime(first)}`]
        : []),
    ];
  });
});

/**
 * By when the job of a run had been changed first since the claim before it; `undefined` where nobody knows whether it was claimed in between
 * by a worker that never began it: its lease had to run out then, be it while Redis stood still, or its worker to leave.
 */
function firstChangeOf({ calls }: Job, { claimedAt }: Run, before: Run | undefined, timeline: Timeline) {
  const since = before?.claimedAt ?? Number.NEGATIVE_INFINITY;
  const answered = calls.filter(({ outcome, begin, end }) => outcome === 'ok' && begin > since && end < claimedAt);
  // A change that was queued found the job claimed: what was changed before belongs to the row that ran then.
  const queuedAt = answered.find(({ status }) => status === 'queued')?.begin ?? Number.NEGATIVE_INFINITY;
  const changes = answered.filter(({ end }) => end >= queuedAt);
  // Few changes are as young, and to ask about one reads through all faults.
  const young = changes.filter(({ begin }) => claimedAt - begin < LEASE_MS - ROUNDING_MS);
  const isTold = young.filter(({ begin }) => {
    const left = timeline.faults.some(({ target }) => timeline.wasTerminated(target, begin, claimedAt));
    return !left && !timeline.stoodStillForALease(begin, claimedAt);
  });
  return isTold.length > 0 ? Math.min(...isTold.map(({ end }) => end)) : undefined;
}

/** Of what is throttled no two due times are closer than that, be they answered or of runs. */
export const asFarApart = aboutJobs('as-far-apart', ({ kind, calls, runs }) => {
  if (kind !== 'throttled') return [];
  const answered = calls.flatMap(({ dueAt }) => dueAt ?? []);
  const due = [...new Set([...answered, ...runs.map(({ dueAt }) => dueAt)])].sort((a, b) => a - b);
  return due.slice(1).flatMap((at, i) => {
    const apartMs = at - due[i]!;
    return apartMs < THROTTLE_MS ? [`it was due at ${clockTime(due[i]!)}, and again ${apartMs} ms later`] : [];
  });
});
