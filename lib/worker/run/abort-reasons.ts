import { JobCancelledError, JobTimeoutError, LeaseLostError, QueueClosedError } from '../../core/errors.js';
import type { RunningJob } from './running-job.js';

/** Why the signal of a run aborts: what its handler sees as `signal.reason`. */
export const abortReasons = {
  timeout: (run: RunningJob) =>
    withoutPlaces(
      new JobTimeoutError(
        `The run took longer than its timeoutMs of ${run.timeoutMs} ms, so the attempt has failed. Raise timeoutMs, or end the work when job.signal aborts.`,
        about(run),
      ),
    ),
  cancelled: (run: RunningJob) =>
    new JobCancelledError(`Job '${run.name}' (${run.id}) was cancelled while it ran.`, about(run)),
  leaseLost: (run: RunningJob) =>
    new LeaseLostError(
      `The lease of job '${run.name}' (${run.id}) was lost; another worker may run it. Look for a blocked event loop, or raise leaseMs.`,
      about(run),
    ),
  closing: (run: RunningJob) =>
    new QueueClosedError(`The queue '${run.queue}' is closing; the job goes back.`, about(run)),
};

/** The places of its stack would all be this library's: the handler has thrown nothing. */
function withoutPlaces<T extends Error>(error: T): T {
  error.stack = `${error.name}: ${error.message}`;
  return error;
}

function about(run: RunningJob) {
  return { queue: run.queue, jobName: run.name, jobId: run.id };
}
