import { MOST_YIELDS, YIELD_AGAIN_MS, YIELD_MS } from '../../../core/constants.js';
import { compareJobs, isSuspect, type Job, preferredBy } from '../job.js';
import { mayBeStolen } from './order.js';
import { giveBack, mayRun, type Picked, type Stage } from './stage.js';
import type { SuspectOutcome } from './suspects.js';

/** Whom a job prefers, as the worker sees it that would run the job. */
const ITSELF = 1;
const NOBODY = 2;
const ANOTHER = 3;

interface Candidate {
  readonly job: Job;
  readonly kind: number;
  /** The only worker that may be told of the place. */
  readonly only?: string;
}

/**
 * A worker that settles and claims in one turn would keep all places under `globalConcurrency` for its own backlog. Therefore a turn that
 * would take the last of the `left` places yields to better jobs that this session may not run and a sleeper with a place for them may:
 * the turn tells that sleeper, and leaves a place for YIELD_MS. A place is left for a suspect that lacks nothing else, whatever else is
 * due. Answers when this session looks again for what it has left, if it has.
 */
export function yieldPlaces(stage: Stage, left: number, { outcome, awaited }: SuspectOutcome): number | undefined {
  const { queue, session, nowMs, picked } = stage;
  if (!Number.isFinite(left) || !(outcome || (picked.length > 0 && picked.length >= left))) return undefined;
  const { yields, suspectYields } = queue.gates;
  suspectYields.delete(session.worker);
  forget(yields, nowMs - YIELD_AGAIN_MS, nowMs + YIELD_MS);
  forget(suspectYields, nowMs, nowMs + YIELD_MS);
  if (awaited) {
    suspectYields.set(session.worker, nowMs + YIELD_MS);
    return Math.floor(nowMs + YIELD_MS / 2);
  }
  const ends = outcome ? [] : [...suspectYields.values()].slice(0, picked.length);
  for (const _ of ends) leaveWorst(stage);
  if (!outcome) ends.push(...yieldToBetter(stage));
  if (ends.length > 0) {
    stage.stopped = 'gate';
    return Math.min(...ends);
  }
  // Whoever takes the last place takes the places that were left, too.
  if (picked.length > 0 && picked.length >= left)
    for (const [id, untilMs] of yields) if (untilMs > nowMs) yields.delete(id);
  return undefined;
}

/** Answers until when the places are left. */
function yieldToBetter(stage: Stage): number[] {
  const { nowMs, turn, picked } = stage;
  const { yields } = stage.queue.gates;
  // A pull that goes with its jobs could not come back for the place. A pull that stays, because it gives its only job back, can.
  const mayComeBack = turn.standing === 'stays' || (turn.standing === 'until-claimed' && picked.length === 1);
  // Nobody came for the place: it is not left for one job after another.
  const isJustOver = [...yields.values()].some((untilMs) => untilMs <= nowMs && untilMs > nowMs - YIELD_MS);
  const mayBegin = mayComeBack && !isJustOver;
  const isBetterThanWorst = (candidate: Candidate) => {
    const worst = picked.at(-1);
    return worst && isBetter(stage, candidate, { ...worst, kind: kindHere(stage, worst.job) });
  };
  const better = candidates(stage).filter(isBetterThanWorst);
  const ends = new Map<Job, number>();
  const asked = new Set<string>();
  const compare = compareJobs(stage.queue.settings.ordering);
  for (const candidate of better.sort((a, b) => compare(a.job, b.job))) {
    const { job } = candidate;
    if (ends.has(job) || !isBetterThanWorst(candidate)) continue;
    if (!yields.has(job.id) && mayBegin && yields.size < MOST_YIELDS && tell(stage, candidate, asked))
      yields.set(job.id, nowMs + YIELD_MS);
    const untilMs = yields.get(job.id) ?? 0;
    if (untilMs <= nowMs) continue;
    ends.set(job, untilMs);
    leaveWorst(stage);
  }
  return [...ends.values()];
}

/** Whether a place is being left for somebody. */
export function isSomeLeft({ queue: { gates }, nowMs }: Stage): boolean {
  const ends = [...gates.yields.values(), ...gates.suspectYields.values()];
  return ends.some((untilMs) => untilMs > nowMs && untilMs <= nowMs + YIELD_MS);
}

function leaveWorst(stage: Stage): void {
  giveBack(stage, stage.picked.pop()!.job);
}

/** Those that end no later than the first time, and those that end later than one from now on would: the clock has gone back. */
function forget(yields: Map<string, number>, pastMs: number, latestMs: number): void {
  for (const [key, untilMs] of yields) if (untilMs <= pastMs || untilMs > latestMs) yields.delete(key);
}

/** The due jobs that cannot run here. Places are left to jobs without a group only. */
function candidates(stage: Stage): Candidate[] {
  const { ledger, settings } = stage.queue;
  const isPicked = new Set(stage.picked.map(({ job }) => job));
  const found: Candidate[] = [];
  for (const { jobs } of ledger.waiting())
    for (const job of jobs) {
      if (job.dueAtMs > stage.nowMs) break;
      if (isPicked.has(job) || job.envelope.group !== undefined || isSuspect(job, settings.maxCrashes)) continue;
      const preferred = preferredBy(job, settings.maxCrashes);
      if (preferred === undefined) {
        if (!mayRun(stage, job)) found.push({ job, kind: NOBODY });
      } else if (preferred !== stage.session.worker) {
        found.push({ job, kind: ITSELF, only: preferred });
        if (mayBeStolen(stage, job) && !mayRun(stage, job)) found.push({ job, kind: ANOTHER });
      }
    }
  return found;
}

/** The order of the queue. Of one priority, a job that prefers the sleeper is better than one that prefers nobody. */
function isBetter({ queue }: Stage, a: Candidate, b: Candidate & Pick<Picked, 'overtakes'>): boolean {
  const isOneLevel = a.job.envelope.priority === b.job.envelope.priority;
  // It has taken the turn of the jobs without a group, which this session may not run.
  if (isOneLevel && b.overtakes !== undefined) return b.overtakes;
  if (isOneLevel && a.kind !== b.kind) return a.kind < b.kind;
  return compareJobs(queue.settings.ordering)(a.job, b.job) < 0;
}

function kindHere(stage: Stage, job: Job): number {
  const preferred = preferredBy(job, stage.queue.settings.maxCrashes);
  if (preferred === undefined) return NOBODY;
  return preferred === stage.session.worker ? ITSELF : ANOTHER;
}

/** Tells a sleeper that has a place for the job; false where none hears. It is on its way then, and listed no more. */
function tell({ queue: { sleepers }, session, nowMs }: Stage, { job, only }: Candidate, asked: Set<string>): boolean {
  for (const sleeper of sleepers.withPlaceFor(job.envelope)) {
    if (asked.has(sleeper.key) || sleeper.key === session.key) continue;
    if (only !== undefined && sleeper.worker !== only) continue;
    asked.add(sleeper.key);
    sleepers.wake(sleeper);
    if (sleepers.tell(sleeper, nowMs)) return true;
  }
  return false;
}
