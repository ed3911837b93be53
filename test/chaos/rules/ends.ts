import { type End, kindOf } from '../job-kinds.js';
import { MAX_CRASHES } from '../settings.js';
import type { Call, Job, Run, Timeline } from '../timeline.js';
import { creates, didExist, mayExist } from './calls.js';
import { uncounted } from './recurrences.js';
import { aboutAll, aboutJobs, aboutLives } from './rule.js';

/** While it waited, or while it ran: it may be asked for that more than once, and ends once. */
const cancellations = ({ calls }: Job) => {
  const done = calls.filter(({ outcome, changed }) => outcome === 'ok' && changed);
  const waiting = done.filter(({ operation }) => operation === 'cancel').length;
  return waiting + (done.some(({ operation }) => operation === 'cancelRunning') ? 1 : 0);
};
const wasCancelled = (job: Job) => cancellations(job) > 0;
const mayBeCancelled = ({ calls }: Job) =>
  calls.some(({ operation, outcome }) => /^cancel/.test(operation) && outcome === 'unknown');
const told = ({ events }: Job, event: string) => events.filter((one) => one.event === event).length;

/** Whether a run of a job ended like this, and nobody was told that it did not count. */
function ranTo({ runs }: Job, how: 'ok' | 'discard'): boolean {
  return runs.some((run) => run.how === how && !run.lost);
}

/** Nothing is lost: what was accepted has completed, or is dead, cancelled or discarded. */
export const nothingLost = aboutLives('nothing-lost', (job) => {
  if (!didExist(job)) return [];
  const { dead, completed, unfinished, queue, occurrence, events } = job;
  if (occurrence && events.some(({ event, reason }) => event === 'discarded' && reason === 'overlap')) return [];
  if (unfinished) return [`it is ${unfinished} still`];
  if (dead || completed || wasCancelled(job) || mayBeCancelled(job) || ranTo(job, 'discard')) return [];
  if (queue === 'kept' && ranTo(job, 'ok')) return ['it has run and is not among the completed jobs, which are kept'];
  return ranTo(job, 'ok') ? [] : ['it was accepted, is nowhere, and no run of it has ended well'];
});

/** A job ends once, in one way. */
export const endsOnce = aboutLives('ends-once', (job) => {
  const deaths = Math.max(told(job, 'dead'), job.dead ? 1 : 0);
  const completions = Math.max(told(job, 'completed'), job.completed ? 1 : 0);
  const ends = {
    dead: deaths,
    completed: completions,
    discarded: told(job, 'discarded'),
    cancelled: cancellations(job),
  };
  const found = Object.entries(ends).filter(([, times]) => times > 0);
  if (found.reduce((sum, [, times]) => sum + times, 0) <= 1) return [];
  return [`it ended as ${found.map(([end, times]) => `${end} (${times})`).join(' and ')}`];
});

/** Those that are certain to have begun after the last replacement that may have happened. */
function runsOfThisLife({ calls, runs }: Job): readonly Run[] {
  const replaced = calls.filter(({ operation, outcome }) => operation === 'replace' && outcome !== 'refused');
  const last = Math.max(...replaced.map(({ end }) => end));
  return runs.filter(({ claimedAt }) => claimedAt > last);
}

/** It ends as its kind must; as crashed only of lost leases: the last attempt's, or `MAX_CRASHES` of them. */
export const endsAsItMust = aboutLives('ends-as-it-must', (job) => {
  const { maxAttempts, ends } = kindOf(job.kind);
  const allowed: readonly End[] = ends;
  const problems: string[] = [];
  if ((job.completed || told(job, 'completed') > 0) && !allowed.includes('completed')) problems.push('it completed');
  if (!job.dead) return problems;
  const { reason, attempts, crashes } = job.dead;
  if (reason === 'crashed') {
    // Of lost leases those are known whose runs were seen and not settled, and attempts of which no run was seen.
    // A run that snoozed has used none: its attempt may be one that was lost unseen later.
    const unsettled = job.runs.filter((run) => !run.settled).length;
    // One that was replaced while it waited has begun anew.
    const used = runsOfThisLife(job).filter((run) => run.settled !== 'snoozed');
    const unseen = attempts - new Set(used.map(({ attempt }) => attempt)).size;
    if (attempts < maxAttempts && crashes < MAX_CRASHES)
      problems.push(`it died as crashed after ${attempts} of ${maxAttempts} attempts and ${crashes} lost leases`);
    // Crashes outlive a replacement; of the life before it nobody knows how many leases were lost unseen.
    const wasReplaced = job.calls.some(({ operation, outcome }) => operation === 'replace' && outcome !== 'refused');
    if (crashes < 1 || (!wasReplaced && crashes > unsettled + unseen))
      problems.push(`it died as crashed of ${crashes} lost leases, ${unsettled + unseen} were seen`);
  } else if (!allowed.includes(reason as End)) problems.push(`it died: ${reason}`);
  else if (reason === 'attempts-exhausted' && attempts !== maxAttempts)
    problems.push(`its attempts were used up after ${attempts} of ${maxAttempts}`);
  return problems;
});

