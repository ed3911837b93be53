import { isSuspect, type Job } from '../job.js';
import type { Opening } from './opening.js';
import { mayRun, type Stage } from './stage.js';

/** Suspects hold up at most one process in so many at a time, but always one. */
const PROCESSES_A_SUSPECT = 4;

/** What becomes of a turn's wish: the process is kept for a suspect, or the turn takes one, or neither. */
export interface SuspectOutcome {
  outcome?: 'reserved' | 'taken';
  /** The suspect that is claimed. */
  job?: Job;
  /** The suspect that lacks only a place under `globalConcurrency`: the session is offered the next one. */
  awaited?: Job;
}

export function seekSuspect(stage: Stage, { isShut, count }: Opening): SuspectOutcome {
  const { suspects: wish, limit } = stage.turn;
  if (wish === 'keep') return { outcome: 'reserved' };
  if (limit === 0 || wish === '' || wish === 'leave' || isShut) return {};
  const due = dueSuspects(stage);
  const [first] = due;
  if (!first || !mayReserve(stage, due.length)) return {};
  if (wish === 'reserve') return { outcome: 'reserved' };
  return count === 0 ? { outcome: 'reserved', awaited: first } : { outcome: 'taken', job: first };
}

/** Keeps the process for as long as a lease, or gives it up. The reservation of a process that has died runs out. */
export function noteReservation({ queue, session, turn, nowMs }: Stage, outcome: SuspectOutcome['outcome']): void {
  if (outcome) queue.reservations.set(session.worker, nowMs + queue.settings.leaseMs);
  else if (turn.suspects === 'claim' || turn.suspects === 'leave') queue.reservations.delete(session.worker);
}

/** Those that this session may run, the one to run first at the head. */
function dueSuspects(stage: Stage): Job[] {
  const { ledger, settings } = stage.queue;
  const found: Job[] = [];
  for (const { jobs, suspects } of ledger.waiting()) {
    if (suspects === 0) continue;
    for (const job of jobs) {
      if (job.dueAtMs > stage.nowMs) break;
      if (isSuspect(job, settings.maxCrashes) && mayRun(stage, job.envelope.name)) found.push(job);
    }
  }
  return found;
}

function mayReserve({ queue, session, nowMs }: Stage, due: number): boolean {
  const { leaseMs } = queue.settings;
  const others = [...queue.reservations].filter(
    ([worker, untilMs]) => worker !== session.worker && untilMs > nowMs && untilMs <= nowMs + leaseMs,
  );
  const processes = queue.presence.workersHere(nowMs).size;
  return others.length < Math.min(due, Math.max(1, Math.floor(processes / PROCESSES_A_SUSPECT)));
}
