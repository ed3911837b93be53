import { MOST_JOBS } from '../../../core/constants.js';
import type { HandlerCapacity } from '../../../store/job-store.js';
import { isSuspect, type Job, preferredBy, rankOf } from '../job.js';
import type { Level } from '../ledger.js';
import { isFull, type Stage } from './stage.js';

/** The due jobs of one level that the session may run, of which `job` is the next one. */
interface Cursor {
  readonly jobs: Iterator<Job, undefined>;
  job: Job | undefined;
}

/**
 * Picks the best jobs in the order of the queue, as far as the session and the gates have room. Inside a priority first the jobs that prefer this worker, then those that prefer none, then
 * those that prefer another and may be stolen; each by due time, then by id. The best job is not passed over for a lighter one that comes
 * after it: it would wait for ever. A full handler only skips its own jobs.
 */
export function pick(stage: Stage, gateCount: number): void {
  const cursors = stage.queue.ledger.waiting().map((level): Cursor => {
    const jobs = inOrder(stage, level);
    return { jobs, job: jobs.next().value };
  });
  const { limit } = stage.turn;
  // Jobs of one call weigh what one of them does.
  const most = Math.max(limit, MOST_JOBS);
  let left = limit;
  for (;;) {
    const best = bestOf(stage, cursors);
    if (!best?.job) return;
    const handler = stage.handlers.get(best.job.envelope.name);
    const weight = handler ? weightOfNext(handler) : 1;
    if (weight > left) stage.stopped = 'limit';
    else if (stage.picked.length >= gateCount) stage.stopped = 'gate';
    else if (stage.picked.length >= most) stage.stopped = 'size';
    if (stage.stopped) return;
    left -= weight;
    if (handler) handler.free--;
    stage.picked.push({ job: best.job, weight });
    best.job = best.jobs.next().value;
  }
}

/** What the next job of a handler weighs: nothing where it goes with a call that has begun to fill. */
function weightOfNext({ free, size, weight }: HandlerCapacity): number {
  return free % size === 0 ? weight : 0;
}

/** Levels come by priority, so where the ordering is strict the first that holds anything holds the best job. */
function bestOf(stage: Stage, cursors: readonly Cursor[]): Cursor | undefined {
  const { ordering } = stage.queue.settings;
  let best: Cursor | undefined;
  for (const cursor of cursors) {
    while (cursor.job && !isPickable(stage, cursor.job)) cursor.job = cursor.jobs.next().value;
    if (!cursor.job) continue;
    if (ordering.mode === 'strict') return cursor;
    if (!best || rankOf(cursor.job, ordering) < rankOf(best.job!, ordering)) best = cursor;
  }
  return best;
}

function isPickable(stage: Stage, { envelope: { name, worker } }: Job): boolean {
  if (!stage.session.handles(name)) return false;
  if (!isFull(stage, name)) return true;
  // Others may not take this worker's own, and look by themselves when they may.
  if (worker !== stage.session.worker) stage.fullNames.add(name);
  return false;
}

function* inOrder(stage: Stage, level: Level): Generator<Job, undefined> {
  const own = stage.session.worker;
  const preferred = (job: Job) => preferredBy(job, stage.queue.settings.maxCrashes);
  if (level.preferring === 0) {
    yield* ordinary(stage, level);
    return;
  }
  for (const job of ordinary(stage, level)) if (preferred(job) === own) yield job;
  for (const job of ordinary(stage, level)) if (preferred(job) === undefined) yield job;
  for (const job of ordinary(stage, level)) if (mayBeStolen(stage, job)) yield job;
}

/** The due jobs of a level but for suspects, which ordinary claims do not see. */
function* ordinary({ queue: { settings }, nowMs }: Stage, { jobs }: Level): Generator<Job> {
  for (const job of jobs) {
    if (job.dueAtMs > nowMs) return;
    if (!isSuspect(job, settings.maxCrashes)) yield job;
  }
}

/** A job that prefers another worker waits for that one until it is `stealAfterMs` late, or as long as that worker is there. */
export function mayBeStolen(stage: Stage, job: Job): boolean {
  return (
    job.envelope.worker !== undefined &&
    job.envelope.worker !== stage.session.worker &&
    stealableAt(stage, job) <= stage.nowMs
  );
}

export function stealableAt({ queue: { presence, settings }, nowMs }: Stage, { envelope, dueAtMs }: Job): number {
  return presence.isHere(envelope.worker!, nowMs) ? dueAtMs + settings.stealAfterMs : dueAtMs;
}
