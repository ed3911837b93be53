import { InvalidBatchResultError } from '../../core/errors.js';
import { JobOutcome } from '../../core/job/outcome.js';
import { isThenable } from '../../core/thenable.js';
import type { BatchHandler } from '../run/job-handler.js';
import type { RunningJob } from '../run/running-job.js';
import { type EndedRun, isError, outcomeIn, type SettlementBuilder } from '../run/settlement-builder.js';

/** How each job of a call ends, by what the method returned or threw. Never throws. */
export class BatchOutcomes {
  constructor(private readonly builder: SettlementBuilder) {}

  /** The method returned. A value that is no outcome completes all jobs and is the result of none: nobody can tell to which it belongs. */
  returned(runs: readonly RunningJob[], value: unknown, handler: BatchHandler): EndedRun[] {
    const said = outcomeIn(value);
    if (said?.kind === 'each') {
      const { results } = said;
      if (results.length !== runs.length) return this.threw(runs, otherLength(runs, results, handler));
      return runs.map((run, i) => this.one(run, results[i]));
    }
    if (said) return runs.map((run) => this.builder.completed(run, said));
    const ended = runs.map((run) => this.builder.completed(run, undefined));
    const returnedError = errorAmong(value);
    // The first job speaks for all: the log tells a returned error once for each name.
    if (ended[0] && returnedError) ended[0] = { ...ended[0], run: runs[0], returnedError };
    return ended;
  }

  /** The method threw: the attempt of each job has failed. */
  threw(runs: readonly RunningJob[], error: unknown): EndedRun[] {
    const call = runs.length > 1 && runs[0]!.call;
    if (call) call.failure = { jobs: runs.length };
    return runs.map((run) => this.builder.thrown(run, error));
  }

  /** The job ends as if the handler had returned or thrown this result for it alone. */
  private one(run: RunningJob, result: unknown): EndedRun {
    const settled = settledIn(result);
    if (settled?.status === 'rejected') return this.builder.thrown(run, settled.reason);
    const value = settled ? settled.value : result;
    return isError(value) ? this.builder.thrown(run, value) : this.builder.completed(run, value);
  }
}

function otherLength(runs: readonly RunningJob[], results: readonly unknown[], { queue, name, place }: BatchHandler) {
  const [expected, got] = [runs.length, results.length];
  return new InvalidBatchResultError(
    `${place}: got JobOutcome.each with ${got} results, expected ${expected}, one for each job of the call, in their order.`,
    { expected, got },
    { queue, jobName: name },
  );
}

/**
 * What a call answered, once the promises among the results of its `JobOutcome.each` have settled: a promise that is returned for one job
 * is awaited as well. `undefined` where there are none.
 */
export function awaited(value: unknown): Promise<JobOutcome> | undefined {
  const said = outcomeIn(value);
  if (said?.kind !== 'each' || !said.results.some(isPromise)) return undefined;
  const settle = async (result: unknown) => (await Promise.allSettled([result]))[0];
  return Promise.all(said.results.map((result) => (isPromise(result) ? settle(result) : result))).then(JobOutcome.each);
}

function isPromise(result: unknown): boolean {
  try {
    return isThenable(result);
  } catch {
    return false;
  }
}

/** A returned error, or the first in a list of results that was not given to `JobOutcome.each`. */
function errorAmong(returned: unknown): Error | undefined {
  try {
    for (const result of Array.isArray(returned) ? returned : [returned]) {
      const settled = settledIn(result);
      const error = settled?.status === 'rejected' ? settled.reason : result;
      if (isError(error)) return error;
    }
  } catch {
    // What cannot be looked into is a value like any other.
  }
  return undefined;
}

/** What `Promise.allSettled` makes of a promise, read once: a getter may throw. What cannot be looked into is a value like any other. */
export function settledIn(result: unknown): PromiseSettledResult<unknown> | undefined {
  try {
    if (typeof result !== 'object' || result === null) return undefined;
    const { status } = result as { status?: unknown };
    if (status === 'fulfilled' && 'value' in result) return { status, value: result.value };
    return status === 'rejected' && 'reason' in result ? { status, reason: result.reason } : undefined;
  } catch {
    return undefined;
  }
}
