import type { CallOff, Clock, TimerOptions } from '../../core/clock.js';
import { settled } from './event-loop.js';
import type { VirtualClock } from './virtual-clock.js';

/**
 * Virtual time for workers. Their timers make no instants: a worker sets one for earlier than needed rather than anew with each turn, and
 * the conductor knows itself when time changes something.
 */
export class WorkersClock implements Clock {
  /** The workers stop, and nobody moves time for them: what they wait for comes as soon as promises have settled. */
  standsStill = false;

  constructor(private readonly clock: VirtualClock) {}

  now(): number {
    return this.clock.now();
  }

  wallNow(): number {
    return this.clock.wallNow();
  }

  after(ms: number, callback: () => void, options?: TimerOptions): CallOff {
    if (!this.standsStill) return this.clock.after(ms, callback, { ...options, keepsAlive: false });
    let isCalledOff = false;
    void settled().then(() => isCalledOff || callback());
    return () => {
      isCalledOff = true;
    };
  }

  soon(callback: () => void): void {
    this.clock.soon(callback);
  }
}
