import { setImmediate as nextRound } from 'node:timers/promises';
import type { CallOff, Clock } from '../../lib/core/clock.js';

interface Timer {
  at: number;
  callback(): void;
}

/** A clock that stands still until a test lets time pass. */
export class ManualClock implements Clock {
  private ms = 0;
  private readonly timers = new Set<Timer>();

  /** `startsAt`: the time of day at its beginning, in epoch milliseconds. */
  constructor(private startsAt = Date.UTC(2027, 0, 1, 9)) {}

  now(): number {
    return this.ms;
  }

  wallNow(): number {
    return this.startsAt + this.ms;
  }

  /** Somebody sets the time of day; no time passes. */
  jump(ms: number): void {
    this.startsAt += ms;
  }

  after(ms: number, callback: () => void): CallOff {
    const timer = { at: this.ms + Math.max(0, ms), callback };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }

  soon(callback: () => void): void {
    setImmediate(callback);
  }

  /** When the next timer fires, a time of `now`; infinite where none is set. */
  get nextAt(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.timers].map(({ at }) => at));
  }

  passTo(time: number): void {
    this.pass(time - this.ms);
  }

  /** Lets so many milliseconds pass; the timers of that time fire in their order, each at its own time. */
  pass(ms: number): void {
    const end = this.ms + ms;
    for (let timer = this.first(end); timer; timer = this.first(end)) {
      this.timers.delete(timer);
      this.ms = Math.max(this.ms, timer.at);
      timer.callback();
    }
    this.ms = end;
  }

  /** Time passes while no timer can fire, as when a handler blocks the process. */
  stall(ms: number): void {
    this.ms += ms;
  }

  /** Lets time `pass` once all that is under way has come to rest, and resolves when everything has again. */
  async elapse(ms: number): Promise<void> {
    await rest();
    this.pass(ms);
    await rest();
  }

  private first(until: number): Timer | undefined {
    const due = [...this.timers].filter(({ at }) => at <= until);
    return due.sort((a, b) => a.at - b.at)[0];
  }
}

/** Resolves once nothing follows from anything any more, short of what comes from outside. */
export async function rest(): Promise<void> {
  for (let round = 0; round < 5; round++) await nextRound();
}
