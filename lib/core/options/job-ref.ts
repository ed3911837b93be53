import { InvalidScheduleError } from '../errors.js';
import { describe } from '../read/describe.js';
import { type Due, readDue } from '../read/due.js';
import { jobId, keyPart } from '../read/names.js';
import { anything, readOne, readOptions } from '../read/shape.js';
import { DEFAULT_QUEUE } from './queue-options.js';
import type { ScheduleOptions } from './schedule-options.js';

/** How a call names a job: the answer of `schedule`, `definition.ref(id)`, `{ id, queue }`, or a bare id in the default queue. */
export type JobRef = string | { readonly id: string; readonly queue?: string };

/** The new due time of a waiting job. */
export type RescheduleOptions = Pick<ScheduleOptions, 'at' | 'delay'>;

/** Reads which job is meant. Throws `InvalidScheduleError`. */
export function readRef(
  ref: unknown,
  options: { queue?: string } | undefined,
  where: string,
): { id: string; queue: string } {
  const given = typeof ref === 'string' ? { id: ref } : ref;
  if (given === null || typeof given !== 'object' || !('id' in given)) {
    throw new InvalidScheduleError(`${where}: got ${describe(ref)}, expected an id or { id, queue }.`);
  }
  const id = readOne(jobId, given.id, `${where}: id`);
  const refuse = (message: string) => new InvalidScheduleError(message, { jobId: id });
  const { queue } = readOptions(options, { queue: keyPart }, where, refuse);
  return { id, queue: queue ?? readQueue('queue' in given ? given.queue : undefined, where) };
}

/** Reads which queue is meant; none means the default one. Throws `InvalidScheduleError`. */
export function readQueue(queue: unknown, where: string): string {
  return queue === undefined ? DEFAULT_QUEUE : readOne(keyPart, queue, `${where}: queue`);
}

/** Reads a new due time, where one has to be given. Throws `InvalidScheduleError`. */
export function readReschedule(options: unknown, jobId: string): Due {
  const where = `reschedule('${jobId}')`;
  const refuse = (message: string) => new InvalidScheduleError(message, { jobId });
  const given = readOptions(options, { at: anything, delay: anything }, where, refuse);
  if (given.at === undefined && given.delay === undefined)
    throw refuse(`${where}: got neither at nor delay, expected one of them.`);
  const due = readDue(given.at, given.delay);
  if ('problem' in due) throw refuse(`${where}: ${due.problem}.`);
  return due;
}
