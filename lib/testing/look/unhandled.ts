import { describeVersions, FIRST_VERSION, type VersionRange } from '../../core/job/job-versions.js';
import type { ScheduleRequest } from '../../core/options/schedule-options.js';
import { nearest } from '../../core/read/describe.js';
import { ScheduledQueueTestError } from '../errors.js';
import { isOfKind, type JobKind } from './job-kind.js';

/** A job that a handler of the application has. */
export interface HandledJob extends Required<JobKind> {
  /** False for a producer, and where the option `runs` leaves out the queue. */
  readonly runsHere: boolean;
}

/** The error of a call for a job that no handler of the application runs: which handler may have been meant. */
export function unhandled(call: string, kind: JobKind, handled: readonly HandledJob[]): ScheduledQueueTestError {
  const { name, queue } = kind;
  return new ScheduledQueueTestError(`${call}: ${whyUnhandled(kind, handled)}`, { queue, jobName: name });
}

/** The error of a call for a job that its handler does not run in this version. */
export function wrongVersion(
  call: string,
  { name, queue, version = FIRST_VERSION }: ScheduleRequest,
  handled: VersionRange,
): ScheduledQueueTestError {
  return new ScheduledQueueTestError(
    `${call}: got job '${name}' in version ${version}, expected one that its handler runs: ${describeVersions(handled)}. A job named by a string has version 1; name it by a definition.`,
    { queue, jobName: name },
  );
}

/** Sentences that say why nothing runs such a job, and that lead to the handler. */
export function whyUnhandled(kind: JobKind, handled: readonly HandledJob[]): string {
  const { name, queue } = kind;
  const left = handled.find((job) => isOfKind(job, kind));
  if (left)
    return `the application leaves job '${name}' of queue '${left.queue}' to other processes: its role is 'producer', or its option runs does not name the queue. To test the handler, lay other options over them: overrideScheduledQueue(builder, { role: undefined, runs: undefined }).`;
  const where = queue === undefined ? '' : ` of queue '${queue}'`;
  return `no handler of this application has job '${name}'${where}. ${handlerMeant(kind, handled)}`;
}

function handlerMeant({ name }: JobKind, handled: readonly HandledJob[]): string {
  const queues = handled.filter((job) => job.name === name).map(({ queue }) => `'${queue}'`);
  if (queues.length > 0)
    return `A handler in queue ${queues.join(' and ')} has that name: give the handler, the schedule and this call the same definition, which names the queue.`;
  const near = nearest(
    name,
    handled.map((job) => job.name),
  );
  if (near !== undefined) return `Did you mean '${near}'? A definition in the place of the name cannot be misspelt.`;
  return 'Is its provider in the module under test?';
}
