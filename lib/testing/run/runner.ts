import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventSink } from '../../core/job/events.js';
import type { Codecs } from '../../core/payload/codecs.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import { isReadable } from '../../store/envelope.js';
import type { ClaimedJob } from '../../store/job-store.js';
import { abortReasons } from '../../worker/run/abort-reasons.js';
import { ClaimOpener } from '../../worker/run/claim-opener.js';
import type { JobHandler } from '../../worker/run/job-handler.js';
import { Processor, type RunHolder } from '../../worker/run/processor.js';
import type { ProgressKeeper } from '../../worker/run/progress-keeper.js';
import type { LeaseKeeper, RunningJob } from '../../worker/run/running-job.js';
import type { EndedRun, Settler } from '../../worker/run/settler.js';
import type { RunLog } from '../look/run-log.js';
import type { VirtualClock } from '../time/virtual-clock.js';
import type { Faults } from './faults.js';
import { announceAbort } from './lost-lease.js';
import { type RunOwner, TestRun } from './test-run.js';

/** The run of the handler in which this code stands. */
export const runOfHandler = new AsyncLocalStorage<TestRun>();

export interface RunnerParts {
  readonly queue: string;
  readonly handlers: ReadonlyMap<string, JobHandler>;
  readonly settler: Settler;
  readonly codecs: Codecs;
  readonly checker: PayloadChecker;
  readonly events: EventSink;
  readonly progress: ProgressKeeper;
  readonly clock: VirtualClock;
  readonly faults: Faults;
  readonly log: RunLog;
  /** A run goes on after a sleep. */
  readonly wakes: (run: TestRun) => void;
}

/** The test worker renews and loses leases: the parts that run a handler need not watch the time. */
const LEASES: LeaseKeeper = { renewal: () => undefined, heldUntil: () => Number.POSITIVE_INFINITY };

/** Runs claimed jobs by the parts of a real worker, with the faults that a test has ordered. */
export class Runner {
  private readonly processor: Processor;

  constructor(private readonly parts: RunnerParts) {
    const { queue, handlers, settler, codecs, checker, events, progress, clock } = parts;
    const context = { queue, leases: LEASES, events, progress, clock };
    const wrapped = new Map([...handlers].map(([name, handler]) => [name, this.wrap(handler)]));
    const opener = new ClaimOpener(context, wrapped, codecs, settler);
    this.processor = new Processor(context, wrapped, opener, codecs, checker, settler);
  }

  /** Begins a run: it has ended, or goes on until it yields. */
  start(claim: ClaimedJob, owner: RunOwner, runsAlone: boolean, isSecond = false): TestRun {
    const { queue, clock, faults, log, wakes } = this.parts;
    const { envelope } = claim;
    const name = isReadable(envelope) ? envelope.name : '';
    const told = {
      name,
      id: claim.id,
      queue,
      payload: undefined,
      attempt: claim.attempt,
      dueAt: new Date(claim.dueAtMs),
      startedAt: new Date(clock.wallNow()),
    };
    const fault = isSecond ? undefined : faults.take({ name, queue });
    const run = new TestRun(claim, owner, fault, runsAlone, told, clock, wakes);
    run.isSecond = isSecond;
    owner.runs.add(run);
    log.add(run.told);
    runOfHandler.run(run, () => this.processor.start(claim, clock.now(), this.holder(run, owner)));
    return run;
  }

  private holder(run: TestRun, owner: RunOwner): RunHolder {
    return {
      begin: (job) => {
        run.job = job;
      },
      end: (ended) => {
        this.ended(run, owner, ended);
        owner.runs.delete(run);
        run.over();
      },
      drop: () => {
        if (!run.isSettled) owner.release(run);
        owner.runs.delete(run);
        run.over();
      },
    };
  }

  private ended(run: TestRun, owner: RunOwner, ended: EndedRun): void {
    const { faults } = this.parts;
    if (run.isSettled || run.job?.abandoned) return;
    if (run.fault?.kind === 'crash') {
      run.throwAway('crashed');
      return;
    }
    const isToRepeat = faults.deliversTwice && !run.isSecond && ended.settlement.transition === 'complete';
    if (!isToRepeat) {
      owner.end(run, ended);
      return;
    }
    run.settle(ended);
    run.repeats = () => this.repeat(run);
  }

  private repeat(run: TestRun): TestRun | undefined {
    run.repeats = undefined;
    const claim = run.owner.claimAgain(run.claim);
    if (claim) run.second = this.start(claim, run.owner, run.runsAlone, true);
    return run.second;
  }

  /** The handler as the processor calls it. */
  private wrap(handler: JobHandler): JobHandler {
    return {
      queue: handler.queue,
      name: handler.name,
      place: handler.place,
      settings: handler.settings,
      payload: handler.payload,
      run: (payload, job) => {
        const run = runOfHandler.getStore()!;
        run.told.payload = payload;
        if (run.fault?.kind === 'fail') throw run.fault.error;
        const isLost = run.fault?.kind === 'lose-lease';
        return remembered(run, isLost ? underLostLease(run, handler, job as RunningJob) : handler.run(payload, job));
      },
    };
  }
}

/** What the handler does is what it does once its lease is lost: its signal says so from its first line on. */
function underLostLease(run: TestRun, handler: JobHandler, job: RunningJob): unknown {
  const reason = abortReasons.leaseLost(job);
  const takeBack = announceAbort(job.signal, reason);
  run.throwAway('leaseLost');
  try {
    return handler.run(job.payload, job);
  } finally {
    takeBack();
    run.owner.loseLease(run, reason);
  }
}

async function awaited(run: TestRun, promise: unknown): Promise<unknown> {
  run.returned = await promise;
  return run.returned;
}

function remembered(run: TestRun, returned: unknown): unknown {
  const isPromise = typeof (returned as PromiseLike<unknown> | undefined)?.then === 'function';
  if (isPromise) return awaited(run, returned);
  run.returned = returned;
  return returned;
}
