import { MOST_JOBS, MOST_JOBS_OF_GROUPS } from '../../../core/constants.js';
import type { HandlerCapacity } from '../../../store/job-store.js';
import type { GroupState } from '../groups.js';
import { isSuspect, type Job, preferredBy, rankOf } from '../job.js';
import type { Level } from '../ledger.js';
import { lineUp, type Unit } from './line-up.js';
import { isFull, type Stage } from './stage.js';

/** The due jobs of a unit that the session may run, of which `job` is the next one. */
interface Cursor {
  readonly unit: Unit;
  readonly jobs: Iterator<Job, undefined>;
  job: Job | undefined;
  /** Where it stands in the turns of its priority: behind its jobs that are picked. */
  turn: number;
  picked: number;
  /** Beside a group: the jobs of its priority without one. */
  common?: Cursor | undefined;
}

/**
 * Picks the best jobs in the order of the queue, as far as the session and the gates have room. Inside a priority groups take turns with each
 * other and with the jobs that have none; of these first the jobs that prefer this worker, then those that prefer none, then those that
 * prefer another and may be stolen; each by due time, then by id. The best job is not passed over for a lighter one that comes
 * after it: it would wait for ever. A full handler only skips its own jobs.
 */
export function pick(stage: Stage, gateCount: number): void {
  const states = new Map<string, GroupState>();
  const levels = stage.queue.ledger.waiting().map((level) => {
    let cursors: Cursor[] | undefined;
    return () => {
      if (cursors) return cursors;
      cursors = lineUp(stage, level, states).map((unit): Cursor => {
        const jobs = inOrder(stage, unit, level);
        return { unit, jobs, job: jobs.next().value, turn: unit.turn, picked: 0 };
      });
      const common = cursors.find(({ unit }) => unit.group === '');
      for (const cursor of cursors) if (cursor !== common) cursor.common = common;
      return cursors;
    };
  });
  const { limit } = stage.turn;
  // Jobs of one call weigh what one of them does.
  const most = Math.max(limit, MOST_JOBS);
  let left = limit;
  let ofGroups = 0;
  for (;;) {
    const best = bestOf(stage, levels);
    if (!best?.job) return;
    const handler = stage.handlers.get(best.job.envelope.name);
    const weight = handler ? weightOfNext(handler) : 1;
    if (weight > left) stage.stopped = 'limit';
    else if (stage.picked.length >= gateCount) stage.stopped = 'gate';
    else if (stage.picked.length >= most) stage.stopped = 'size';
    const isOfGroup = best.unit.group !== '';
    if (isOfGroup && ofGroups >= MOST_JOBS_OF_GROUPS) stage.stopped ??= 'size';
    if (stage.stopped) return;
    left -= weight;
    if (isOfGroup) ofGroups++;
    if (handler) handler.free--;
    const overtakes = isOfGroup ? best.common !== undefined && best.common.turn <= best.turn : undefined;
    stage.picked.push({ job: best.job, weight, ...(overtakes !== undefined && { overtakes }) });
    best.job = best.jobs.next().value;
    best.unit.state.free--;
    best.turn = best.unit.turn + ++best.picked / stage.queue.groups.weightOf(best.unit.group);
  }
}

/** What the next job of a handler weighs: nothing where it goes with a call that has begun to fill. */
function weightOfNext({ free, size, weight }: HandlerCapacity): number {
  return free % size === 0 ? weight : 0;
}

/** Levels come by priority and are opened as they are needed, so where the ordering is strict the first that holds anything holds the best job. */
function bestOf(stage: Stage, levels: readonly (() => readonly Cursor[])[]): Cursor | undefined {
  const { ordering } = stage.queue.settings;
  let best: Cursor | undefined;
  for (const open of levels) {
    const next = nextOf(stage, open());
    if (!next) continue;
    if (ordering.mode === 'strict') return next;
    if (!best || rankOf(next.job!, ordering) < rankOf(best.job!, ordering)) best = next;
  }
  return best;
}

/** Whose turn it is: the job of that unit stands for its priority. A unit of which this session may run nothing keeps its turn. */
function nextOf(stage: Stage, cursors: readonly Cursor[]): Cursor | undefined {
  let next: Cursor | undefined;
  for (const cursor of cursors) {
    if (cursor.unit.state.free <= 0) continue;
    while (cursor.job && !isPickable(stage, cursor.job)) cursor.job = cursor.jobs.next().value;
    if (cursor.job && (!next || cursor.turn < next.turn)) next = cursor;
  }
  return next;
}

function isPickable(stage: Stage, { envelope }: Job): boolean {
  const { name, worker } = envelope;
  if (!stage.session.handles(envelope)) return false;
  if (!isFull(stage, name)) return true;
  // Others may not take this worker's own, and look by themselves when they may.
  if (worker !== stage.session.worker) stage.fullNames.add(name);
  return false;
}

function* inOrder(stage: Stage, unit: Unit, { preferring, priority }: Level): Generator<Job, undefined> {
  const own = stage.session.worker;
  const preferred = (job: Job) => preferredBy(job, stage.queue.settings.maxCrashes);
  const { holder } = unit.state;
  if (holder) {
    const isHere = holder.envelope.priority === priority && !isSuspect(holder, stage.queue.settings.maxCrashes);
    if (isHere) yield holder;
    return;
  }
  if (unit.group !== '' || preferring === 0) {
    yield* ordinary(stage, unit);
    return;
  }
  for (const job of ordinary(stage, unit)) if (preferred(job) === own) yield job;
  for (const job of ordinary(stage, unit)) if (preferred(job) === undefined) yield job;
  for (const job of ordinary(stage, unit)) if (mayBeStolen(stage, job)) yield job;
}

/** The due jobs of a unit but for suspects, which ordinary claims do not see. */
function* ordinary({ queue: { settings }, nowMs }: Stage, { jobs }: Unit): Generator<Job> {
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
