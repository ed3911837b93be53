import { LEASE_MS } from '../settings.js';
import type { Call, Job, Timeline } from '../timeline.js';
import { wentBackBy } from './claims.js';
import { aboutAll, aboutJobs, aboutLives, clockTime } from './rule.js';

export const creates = ({ operation }: Call) => operation === 'schedule' || operation === 'replace';
const said = (what: boolean) => (call: Call) => call.outcome === 'ok' && call.changed === what;

/** Whether some call of a job may have put it into its queue, or a recurrence has. */
export function mayExist({ calls, occurrence }: Job): boolean {
  return occurrence !== undefined || calls.some((call) => creates(call) && call.outcome !== 'refused');
}

/** Whether it is certain that it was there. */
export function didExist(job: Job): boolean {
  const { calls, runs, events, dead, completed, unfinished } = job;
  const evidence = dead ?? completed ?? unfinished ?? runs[0] ?? events[0];
  return evidence !== undefined || calls.some((call) => call.outcome === 'ok' && (creates(call) || call.changed));
}

/** What was refused has not happened; what nobody scheduled is nowhere. */
export const refusedIsNowhere = aboutJobs('refused-is-nowhere', (job) => {
  if (mayExist(job) || !didExist(job)) return [];
  return ['every call that would have made it was refused, and it was there'];
});

/** What is found in a run or in Redis was scheduled. */
export const nothingUnknown = aboutAll('nothing-unknown', (timeline) => [
  ...timeline
    .of('start')
    .flatMap(({ token, id }) => (timeline.jobs.has(token) ? [] : [`${id} ran and was never scheduled`])),
  ...timeline.finals.flatMap(({ dead, completed }) =>
    [...dead, ...completed].flatMap(({ token, id }) =>
      timeline.jobWith(id, token) ? [] : [`${id} is there at the end and was never scheduled`],
    ),
  ),
]);

/** One id, one job: repeated calls make no second one. */
export const createdOnce = aboutLives('created-once', ({ calls, runs }) => {
  const made = calls.filter((call) => creates(call) && said(true)(call));
  const ids = new Set(runs.map(({ id }) => id));
  return [
    ...(made.length > 1 ? [`${made.length} calls were told that they had made it`] : []),
    ...(ids.size > 1 ? [`it ran under the ids ${[...ids].join(' and ')}`] : []),
  ];
});

/** A cancelRunning that said true met a running job, which is not claimed again, whatever became of that run. */
export const trueMeansRunning = aboutLives('true-means-running', ({ calls, runs }) =>
  calls
    .filter((call) => call.operation === 'cancelRunning' && said(true)(call))
    .flatMap(({ end }) =>
      runs
        .filter(({ claimedAt }) => claimedAt > end)
        .map(
          ({ attempt, claimedAt }) =>
            `cancelRunning, answered by ${clockTime(end)}, said true, and attempt ${attempt} was claimed at ${clockTime(claimedAt)}`,
        ),
    ),
);

/** A cancel, reschedule or runNow that said true met a waiting job; after a cancel no run is claimed. */
export const trueMeansWaiting = aboutLives('true-means-waiting', (job, timeline) =>
  job.calls
    .filter((call) => !creates(call) && call.operation !== 'cancelRunning' && said(true)(call))
    .flatMap((call) => [...problemsOf(call, job, timeline)]),
);

function* problemsOf({ operation, begin, end }: Call, { runs }: Job, timeline: Timeline) {
  const answer = `${operation}, answered by ${clockTime(end)}, said true`;
  const isCancel = operation === 'cancel';
  // Of runs claimed during the call the last must be over by its end for a cancel; the others only need some instant.
  const before = runs.filter(({ claimedAt }) => claimedAt < (isCancel ? end : begin)).at(-1);
  const during = !isCancel && runs.some(({ claimedAt }) => claimedAt >= begin && claimedAt <= end);
  if (before && !during) {
    const isWaiting = wentBackBy(before, end, timeline) || before.claimedAt + LEASE_MS <= end + 1;
    if (!isWaiting) yield `${answer} while attempt ${before.attempt} in ${before.who} held the job`;
    else if (before.settled === 'completed' || before.settled === 'dead' || before.settled === 'discarded')
      yield `${answer}, and attempt ${before.attempt} in ${before.who} had ended the job (${before.settled})`;
  }
  if (!isCancel) return;
  for (const run of runs) {
    if (run.claimedAt > end) yield `${answer}, and attempt ${run.attempt} was claimed at ${clockTime(run.claimedAt)}`;
    else if (run.startedAt.earliest > end && run.startedAt.latest - run.claimedAt < LEASE_MS)
      yield `${answer}, and attempt ${run.attempt} in ${run.who} began at ${clockTime(run.startedAt.earliest)} all the same`;
  }
}
