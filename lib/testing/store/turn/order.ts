import { isSuspect, type Job, preferredBy } from '../job.js';
import type { Level } from '../ledger.js';
import { isFull, type Stage } from './stage.js';

export interface Picked {
  readonly job: Job;
  readonly weight: number;
}

export interface Selection {
  readonly picked: Picked[];
  /** Why no more of the due jobs: the session's limit, a gate, or the bytes of the answer. */
  stopped?: 'limit' | 'gate' | 'bytes';
  /** Names that were passed over because their handlers are full here. */
  readonly fullNames: Set<string>;
}

/**
 * Picks the best jobs. Strict: those of the lower priority number first. Aging: those of the lower rank, due + priority × msPerLevel,
 * first; as a waiting job grows more urgent by one level every msPerLevel, the order of two jobs never changes. Inside a priority first
 * the jobs that prefer this worker, then those that prefer none, then those that prefer another and may be stolen; each by due time, then
 * by id. The best job is not passed over for a lighter one that comes after it: it would wait for ever. A full handler only skips its
 * own jobs.
 */
export function pick(stage: Stage, gateCount: number): Selection {
  const { ordering } = stage.queue.settings;
  const selection: Selection = { picked: [], fullNames: new Set() };
  const cursors = stage.queue.ledger.waiting().map((level) => new Cursor(stage, level, selection.fullNames));
  let left = stage.turn.limit;
  const rank = ({ job, priority }: { job: Job; priority: number }) =>
    ordering.mode === 'strict' ? priority : job.dueAtMs + priority * ordering.msPerLevel;
  for (;;) {
    const best = bestOf(cursors, ordering.mode === 'strict', rank);
    if (!best) return selection;
    const handler = stage.handlers.get(best.job.envelope.name);
    const weight = handler?.weight ?? 1;
    if (weight > left) return { ...selection, stopped: 'limit' };
    if (selection.picked.length >= gateCount) return { ...selection, stopped: 'gate' };
    left -= weight;
    if (handler) handler.free--;
    selection.picked.push({ job: best.job, weight });
    best.cursor.advance();
  }
}

type Best = { job: Job; priority: number; cursor: Cursor };

/** Levels come by priority, so where the ordering is strict the first that holds anything holds the best job. */
function bestOf(cursors: readonly Cursor[], isStrict: boolean, rank: (best: Best) => number): Best | undefined {
  let found: Best | undefined;
  for (const cursor of cursors) {
    const job = cursor.best();
    if (!job) continue;
    const best = { job, priority: cursor.priority, cursor };
    if (isStrict) return best;
    if (!found || rank(best) < rank(found)) found = best;
  }
  return found;
}

/** The due jobs of one level that a session may run, one after the other. */
class Cursor {
  private readonly jobs: Iterator<Job>;
  private next: Job | undefined;

  constructor(
    private readonly stage: Stage,
    private readonly level: Level,
    private readonly fullNames: Set<string>,
  ) {
    this.jobs = inOrder(stage, level);
    this.advance();
  }

  get priority(): number {
    return this.level.priority;
  }

  best(): Job | undefined {
    while (this.next && !this.mayRun(this.next)) this.advance();
    return this.next;
  }

  advance(): void {
    this.next = this.jobs.next().value;
  }

  private mayRun({ envelope: { name, worker } }: Job): boolean {
    if (!this.stage.session.handles(name)) return false;
    if (!isFull(this.stage, name)) return true;
    // Others may not take this worker's own, and look by themselves when they may.
    if (worker !== this.stage.session.worker) this.fullNames.add(name);
    return false;
  }
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
