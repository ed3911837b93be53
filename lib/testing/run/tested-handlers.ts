import { AsyncLocalStorage } from 'node:async_hooks';
import { isThenable } from '../../core/thenable.js';
import { abortReasons } from '../../worker/run/abort-reasons.js';
import { HandlerRegistry, type JobHandler, type SingleHandler } from '../../worker/run/job-handler.js';
import type { RunningJob } from '../../worker/run/running-job.js';
import { announceAbort } from './lost-lease.js';
import { runOf, type TestRun } from './test-run.js';

/** The run of the handler in which this code stands. */
export const runOfHandler = new AsyncLocalStorage<TestRun>();

/** The handlers of an application under test: each is called with the fault that a test has ordered for its run. */
export class TestedHandlers extends HandlerRegistry {
  constructor(private readonly registry: HandlerRegistry) {
    super();
  }

  override queueNames(): string[] {
    return this.registry.queueNames();
  }

  override handlersOf(queue: string): ReadonlyMap<string, JobHandler> {
    return new Map([...this.registry.handlersOf(queue)].map(([name, handler]) => [name, tested(handler)]));
  }
}

function tested(handler: JobHandler): JobHandler {
  if (handler.runBatch) return handler;
  const { queue, name, place, settings, payload } = handler;
  const run: SingleHandler['run'] = (given, job) => {
    const testRun = runOf((job as RunningJob).claim);
    testRun.told.payload = given;
    const { fault } = testRun;
    if (fault?.kind === 'fail') throw fault.error;
    const call = () => handler.run(given, job);
    const returned = runOfHandler.run(
      testRun,
      fault?.kind === 'lose-lease' ? () => underLostLease(testRun, call) : call,
    );
    if (isThenable(returned)) return awaited(testRun, returned);
    testRun.returned = returned;
    return returned;
  };
  return { queue, name, place, settings, payload, run };
}

/** What the handler does is what it does once its lease is lost: its signal says so from its first line on. */
function underLostLease(run: TestRun, call: () => unknown): unknown {
  const job = run.job!;
  const reason = abortReasons.leaseLost(job);
  const takeBack = announceAbort(job.signal, reason);
  run.throwAway('leaseLost');
  try {
    return call();
  } finally {
    takeBack();
    run.owner!.loseLeaseOf(run, reason);
  }
}

async function awaited(run: TestRun, promise: PromiseLike<unknown>): Promise<unknown> {
  run.returned = await promise;
  return run.returned;
}
