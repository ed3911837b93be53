import { InvalidScheduleError, invalidSchedule } from '../errors.js';
import type { ScheduledJobDefinition } from '../job/definition.js';
import { describe } from '../read/describe.js';
import { instant } from '../read/due.js';
import { keyPart, pauseReason, recurrenceId } from '../read/names.js';
import { integer, isRecord, type Refuse, readOne, readOptions } from '../read/shape.js';
import { DEFAULT_QUEUE } from './queue-options.js';
import { readSchedule, type ScheduleOptions, type ScheduleRequest } from './schedule-options.js';

/** How a call names a recurrence: `{ id, queue }`, such as the answer of `upsertRecurrence`, or a bare id in the default queue. */
export type RecurrenceRef = string | { readonly id: string; readonly queue?: string };

/** Options of the jobs that a recurrence creates: those of `schedule`, less the ones that the rule and the id of the recurrence decide. */
export type RecurrenceOptions = Omit<
  ScheduleOptions,
  'at' | 'delay' | 'id' | 'onDuplicate' | 'maxWaitMs' | 'throttleMs' | 'set'
>;

/** The options of `pauseRecurrence`. */
export interface PauseRecurrenceOptions {
  /** Why: 1 to 1 000 printable characters, which `recurrence` and `recurrences` show until it is resumed. Default: none. */
  reason?: string;
  /** Wins over the queue of the reference. Default: that, else `'default'`. */
  queue?: string;
}

/** The instants from `from` on, and before `to`. */
export interface BackfillRange {
  /** The first instant: a Date, epoch ms, or ISO 8601 with time and `Z` or offset. */
  from: Date | number | string;
  /** The end, which is not included; not before `from`. */
  to: Date | number | string;
}

/** Which recurrences `recurrences` answers. */
export interface RecurrencesOptions {
  /** Default `'default'`. */
  queue?: string;
  /** How many are passed over. Default 0. */
  offset?: number;
  /** How many are answered at most, 1 to 10 000. Default 1 000. */
  limit?: number;
}

export const MOST_BACKFILLED = 10_000;
const MOST_LISTED = 10_000;
const LISTED_BY_DEFAULT = 1_000;

/** Options of `schedule` that say nothing of a recurrence, and why. */
const SAID_OTHERWISE = {
  at: 'the rule says when the jobs are due; its startAt says from when on',
  delay: 'the rule says when the jobs are due; its startAt says from when on',
  id: 'the first argument names the recurrence, and each job has its id and its instant',
  onDuplicate: 'there is one job for each instant',
  maxWaitMs: 'the rule says when the jobs are due',
  throttleMs: 'the rule says when the jobs are due',
  set: 'occurrences cannot be members of a set; let the handler open one and schedule its members',
};

/** How an error of a call becomes one that says which recurrence and job it is about. */
export function refuseWith(queue: string, jobName?: string): Refuse {
  return (message) => new InvalidScheduleError(message, { queue, jobName });
}

/** Reads which recurrence is meant; no queue where nobody has named one. Throws `InvalidScheduleError`. */
export function readRecurrenceRef(
  ref: unknown,
  options: { queue?: string } | undefined,
  call: string,
): { id: string; queue: string | undefined; where: string } {
  const { id, queue } = (typeof ref === 'string' ? { id: ref } : isRecord(ref) ? ref : {}) as Record<string, unknown>;
  if (id === undefined)
    throw invalidSchedule(`${call}: got ${describe(ref)}, expected the id of a recurrence or { id, queue }.`);
  const read = readOne(recurrenceId, id, `${call}: id`);
  const where = `${call}('${read}')`;
  const given = readOptions(options, { queue: keyPart }, where, invalidSchedule);
  return {
    id: read,
    queue: given.queue ?? (queue === undefined ? queue : readOne(keyPart, queue, `${where}: queue`)),
    where,
  };
}

/** The same, with the default queue where nobody has named one. */
export function readRecurrence(ref: unknown, options: { queue?: string } | undefined, call: string) {
  const { queue = DEFAULT_QUEUE, ...read } = readRecurrenceRef(ref, options, call);
  return { ...read, queue };
}

/**
 * Reads what job each occurrence is, and in which queue. `payload`: as it was given, for the definition's `group`; that of the answer is
 * empty until it has been serialised. Throws `InvalidScheduleError`.
 */
export function readRecurringJob(
  job: ScheduledJobDefinition | string,
  options: RecurrenceOptions | undefined,
  queue: string | undefined,
  where: string,
  payload?: unknown,
): ScheduleRequest {
  if (isRecord(options)) {
    for (const [option, why] of Object.entries(SAID_OTHERWISE)) {
      if (!Object.hasOwn(options, option)) continue;
      throw invalidSchedule(`${where}: got the option ${option}, expected none: ${why}.`);
    }
  }
  const request = readSchedule(job, options, payload, where);
  if (queue !== undefined && options?.queue === undefined) request.queue = queue;
  return request;
}

/** Throws `InvalidScheduleError`. */
export function readPauseReason(
  options: PauseRecurrenceOptions | undefined,
  call: string,
): Partial<PauseRecurrenceOptions> {
  return readOptions(options, { reason: pauseReason, queue: keyPart }, call, invalidSchedule);
}

/** Reads a half-open range of instants, in epoch ms. Throws `InvalidScheduleError`. */
export function readBackfillRange(range: unknown, where: string): { from: number; to: number } {
  if (!isRecord(range)) throw invalidSchedule(`${where}: got ${describe(range)}, expected { from, to }.`);
  const { from, to } = readOptions(range, { from: instant, to: instant }, where, invalidSchedule);
  for (const [bound, read] of [['from', from] as const, ['to', to] as const])
    if (read === undefined) throw invalidSchedule(`${where}: got no ${bound}, expected { from, to }: two instants.`);
  if (from! > to!) {
    const [first, last] = [from!, to!].map((at) => new Date(at).toISOString());
    throw invalidSchedule(`${where}: got from ${first} and to ${last}, expected a from that is not later than to.`);
  }
  return { from: from!, to: to! };
}

/** Throws `InvalidScheduleError`. */
export function readRecurrencesPage(options: RecurrencesOptions | undefined): Required<RecurrencesOptions> {
  const shape = { queue: keyPart, offset: integer(0), limit: integer(1, MOST_LISTED) };
  const read = readOptions<Required<RecurrencesOptions>>(options, shape, 'recurrences', invalidSchedule);
  return { queue: DEFAULT_QUEUE, offset: 0, limit: LISTED_BY_DEFAULT, ...read };
}
