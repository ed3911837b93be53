import { invalidSchedule as refuse } from '../errors.js';
import { DEAD_REASONS, type DeadReason } from '../job/events.js';
import { describe } from '../read/describe.js';
import { type Due, instant, readDue } from '../read/due.js';
import { jobNames, keyPart } from '../read/names.js';
import { anything, integer, isRecord, oneOf, readOptions, type Shape } from '../read/shape.js';
import { type JobRef, readRef } from './job-ref.js';
import { DEFAULT_QUEUE } from './queue-options.js';

/** Which dead jobs are meant: those that fit all that is given, the oldest first. */
export interface DeadFilter {
  /** Jobs of these names, up to 1 000. Default: of any. */
  names?: readonly string[];
  /** Jobs that died for this reason. Default: for any. */
  reason?: DeadReason;
  /** Jobs that died before this instant: a Date, epoch ms, or ISO 8601 with time and `Z` or offset. Default: by now. */
  diedBefore?: Date | number | string;
  /** At most so many of them, from 1. Default: all. */
  limit?: number;
  /** Default `'default'`. */
  queue?: string;
}

/** The options of `replayDead`. */
export interface ReplayOptions {
  /** When the first of them is due: a Date, epoch ms, or ISO 8601 with time and `Z` or offset. An instant in the past is kept. Default: now. */
  at?: Date | number | string;
  /** How many are due a second, above 0. Ignored for one job. Default: all at once. */
  perSecond?: number;
  /** Wins over the queue of the first argument. Default: that, else `'default'`. */
  queue?: string;
}

/** A filter that has been read. A missing condition fits every dead job. */
export interface DeadSelection {
  names?: readonly string[];
  reason?: DeadReason;
  diedBeforeMs?: number;
  limit?: number;
}

const FILTER: Shape<Omit<DeadFilter, 'diedBefore'> & { diedBefore: number }> = {
  names: jobNames,
  reason: oneOf(...DEAD_REASONS),
  diedBefore: instant,
  limit: integer(1),
  queue: keyPart,
};

const REPLAY_OPTIONS: Shape<{ at: unknown; perSecond: number; queue: string }> = {
  at: anything,
  perSecond: (value) =>
    typeof value === 'number' && value > 0 && Number.isFinite(value)
      ? { value }
      : { problem: `got ${describe(value)}, expected a number above 0` },
  queue: keyPart,
};

/** Reads which dead jobs are meant, and in which queue; the queue in `options` wins. Throws `InvalidScheduleError`. */
export function readDeadFilter(
  filter: DeadFilter | undefined,
  options: { queue?: string } | undefined,
  where: string,
): { queue: string; which: DeadSelection } {
  refuseUndefined(filter, where);
  const { queue, diedBefore, ...read } = readOptions(filter, FILTER, where, refuse);
  const said = readOptions(options, { queue: keyPart }, where, refuse);
  return {
    queue: said.queue ?? queue ?? DEFAULT_QUEUE,
    which: { ...read, ...(diedBefore !== undefined && { diedBeforeMs: diedBefore }) },
  };
}

/** Reads which dead jobs are to be put back, and when they are due. Throws `InvalidScheduleError`. */
export function readReplay(
  which: JobRef | 'all' | DeadFilter,
  given: ReplayOptions | undefined,
): { queue: string; which: string | DeadSelection; due: Due; perSecond?: number } {
  const where = 'replayDead';
  const { at, perSecond, queue } = readOptions(given, REPLAY_OPTIONS, where, refuse);
  const due = readDue(at, undefined);
  if ('problem' in due) throw refuse(`${where}: ${due.problem}.`);
  const inQueue = queue === undefined ? undefined : { queue };
  if (which === 'all') return { queue: queue ?? DEFAULT_QUEUE, which: {}, due, perSecond };
  if (isRecord(which) && !('id' in which))
    return { ...readDeadFilter(which as DeadFilter, inQueue, where), due, perSecond };
  const { id, queue: of } = readRef(which, inQueue, where);
  return { queue: of, which: id, due };
}

/** An `undefined` condition is refused: without the condition the filter would mean all dead jobs. */
function refuseUndefined(filter: unknown, where: string): void {
  if (!isRecord(filter)) return;
  const missing = Object.entries(filter).find(([, value]) => value === undefined);
  if (missing) throw refuse(`${where}: ${missing[0]}: got undefined, expected a value; leave it out to mean any.`);
}
