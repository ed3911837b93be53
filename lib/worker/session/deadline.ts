import { setMaxListeners } from 'node:events';
import type { CallOff, Clock } from '../../core/clock.js';

/** Until when a stop waits. Its `signal` aborts then. */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly callOff: CallOff;

  constructor(clock: Clock, ms: number) {
    // Each queue of the process listens, and of more than ten listeners Node warns as of a leak.
    setMaxListeners(Number.POSITIVE_INFINITY, this.controller.signal);
    this.callOff = clock.after(ms, () => this.controller.abort());
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Brings it forward to now. */
  passNow(): void {
    this.callOff();
    this.controller.abort();
  }

  /** Nobody waits for it any more. */
  clear(): void {
    this.callOff();
  }
}
