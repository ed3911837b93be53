import { kindOf } from '../job-kinds.js';
import { LEASE_MS } from '../settings.js';
import type { Job, Run, Timeline } from '../timeline.js';
import { aboutJobs, aboutLives, clockTime } from './rule.js';

/** A lease is counted in whole ms. */
const LEASE_AT_LEAST_MS = LEASE_MS - 1;
const TERMINAL = new Set(['completed', 'dead', 'discarded']);

const told = ({ attempt, who, fence, claimedAt }: Run) =>
  `attempt ${attempt} in ${who} (fence ${fence}, claimed at ${clockTime(claimedAt)})`;
const pairsOf = (runs: readonly Run[]) => runs.slice(1).map((run, i) => [runs[i]!, run] as const);

/** Fences grow: each claim has its own, and a run under a lower one than was seen before began too late to hold its lease. */
export const fencesGrow = aboutJobs('fences-grow', ({ runs }) => {
  const problems: string[] = [];
  const began = [...runs].sort((a, b) => a.mono - b.mono);
  for (const [earlier, later] of pairsOf(began)) {
    if (later.fence === earlier.fence) problems.push(`${told(later)} began twice`);
    const isOutdated = later.fence < earlier.fence;
    if (isOutdated && later.startedAt.latest - later.claimedAt < LEASE_AT_LEAST_MS)
      problems.push(`${told(later)} began after ${told(earlier)}, within its own lease`);
  }
  return problems;
});

/** What a run under an outdated fence answers does not count. */
export const outdatedSettlesNothing = aboutLives('outdated-settles-nothing', ({ runs, completed }) => {
  const problems = runs.flatMap((run) => {
    const newer = runs.filter(({ fence }) => fence > run.fence);
    if (!run.settled) return [];
    const ahead = newer.find(({ claimedAt }) => claimedAt < run.endedAt!.earliest);
    if (ahead) return [`${told(run)} was settled (${run.settled}), but ${told(ahead)} held the job before it ended`];
    if (TERMINAL.has(run.settled) && newer[0])
      return [`${told(run)} ended the job (${run.settled}), and then came ${told(newer[0])}`];
    return [];
  });
  const last = runs.at(-1);
  if (completed && last && completed.result !== String(last.fence))
    problems.push(`it completed with the result of fence ${completed.result}, its last run was ${told(last)}`);
  return problems;
});

/** Attempts never exceed `maxAttempts`, and each claim is the next one, but for what the life of a job allows. */
export const attemptsCount = aboutLives('attempts-count', (job, timeline) => {
  const { maxAttempts } = kindOf(job.kind);
  const problems = job.runs
    .filter((run) => run.attempt > maxAttempts || run.maxAttempts !== maxAttempts)
    .map((run) => `${told(run)} was one of ${run.maxAttempts}, the job may have ${maxAttempts}`);
  for (const [before, run] of pairsOf(job.runs)) {
    const skipped = run.attempt - before.attempt - 1;
    // A claim that no handler saw died with its worker; the next one came a lease later.
    if (skipped > 0 && run.claimedAt - before.claimedAt < skipped * LEASE_AT_LEAST_MS)
      problems.push(`${told(run)} came right after ${told(before)}`);
    if (skipped < 0 && !mayRepeat(before, run, job, timeline)) problems.push(`${told(run)} came after ${told(before)}`);
  }
  return problems;
});

function mayRepeat(before: Run, run: Run, job: Job, timeline: Timeline): boolean {
  const wentBack = before.how === 'snooze' || timeline.wasTerminated(before.who, before.claimedAt, run.claimedAt);
  const wasReplaced = job.calls.some(
    ({ operation, outcome, begin, end }) =>
      operation === 'replace' && outcome !== 'refused' && begin <= run.claimedAt && end >= before.claimedAt,
  );
  return (wentBack && run.attempt === before.attempt) || wasReplaced;
}

/** A job runs again only where the run before has failed, was put back, or has lost its lease to something that happened. */
export const rerunsHaveReasons = aboutLives('reruns-have-reasons', ({ runs }, timeline) =>
  pairsOf(runs).flatMap(([before, run]) => {
    if (wentBackBy(before, run.claimedAt, timeline)) return [];
    const heldMs = run.claimedAt - before.claimedAt;
    if (heldMs < LEASE_AT_LEAST_MS)
      return [`${told(run)} came ${heldMs} ms after ${told(before)}, which still held its lease`];
    if (timeline.wasDisturbed(before.who, before.claimedAt, run.claimedAt)) return [];
    return [`${told(run)} came after ${told(before)} had lost its lease for no reason`];
  }),
);

/** Whether a run had put its job back by an instant, or may have. */
export function wentBackBy(run: Run, at: number, timeline: Timeline): boolean {
  if (run.how === 'fail' || run.how === 'snooze') return run.endedAt!.earliest <= at;
  return timeline.wasTerminated(run.who, run.claimedAt, at);
}

/** Runs that would not have been, had nothing gone wrong. */
export function isDuplicate([before, run]: readonly [Run, Run], timeline: Timeline): boolean {
  return !wentBackBy(before, run.claimedAt, timeline);
}

export function duplicates(timeline: Timeline): number {
  const jobs = [...timeline.jobs.values()];
  return jobs.reduce((sum, { runs }) => sum + pairsOf(runs).filter((pair) => isDuplicate(pair, timeline)).length, 0);
}
