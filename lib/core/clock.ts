import { outsideJobs } from './job/current-job.js';

/** Calls a timer off. Does nothing where it has fired. */
export type CallOff = () => void;

export interface TimerOptions {
  /** The name under which an application that keeps a list of its timers finds this one. Without a name nobody sees it. */
  name?: string;
  /** Whether the process stays alive for it. Default `true`. */
  keepsAlive?: boolean;
}

/**
 * Time, as it is given to all that ask for it. No method is called like a global of JavaScript, so that a search finds those who go
 * past the clock.
 */
export interface Clock {
  /** Milliseconds, with fractions, since an instant of the clock's own choice. It never goes back: for durations and deadlines. */
  now(): number;
  /** The time of day in epoch milliseconds. It may jump: for what people or other processes read. */
  wallNow(): number;
  /** Calls `callback` once, `ms` from now or a little later, at once where `ms` is 0 or less. After 24.8 days at the latest. */
  after(ms: number, callback: () => void, options?: TimerOptions): CallOff;
  /** Calls `callback` once all that happens at this moment has happened: what is promised and what has arrived. */
  soon(callback: () => void): void;
}

/** The longest that `setTimeout` takes: beyond it fires at once. */
export const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** The time of this machine. */
export class SystemClock implements Clock {
  now(): number {
    return performance.now();
  }

  wallNow(): number {
    return Date.now();
  }

  after(ms: number, callback: () => void, options?: TimerOptions): CallOff {
    const timer = this.set(ms, callback, options);
    return () => clearTimeout(timer);
  }

  soon(callback: () => void): void {
    setImmediate(outsideJobs, callback);
  }

  protected set(ms: number, callback: () => void, { keepsAlive = true }: TimerOptions = {}): NodeJS.Timeout {
    // Of a time that has just passed, Node 24 would warn in the application's log.
    const timer = setTimeout(outsideJobs, Math.max(0, Math.min(ms, LONGEST_TIMEOUT_MS)), callback);
    return keepsAlive ? timer : timer.unref();
  }
}
