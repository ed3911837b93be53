import { PROCESSES_A_SUSPECT } from '../../../core/constants.js';
import { isSuspect, type Job } from '../job.js';
import type { Opening } from './opening.js';
import { mayRun, type Stage } from './stage.js';

/** What becomes of a turn's wish: the process is kept for a suspect, or the turn takes one, or neither. */
export interface SuspectOutcome {
  outcome?: 'reserved' | 'taken';
  /** The suspect that is claimed. */
  job?: Job;
  /** The suspect lacks only a place under `globalConcurrency`: others leave the next one. */
  awaited?: boolean;
}

export function seekSuspect(stage: Stage, { isShut, count }: Opening): SuspectOutcome {
  const { suspects: wish, limit } = stage.turn;
  if (wish === 'keep') return { outcome: 'reserved' };
  if (limit === 0 || wish === '' || wish === 'leave' || isShut) return {};
  const due = dueSuspects(stage);
  const [first] = due;
  if (!first || !isAllowed(stage, due.length, count > 0)) return {};
  if (wish === 'reserve') return { outcome: 'reserved' };
  return count === 0 ? { outcome: 'reserved', awaited: true } : { outcome: 'taken', job: first };
}

/** Keeps the process for as long as a lease, or gives it up. The reservation of a process that has died runs out. */
export function noteReservation({ queue, session, turn, nowMs }: Stage, outcome: SuspectOutcome['outcome']): void {
  if (outcome) queue.reservations.set(session.worker, nowMs + queue.settings.leaseMs);
  else if (turn.suspects === 'claim' || turn.suspects === 'leave') queue.reservations.delete(session.worker);
}

/** Whether there are suspects that this turn could not take because its process holds something. */
export function waitsForSuspect(
  { queue, turn: { suspects: wish, limit } }: Stage,
  outcome: SuspectOutcome['outcome'],
): boolean {
  if (outcome || limit === 0 || (wish !== '' && wish !== 'reserve')) return false;
  return [...queue.ledger.waiting()].some(({ suspects }) => suspects > 0);
}

/** Those that this session may run, the one to run first at the head. */
function dueSuspects(stage: Stage): Job[] {
  const { ledger, settings } = stage.queue;
  const found: Job[] = [];
  for (const { jobs, suspects } of ledger.waiting()) {
    if (suspects === 0) continue;
    for (const job of jobs) {
      if (job.dueAtMs > stage.nowMs) break;
      if (isSuspect(job, settings.maxCrashes) && mayRun(stage, job) && isFree(stage, job)) found.push(job);
    }
  }
  return found;
}

/** Whether its group, if it has one, lets it start. */
function isFree({ queue, nowMs }: Stage, job: Job): boolean {
  const { group } = job.envelope;
  if (group === undefined) return true;
  const { heldBy, holder } = queue.groups.stateOf(group, nowMs);
  return heldBy === undefined && (!holder || holder === job);
}

/** Whether this process may be held up by a suspect beside those that are reserved already. `due`: how many suspects are due. */
function isAllowed(
  { queue, session, nowMs, turn: { suspects: wish } }: Stage,
  due: number,
  hasPlace: boolean,
): boolean {
  const { leaseMs } = queue.settings;
  const others = new Set<string>();
  for (const [worker, untilMs] of queue.reservations)
    if (worker !== session.worker && untilMs > nowMs && untilMs <= nowMs + leaseMs) others.add(worker);
  const here = queue.presence.workersHere(nowMs);
  const isAnyFree = [...here].some((worker) => worker !== session.worker && !others.has(worker));
  // An empty process gives up nothing for a suspect that it runs at once, so it needs only another one that is free for other jobs. But
  // it waits for a place under `globalConcurrency` as part of the bound: else all places that are left would be kept for suspects.
  if (isAnyFree && (wish === 'claim' || (wish === 'take' && hasPlace))) return true;
  return others.size < Math.min(due, Math.max(1, Math.floor(here.size / PROCESSES_A_SUSPECT)));
}
