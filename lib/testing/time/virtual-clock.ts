import type { CallOff, Clock, TimerOptions } from '../../core/clock.js';

/** When time alone changes something, and what. */
export interface Instant {
  /** Infinite for never. */
  readonly atMs: number;
  /** As a failure tells it: "job 'mail' of queue 'default' became due". */
  because(): string;
}

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
  readonly name: string;
  /** Housekeeping that keeps no process alive: it makes no instant of its own, and is done at the next one. */
  readonly waits: boolean;
}

/** A clock that stands still until it is moved. All is epoch milliseconds, in whole numbers. */
export class VirtualClock implements Clock {
  private ms: number | undefined;
  private readonly timers = new Set<Timer>();
  private readonly watching = new Set<() => void>();
  private order = 0;

  /** The time of this machine, unless `startAt` was called before. */
  private get nowMs(): number {
    this.ms ??= Date.now();
    return this.ms;
  }

  /** False where the clock has started at another instant already. */
  startAt(ms: number): boolean {
    this.ms ??= ms;
    return this.ms === ms;
  }

  now(): number {
    return this.nowMs;
  }

  wallNow(): number {
    return this.nowMs;
  }

  after(ms: number, callback: () => void, { keepsAlive = true, name = 'of the library' }: TimerOptions = {}): CallOff {
    const atMs = Math.ceil(this.nowMs + Math.max(0, ms));
    const timer = { atMs, order: this.order++, callback, name, waits: !keepsAlive };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }

  /** By promises alone: fake timers of a test runner stop them no more than other promises. */
  soon(callback: () => void): void {
    void Promise.resolve().then(callback);
  }

  /** The next timer that makes an instant, and when it rings: infinite where there is none. */
  get next(): Instant {
    let next: Timer | undefined;
    for (const timer of this.timers)
      if (!timer.waits && timer.atMs < (next?.atMs ?? Number.POSITIVE_INFINITY)) next = timer;
    return { atMs: next?.atMs ?? Number.POSITIVE_INFINITY, because: () => `the timer '${next?.name}'` };
  }

  /** Moves the clock; never back. Whoever watches it is told first. */
  moveTo(ms: number): void {
    if (ms <= this.nowMs) return;
    this.ms = ms;
    for (const tell of this.watching) tell();
  }

  /** Calls `listener` at once, and whenever the clock has been moved. Answers how to end that. */
  watch(listener: (now: Date) => void): () => void {
    const tell = () => listener(new Date(this.nowMs));
    tell();
    this.watching.add(tell);
    return () => void this.watching.delete(tell);
  }

  /** Takes out the first timer that is due by now; the caller calls it. */
  takeDue(): (() => void) | undefined {
    let first: Timer | undefined;
    for (const timer of this.timers) {
      if (timer.atMs > this.nowMs) continue;
      if (!first || timer.atMs < first.atMs || (timer.atMs === first.atMs && timer.order < first.order)) first = timer;
    }
    if (!first) return undefined;
    this.timers.delete(first);
    return first.callback;
  }
}
