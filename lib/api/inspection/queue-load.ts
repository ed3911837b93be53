import { invalidSchedule } from '../../core/errors.js';
import { DEFAULT_QUEUE, type QueueSettings } from '../../core/options/queue-options.js';
import { type Duration, MAX_DURATION_MS } from '../../core/read/duration.js';
import { keyPart } from '../../core/read/names.js';
import { duration, readOptions, type Shape } from '../../core/read/shape.js';
import type { LiveWorker, QueueView } from '../../store/job-store.js';

/** Now plus this is still a date. */
const LONGEST_MS = MAX_DURATION_MS / 2;
const WITHIN_MS = 60_000;

/** The options of `load`. */
export interface LoadOptions {
  /** Default `'default'`. */
  queue?: string;
  /** How far ahead `dueSoon` looks. Default 60 000. */
  withinMs?: Duration;
}

/** How much there is to do in a queue, and how much of it can be done at once. */
export interface QueueLoad {
  /** How many jobs are due and wait for a worker; those of groups that are held do not count, of up to 1 000 such groups. */
  due: number;
  /** How many more are due within `withinMs`. */
  dueSoon: number;
  /** How late the oldest of these is, in ms; 0 if none is due, or while the queue is blocked. */
  latenessMs: number;
  /**
   * The weight of the jobs that handlers of live workers run, at most `globalConcurrency`; a handler that goes on after its run counts as
   * well. Jobs of a handler with `batch` weigh as much as the fewest calls that hold them, those included that wait for their call. Pulled
   * jobs do not count.
   */
  running: number;
  /** The weight that they can run at once, at most `globalConcurrency`. */
  capacity: number;
  /** Why no job begins, however many workers there are; `null` if nothing keeps them. */
  blocked: 'paused' | 'blackout' | 'rate' | null;
}

const SHAPE: Shape<{ queue: string; withinMs: number }> = { queue: keyPart, withinMs: duration(0, LONGEST_MS) };

/** Reads a call to `load`. Throws `InvalidScheduleError`. */
export function readLoad(given: unknown): { queue: string; withinMs: number } {
  return { queue: DEFAULT_QUEUE, withinMs: WITHIN_MS, ...readOptions(given, SHAPE, 'load', invalidSchedule) };
}

export async function loadOf(view: QueueView, settings: QueueSettings, withinMs: number): Promise<QueueLoad> {
  const [{ latenessMs, nowMs, blocked }, workers] = await Promise.all([latenessOf(view, settings), view.workers()]);
  const [[all = 0, dueSoon = 0], held] = await Promise.all([
    view.forecast([0, nowMs + 1, nowMs + withinMs + 1]),
    view.heldDue(),
  ]);
  const sum = (of: (worker: LiveWorker) => number) =>
    Math.min(
      settings.globalConcurrency,
      workers.reduce((sum, worker) => sum + of(worker), 0),
    );
  return {
    due: Math.max(0, all - held),
    dueSoon,
    latenessMs,
    running: sum(({ weight, stuck }) => weight + (stuck?.weight ?? 0)),
    capacity: sum(({ concurrency }) => concurrency),
    blocked,
  };
}

/** How late the oldest due job is whose group is not held, by the clock of the store; nothing is late while the queue is blocked. */
export async function latenessOf(
  view: QueueView,
  settings: QueueSettings,
): Promise<Pick<QueueLoad, 'latenessMs' | 'blocked'> & { nowMs: number }> {
  const [{ dueAtMs, nowMs }, blocked] = await Promise.all([view.nextFree(), blockedBy(view, settings)]);
  const isLate = blocked === null && dueAtMs !== undefined;
  return { latenessMs: isLate ? Math.max(0, nowMs - dueAtMs) : 0, blocked, nowMs };
}

async function blockedBy(view: QueueView, { rateLimit }: QueueSettings): Promise<QueueLoad['blocked']> {
  const [pausedUntilMs, { untilMs }, { started }] = await Promise.all([
    view.pausedUntil(),
    view.blackouts(),
    view.limits(),
  ]);
  if (pausedUntilMs !== undefined) return 'paused';
  if (untilMs !== undefined) return 'blackout';
  return rateLimit && started >= rateLimit.max ? 'rate' : null;
}
