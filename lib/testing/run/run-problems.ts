import { ScheduledQueueTestError } from '../errors.js';
import type { TestRun } from './test-run.js';

export function titleOf({ told: { name, id, queue } }: TestRun, the = 'the'): string {
  return `${the} handler of job '${name}' (${id}) of queue '${queue}'`;
}

/** The error of a test that cannot go on because of this run. */
export function failure({ told: { name, id, queue } }: TestRun, message: string): ScheduledQueueTestError {
  return new ScheduledQueueTestError(message, { queue, jobName: name, jobId: id });
}
