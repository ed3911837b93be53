import type { CallOff } from '../../core/clock.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { RunningJob } from '../../worker/run/running-job.js';
import type { EndedRun } from '../../worker/run/settlement-builder.js';
import { outcomeOf } from '../look/outcome-of.js';
import type { RunOutcome, TestedRun } from '../look/tested-run.js';
import type { VirtualClock } from '../time/virtual-clock.js';
import type { Fault } from './faults.js';
import type { CalledRun, TestCall } from './test-call.js';

/** The runs of a worker under test. */
export interface RunOwner {
  /** Its outcome counts no more, and its place is free. */
  throwAway(run: TestRun, outcome: RunOutcome): void;
  /** Another worker may have its job by now. */
  loseLeaseOf(run: TestRun, reason: Error): void;
}

/** The run of a job that a worker under test has claimed. Its claim carries it: a map would cost more than all else that the kit does. */
export function runOf(claim: ClaimedJob): TestRun {
  return (claim as ClaimedJob & { run: TestRun }).run;
}

/** One run under the test kit: it begins with its call, which follows its claim at once where it waits for no others. */
export class TestRun implements CalledRun {
  /** Once its payload is read; before that it is no run yet. */
  job?: RunningJob;
  /** Who has it, likewise. */
  owner?: RunOwner;
  /** Once it has begun. */
  call?: TestCall;
  fault?: Fault;
  /** Once the handler has returned. */
  isOver = false;
  /** Its outcome is settled, or is thrown away. */
  isSettled = false;
  /** What the handler returned for it. */
  returned: unknown;
  readonly told: TestedRun;
  readonly askedAt: number;
  private timeout?: CallOff;

  constructor(
    readonly claim: ClaimedJob,
    /** It is the second delivery of a job that has completed. */
    readonly isSecond: boolean,
    told: Omit<TestedRun, 'outcome' | 'startedAt'>,
    private readonly clock: VirtualClock,
  ) {
    this.told = { ...told, startedAt: new Date(clock.wallNow()), outcome: 'running' };
    this.askedAt = clock.now();
    Object.assign(claim, { run: this });
  }

  /** Its call begins. */
  begin(fault: Fault | undefined): void {
    this.fault = fault;
    this.told.startedAt = new Date(this.clock.wallNow());
  }

  over(): void {
    this.isOver = true;
    this.told.endedAt = new Date(this.clock.wallNow());
    this.timeout?.();
    this.call?.runIsOver();
  }

  /** Whatever its handler says from now on, this is how it ended. */
  settle(ended: EndedRun): void {
    this.isSettled = true;
    Object.assign(this.told, outcomeOf(ended, this.returned, this.clock.wallNow()));
  }

  /** Its outcome is thrown away. */
  throwAway(outcome: RunOutcome): void {
    this.isSettled = true;
    this.told.outcome = outcome;
  }

  hangs(): void {
    this.owner?.throwAway(this, 'running');
  }

  /** The timer of its worker makes no instant, and is done at this one. Time passes only while a handler sleeps. */
  watchTimeout(): void {
    const timeoutAt = this.job?.timeoutAt ?? Number.POSITIVE_INFINITY;
    if (this.timeout || this.isOver || timeoutAt === Number.POSITIVE_INFINITY) return;
    this.timeout = this.clock.after(timeoutAt - this.clock.now(), () => {}, { name: 'timeoutMs' });
  }
}
