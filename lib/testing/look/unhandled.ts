import { nearest } from '../../core/read/describe.js';
import { ScheduledQueueTestError } from '../errors.js';
import type { JobKind } from './job-kind.js';

/** A job that a handler has. */
export type HandledJob = Required<JobKind>;

/** The error of a call for a job that no handler of the application has: which handler may have been meant. */
export function unhandled(call: string, kind: JobKind, handled: readonly HandledJob[]): ScheduledQueueTestError {
  const { name, queue } = kind;
  const where = queue === undefined ? '' : ` of queue '${queue}'`;
  return new ScheduledQueueTestError(
    `${call}: no handler of this application has job '${name}'${where}. ${handlerMeant(kind, handled)}`,
    { queue, jobName: name },
  );
}

/** A sentence that leads to the handler. */
export function handlerMeant({ name }: JobKind, handled: readonly HandledJob[]): string {
  const queues = handled.filter((job) => job.name === name).map(({ queue }) => `'${queue}'`);
  if (queues.length > 0)
    return `A handler in queue ${queues.join(' and ')} has that name: give the handler, the schedule and this call the same definition, which names the queue.`;
  const near = nearest(
    name,
    handled.map((job) => job.name),
  );
  if (near !== undefined) return `Did you mean '${near}'? A definition in the place of the name cannot be misspelt.`;
  return "Is its provider in the module under test, and is the module's role not 'producer'? A producer runs no handlers.";
}
