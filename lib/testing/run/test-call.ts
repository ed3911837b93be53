import type { CallOff } from '../../core/clock.js';
import type { TestedRun } from '../look/tested-run.js';
import type { VirtualClock } from '../time/virtual-clock.js';

interface Sleep {
  readonly callOff: CallOff;
  readonly reject: (reason: unknown) => void;
}

/** A run, as its call sees it. */
export interface CalledRun {
  readonly told: TestedRun;
  readonly isOver: boolean;
  call?: TestCall;
  /** Its handler sleeps: the end of its time is an instant from now on. */
  watchTimeout(): void;
  /** Its handler has not returned for too long. */
  hangs(): void;
}

/**
 * One call of a handler under the test kit, with one run, or with those of a batch. It goes on alone until it yields: it is over, or its
 * handler sleeps. A sleeping one goes on when its time has come, alone again.
 */
export class TestCall {
  /** The call of the second delivery, once that has begun. Jobs of a batch are delivered again as any others. */
  second?: TestCall;
  private readonly sleeps = new Set<Sleep>();
  private yields?: { resolve(): void; reject(error: unknown): void };

  constructor(
    /** At least one. */
    readonly runs: readonly CalledRun[],
    private readonly clock: VirtualClock,
    /** Told when the call goes on after a sleep. */
    private readonly wakes: (call: TestCall) => void,
  ) {
    for (const run of runs) run.call = this;
  }

  /** True once all of its runs are over. */
  get isOver(): boolean {
    return this.runs.every(({ isOver }) => isOver);
  }

  get sleepsNow(): boolean {
    return this.sleeps.size > 0;
  }

  /** Resolves when it is over or sleeps. */
  yielded(): Promise<void> | undefined {
    if (this.isOver) return undefined;
    return new Promise((resolve, reject) => {
      this.yields = { resolve, reject };
    });
  }

  /** One of its runs is over. */
  runIsOver(): void {
    if (this.isOver) this.yields?.resolve();
  }

  /** Nobody waits for the call or its runs any more: whoever did gets this error. */
  giveUp(error: unknown): void {
    for (const run of this.runs) run.hangs();
    this.yields?.reject(error);
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
      for (const run of this.runs) run.watchTimeout();
      this.yields?.resolve();
    });
  }

  /** Its jobs have gone back: its handler is woken by this error. */
  leave(reason: unknown): void {
    for (const { callOff, reject } of this.sleeps) {
      callOff();
      reject(reason);
    }
    this.sleeps.clear();
  }
}
