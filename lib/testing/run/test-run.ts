import type { CallOff } from '../../core/clock.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { RunningJob } from '../../worker/run/running-job.js';
import type { EndedRun } from '../../worker/run/settlement-builder.js';
import { outcomeOf } from '../look/outcome-of.js';
import type { RunOutcome, TestedRun } from '../look/tested-run.js';
import type { VirtualClock } from '../time/virtual-clock.js';
import type { Fault } from './faults.js';

interface Sleep {
  readonly callOff: CallOff;
  readonly reject: (reason: unknown) => void;
}

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

/**
 * One run under the test kit. It goes on alone until it yields: it has ended, or its handler sleeps. A sleeping one goes on when its
 * time has come, alone again.
 */
export class TestRun {
  /** Once its payload is read; before that it is no run yet. */
  job?: RunningJob;
  /** Who has it, likewise. */
  owner?: RunOwner;
  /** Once the handler has returned. */
  isOver = false;
  /** Its outcome is settled, or is thrown away. */
  isSettled = false;
  /** The run of its second delivery, once that has begun. */
  second?: TestRun;
  /** What the handler returned. */
  returned: unknown;
  readonly told: TestedRun;
  readonly askedAt: number;
  private readonly sleeps = new Set<Sleep>();
  private timeout?: CallOff;
  private yields?: { resolve(): void; reject(error: unknown): void };

  constructor(
    readonly claim: ClaimedJob,
    readonly fault: Fault | undefined,
    /** It is the second delivery of a job that has completed. */
    readonly isSecond: boolean,
    told: Omit<TestedRun, 'outcome'>,
    private readonly clock: VirtualClock,
    /** It goes on after a sleep. */
    private readonly wakes: (run: TestRun) => void,
  ) {
    this.told = { ...told, outcome: 'running' };
    this.askedAt = clock.now();
    Object.assign(claim, { run: this });
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

  /** Its job has gone back: its handler is woken by the error that its signal has. */
  leave(): void {
    for (const { callOff, reject } of this.sleeps) {
      callOff();
      reject(this.job!.signal.reason);
    }
    this.sleeps.clear();
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

  /** The timer of its worker makes no instant, and is done at this one. Time passes only while a handler sleeps. */
  private watchTimeout(): void {
    const timeoutAt = this.job?.timeoutAt ?? Number.POSITIVE_INFINITY;
    if (this.timeout || timeoutAt === Number.POSITIVE_INFINITY) return;
    this.timeout = this.clock.after(timeoutAt - this.clock.now(), () => {}, { name: 'timeoutMs' });
  }
}
