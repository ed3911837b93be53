import { LEASE_MS, OF_A_GROUP, QUEUE_NAMES, type QueueName } from '../settings.js';
import type { Call, Job, Run, Timeline } from '../timeline.js';
import { aboutAll, aboutJobs, clockTime } from './rule.js';

/** A lease is counted in whole ms. */
const LEASE_AT_LEAST_MS = LEASE_MS - 1;

interface GroupRun {
  job: Job;
  run: Run;
  /** By Redis' clock, to the microsecond: what made room for a claim may have happened in the same millisecond. */
  from: number;
}

const told = ({ job, run, from }: GroupRun) => `${job.token}, claimed at ${clockTime(from)} by ${run.who}`;

/** A job is of its group in every run: also one that was put back, recovered, or is a suspect. */
export const keepsItsGroup = aboutJobs('keeps-its-group', ({ group, runs }) =>
  runs
    .filter((run) => run.group !== group)
    .map((run) => `attempt ${run.attempt} was of the group ${run.group}, the job was scheduled with ${group}`),
);

/** Of a group never more hold a place at once than its queue allows. A run whose lease was lost holds none. */
export const withinItsLimit = aboutAll('within-its-limit', (timeline) =>
  QUEUE_NAMES.flatMap((queue) =>
    [...groupsOf(timeline, queue)].flatMap(([group, runs]) => {
      let holding: GroupRun[] = [];
      return runs.flatMap((begun) => {
        holding = holding.filter(({ run }) => (run.endedAt?.earliest ?? run.claimedAt + LEASE_MS) > begun.from);
        const near = holding.filter(({ job }) => job !== begun.job);
        holding.push(begun);
        if (near.length < OF_A_GROUP[queue]) return [];
        // Asked of few, as it reads through all faults.
        const beside = near.filter((each) => heldUntil(each, timeline) > begun.from);
        if (beside.length < OF_A_GROUP[queue]) return [];
        return [`${group} of ${queue}: ${told(begun)} ran beside ${beside.map(told).join(' and ')}`];
      });
    }),
  ),
);

/** With 'fifo' a job that has begun ends before another one of its group begins, whatever happened to it meanwhile. */
export const firstBegunFirstEnded = aboutAll('first-begun-first-ended', (timeline) =>
  [...groupsOf(timeline, 'kept')].flatMap(([group, runs]) =>
    runs.slice(1).flatMap((next, i) => {
      const before = runs[i]!;
      if (next.job === before.job || mayHaveEnded(before, next.from)) return [];
      return [`${group}: ${told(next)} began before the end of ${told(before)}`];
    }),
  ),
);

/** Once all jobs have ended nothing is left of any group. */
export const nothingLeftOfGroups = aboutAll('nothing-left-of-groups', (timeline) =>
  timeline.finals
    .filter(({ waiting, active, groupKeys }) => waiting.length + active.length === 0 && groupKeys.length > 0)
    .map(({ queue, groupKeys }) => `${queue} has still ${groupKeys.join(', ')}`),
);

/** All runs of the jobs of each group, in the order of their claims. */
function groupsOf(timeline: Timeline, queue: QueueName): Map<string, GroupRun[]> {
  const groups = new Map<string, GroupRun[]>();
  for (const job of timeline.jobs.values()) {
    if (job.queue !== queue || job.group === undefined) continue;
    const runs = groups.get(job.group) ?? [];
    for (const run of job.runs) runs.push({ job, run, from: run.fence / 1_000 });
    groups.set(job.group, runs);
  }
  for (const runs of groups.values()) runs.sort((a, b) => a.from - b.from);
  return groups;
}

/** Until when a run held its place for certain. */
function heldUntil({ job, run }: GroupRun, timeline: Timeline): number {
  const { who, claimedAt, lost, settled } = run;
  // Such a call may have been under way for longer than the run.
  const cancels = job.calls.filter(({ operation, end }) => operation === 'cancelRunning' && end >= claimedAt);
  // A run that is cancelled gives its place back, though its handler may go on.
  const cancelledAt = cancels
    .filter(({ outcome, changed }) => outcome === 'unknown' || changed)
    .map(({ begin }) => Math.max(begin, claimedAt));
  const endedAt = Math.min(run.endedAt?.earliest ?? Number.POSITIVE_INFINITY, ...cancelledAt);
  // It may have been put back before its handler began to work, or ended.
  if (lost || timeline.wasTerminated(who, claimedAt, Math.min(endedAt, claimedAt + LEASE_MS))) return claimedAt;
  if (settled && !timeline.wasDisturbed(who, claimedAt, endedAt)) return endedAt;
  return Math.min(endedAt, claimedAt + LEASE_AT_LEAST_MS);
}

/** Whether the job of a run may have ended by an instant: by this run, as crashed, or by a call. */
function mayHaveEnded({ job, run }: GroupRun, at: number): boolean {
  const byItself = run.how === 'ok' && !run.lost && run.endedAt!.earliest <= at;
  const mayHave = ({ operation, outcome, changed, begin }: Call) =>
    begin <= at &&
    (operation === 'replace' ? outcome !== 'refused' : /^cancel/.test(operation) && (outcome === 'unknown' || changed));
  return byItself || (job.dead?.diedAt ?? Number.POSITIVE_INFINITY) <= at || job.calls.some(mayHave);
}