/** At the most: one that replaced a waiting job goes on with the life of that one. */
const livesOf = ({ calls }: Job) =>
  calls.filter((call) => creates(call) && call.outcome !== 'refused' && call.status !== 'replaced').length;

/** Of several changes of an id the last one that was accepted runs, whenever it came: before a run, beside one or after it. */
export const lastChangeRuns = aboutJobs('last-change-runs', (job) => {
  const last = lastChange(job);
  // What is dead may have been too late to begin, or may not have fitted its class.
  if (!last || job.dead || job.runs.some(({ revision }) => revision === last.revision)) return [];
  return [`the last change, revision ${last.revision}, was answered '${last.status}' and never ran`];
});

/** The change after which nothing else can have happened to the id but runs. */
function lastChange({ calls }: Job): Call | undefined {
  const mayMatter = ({ operation, outcome, changed }: Call) =>
    outcome !== 'refused' && (outcome === 'unknown' || operation === 'replace' || changed === true);
  const [last, ...overlapping] = calls
    .filter((call) => mayMatter(call) && !/^(reschedule|runNow)$/.test(call.operation))
    .sort((a, b) => b.end - a.end);
  if (last?.operation !== 'replace' || last.outcome !== 'ok') return undefined;
  return overlapping.some(({ end }) => end >= last.begin) ? undefined : last;
}

/** The counters of a queue say what the histories say, as exactly as those know. */
export const countsAddUp = aboutAll('counts-add-up', (timeline) =>
  timeline.finals.flatMap(({ queue, stats, dead, completed, waiting, active }) => {
    const jobs = [...timeline.jobs.values()].filter((job) => job.queue === queue);
    const number = (which: (job: Job) => unknown) => jobs.filter(which).length;
    const runs = jobs.flatMap((job) => job.runs);
    const { takenAway, leftOut } = uncounted(timeline, queue);
    const lives = jobs.reduce((sum, job) => sum + (job.hasLives ? livesOf(job) : 0), 0);
    const events = (name: string) => jobs.reduce((sum, job) => sum + told(job, name), 0);
    const bounds: Record<string, [least: number, most: number]> = {
      scheduled: [number(didExist), number(mayExist) + takenAway + leftOut],
      cancelled: [number(wasCancelled), number((job) => wasCancelled(job) || mayBeCancelled(job)) + takenAway],
      discarded: [events('discarded'), number((job) => ranTo(job, 'discard')) + leftOut],
      completed: [Math.max(events('completed'), completed.length), number((job) => ranTo(job, 'ok'))],
      dead: [dead.length, dead.length],
      deadDropped: [0, 0],
      started: [runs.length, Number.POSITIVE_INFINITY],
      snoozed: [events('snoozed'), runs.filter(({ how }) => how === 'snooze').length],
    };
    const problems = Object.entries(bounds).flatMap(([counter, [leastOf, mostOf]]) => {
      const count = stats[counter] ?? 0;
      // Each call that was not refused may have begun a life, which ends once.
      const least = leastOf - (counter === 'started' ? 0 : number(({ hasLives }) => hasLives));
      const most = mostOf + (counter === 'started' ? 0 : lives);
      if (count >= least && count <= most) return [];
      return [`${queue}: ${counter} is ${count}, the histories allow ${least} to ${most}`];
    });
    const of = (counter: string) => stats[counter] ?? 0;
    const there = waiting.length + active.length + dead.length;
    const gone = of('completed') + of('cancelled') + of('discarded') + of('deadDropped');
    if (of('scheduled') !== there + gone)
      problems.push(`${queue}: ${of('scheduled')} were scheduled, ${there} are there and ${gone} are gone`);
    return problems;
  }),
);

/** At every look, in the middle of faults and at the end, each job was in exactly one state and every index was true. */
export const oneState = aboutAll('one-state', (timeline: Timeline) =>
  timeline.audits.flatMap(({ queue, problems, mono }) =>
    problems.map((problem) => `${queue}, at ${mono.toFixed(0)}: ${problem}`),
  ),
);
