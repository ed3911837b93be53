import { AsyncLocalStorage } from 'node:async_hooks';
import { isThenable } from '../../core/thenable.js';
import { settledIn } from '../../worker/batch/batch-outcomes.js';
import { abortReasons } from '../../worker/run/abort-reasons.js';
import {
  type BatchHandler,
  HandlerRegistry,
  type JobHandler,
  type SingleHandler,
  type TakeOut,
} from '../../worker/run/job-handler.js';
import type { RunningJob } from '../../worker/run/running-job.js';
import { outcomeIn } from '../../worker/run/settlement-builder.js';
import { announceAbort } from './announce-abort.js';
import type { TestCall } from './test-call.js';
import { runOf, type TestRun } from './test-run.js';

/** The call of the handler in which this code stands. */
export const callOfHandler = new AsyncLocalStorage<TestCall>();

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
  if (handler.runBatch) return { ...handler, runBatch: testedBatch(handler) };
  const run: SingleHandler['run'] = (payload, job) => {
    const testRun = runOf((job as RunningJob).claim);
    testRun.told.payload = payload;
    const { fault } = testRun;
    if (fault?.kind === 'fail') throw fault.error;
    return called(
      [testRun],
      () => handler.run(payload, job),
      (returned) => {
        testRun.returned = returned;
      },
    );
  };
  return { ...handler, run };
}

/** Jobs that are to fail are taken out of the call. */
function testedBatch(handler: BatchHandler): BatchHandler['runBatch'] {
  return (payloads, jobs, takeOut) => {
    const left = new Map<unknown, TestRun>();
    const takeOutOfLeft: TakeOut = (job, error) => {
      left.delete(job);
      takeOut(job, error);
    };
    for (const [i, job] of jobs.entries()) {
      const run = runOf((job as RunningJob).claim);
      run.told.payload = payloads[i];
      left.set(job, run);
      if (run.fault?.kind === 'fail') takeOutOfLeft(job, run.fault.error);
    }
    if (left.size === 0) return undefined;
    const isLeft = (_: unknown, i: number) => left.has(jobs[i]);
    const call = () => handler.runBatch(payloads.filter(isLeft), jobs.filter(isLeft), takeOutOfLeft);
    return called([...left.values()], call, (returned) => noteResults([...left.values()], returned));
  };
}

/** Calls a handler for these runs, at least one, with the leases lost that are to be lost. `note` is told what it returns. */
function called(runs: readonly TestRun[], call: () => unknown, note: (returned: unknown) => void): unknown {
  const losing = runs.filter(({ fault }) => fault?.kind === 'lose-lease');
  const returned = callOfHandler.run(runs[0]!.call!, () => underLostLeases(losing, call));
  if (isThenable(returned)) return awaited(returned, note);
  note(returned);
  return returned;
}

/** Calls a handler that has lost the leases of these runs: their signals say so from its first line on. */
function underLostLeases(runs: readonly TestRun[], call: () => unknown): unknown {
  const lost = runs.map((run) => {
    const { signal } = run.job!;
    const reason = abortReasons.leaseLost(run.job!);
    run.throwAway('leaseLost');
    return { run, reason, takeBack: announceAbort(signal, reason) };
  });
  try {
    return call();
  } finally {
    for (const { run, reason, takeBack } of lost) {
      takeBack();
      run.owner!.loseLeaseOf(run, reason);
    }
  }
}

async function awaited(promise: PromiseLike<unknown>, note: (returned: unknown) => void): Promise<unknown> {
  const returned = await promise;
  note(returned);
  return returned;
}

/** Of a call with several jobs only `JobOutcome.each` says what the result of each is. */
function noteResults(runs: readonly TestRun[], returned: unknown): void {
  const said = outcomeIn(returned);
  if (said?.kind !== 'each' || said.results.length !== runs.length) return;
  for (const [i, run] of runs.entries()) {
    const result = said.results[i];
    const settled = settledIn(result);
    run.returned = settled?.status === 'fulfilled' ? settled.value : result;
  }
}
