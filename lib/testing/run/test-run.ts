import type { CallOff } from '../../core/clock.js';
import type { ClaimedJob } from '../../store/job-store.js';
import { abortReasons } from '../../worker/run/abort-reasons.js';
import type { RunningJob } from '../../worker/run/running-job.js';
import type { EndedRun } from '../../worker/run/settler.js';
import { outcomeOf } from '../look/outcome-of.js';
import type { RunOutcome, TestedRun } from '../look/tested-run.js';
import type { VirtualClock } from '../time/virtual-clock.js';
import type { Fault } from './faults.js';

interface Sleep {
  readonly callOff: CallOff;
  readonly reject: (reason: unknown) => void;
}

/** Whoever is told what becomes of a run: a worker, or the one who wanted a single run. */
export interface RunOwner {
  /** Those whose handlers have not returned. */
  readonly runs: Set<TestRun>;
  end(run: TestRun, ended: EndedRun): void;
  /** The job goes back with no attempt used. */
  release(run: TestRun): void;
  timeOut(run: TestRun): void;
  /** Another worker may have its job by now. */
  loseLease(run: TestRun, reason?: Error): void;
  /** The claim for a second delivery; `undefined` where the job is no longer held. */
  claimAgain(claim: ClaimedJob): ClaimedJob | undefined;
}

/**
 * One run under the test kit. It goes on alone until it yields: it has ended, or its handler sleeps. A sleeping one goes on when its
 * time has come, alone again.
 */
export class TestRun {
  /** Once its payload is read; before that it is no run yet. */
  job?: RunningJob;
  /** Once the handler has returned. */
  isOver = false;
  /** Its outcome is settled, or is thrown away. */
  isSettled = false;
  /** It is the second delivery of a job that has completed. */
  isSecond = false;
  /** It has completed, and is to be delivered once more: begins that run. */
  repeats?: () => TestRun | undefined;
  /** The run of its second delivery, once that has begun. */
  second?: TestRun;
  /** What the handler returned. */
  returned: unknown;
  readonly told: TestedRun;
  private readonly sleeps = new Set<Sleep>();
  private timeout?: CallOff;
  private yields?: { resolve(): void; reject(error: unknown): void };

  constructor(
    readonly claim: ClaimedJob,
    readonly owner: RunOwner,
    readonly fault: Fault | undefined,
    /** It has one crash left. */
    readonly runsAlone: boolean,
    told: Omit<TestedRun, 'outcome'>,
    private readonly clock: VirtualClock,
    /** It goes on after a sleep. */
    private readonly wakes: (run: TestRun) => void,
  ) {
    this.told = { ...told, outcome: 'running' };
  }

  get sleepsNow(): boolean {
    return this.sleeps.size > 0;
  }

  /** Resolves when it has ended or sleeps. */
  yielded(): Promise<void> | undefined {
    if (this.isOver) return undefined;
    return new Promise((resolve, reject) => {
      this.yields = { resolve, reject };
    });
  }

  /** Whoever waits for it waits no longer. */
  giveUp(error: unknown): void {
    this.yields?.reject(error);
  }

  over(): void {
    this.isOver = true;
    this.told.endedAt = new Date(this.clock.wallNow());
    this.timeout?.();
    this.yields?.resolve();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        sleep.callOff();
        this.sleeps.delete(sleep);
        this.wakes(this);
        settle();
      };
      const aborted = () => end(() => reject(signal?.reason));
      const callOffTimer = this.clock.after(ms, () => end(resolve));
      const callOff = () => {
        callOffTimer();
        signal?.removeEventListener('abort', aborted);
      };
      const sleep: Sleep = { callOff, reject };
      signal?.addEventListener('abort', aborted);
      this.sleeps.add(sleep);
      this.watchTimeout();
      this.yields?.resolve();
    });
  }

  /** It goes back while its handler sleeps: the handler is woken by the error that its signal has. */
  leave(): void {
    const { job } = this;
    if (!job || this.isOver) return;
    if (!job.abandoned) job.abandon(abortReasons.closing(job));
    this.timeout?.();
    for (const { callOff, reject } of this.sleeps) {
      callOff();
      reject(job.signal.reason);
    }
    this.sleeps.clear();
  }

  /** Whatever its handler says from now on, this is how it ended. */
  settle(ended: EndedRun): void {
    this.isSettled = true;
    this.describe(ended);
  }

  describe(ended: EndedRun): void {
    Object.assign(this.told, outcomeOf(ended, this.returned, this.clock.wallNow()));
  }

  /** Its outcome is thrown away. */
  throwAway(outcome: RunOutcome): void {
    this.isSettled = true;
    this.told.outcome = outcome;
  }

  /** Its lease is over: its signal aborts, and its result is dropped. */
  loseLease(reason: Error = abortReasons.leaseLost(this.job!)): void {
    this.throwAway('leaseLost');
    this.job!.abandon(reason);
  }

  /** Time passes only while it sleeps, so no timer is needed before. */
  private watchTimeout(): void {
    const timeoutAt = this.job?.timeoutAt ?? Number.POSITIVE_INFINITY;
    if (this.timeout || timeoutAt === Number.POSITIVE_INFINITY) return;
    this.timeout = this.clock.after(timeoutAt - this.clock.now(), () => this.owner.timeOut(this));
  }
}
