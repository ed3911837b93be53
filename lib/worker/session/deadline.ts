import type { CallOff, Clock } from '../../core/clock.js';

/** Until when a stop waits. Its `signal` aborts then. */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly callOff: CallOff;

  constructor(clock: Clock, ms: number) {
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
