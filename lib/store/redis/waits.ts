import { LONGEST_TIMEOUT_MS } from '../../core/timers.js';

/** Waits of one connection, each of which ends at its time or when all end. */
export class Waits {
  /** Ends one. A set, as there may be thousands. */
  private readonly ends = new Set<() => void>();

  /**
   * Calls `end` at a time of `performance.now()`, or when all end. Answers how to call that off. Never earlier: a timer may ring
   * 2 ms before its time, and a silence that seems too short by that would leave a dead connection in place.
   */
  until(at: number, end: () => void): () => void {
    let timer: NodeJS.Timeout;
    const callOff = () => {
      clearTimeout(timer);
      this.ends.delete(over);
    };
    const over = () => {
      callOff();
      end();
    };
    const ring = () => (performance.now() < at ? wait() : over());
    const wait = () => {
      const ms = Math.ceil(Math.max(at - performance.now(), 0));
      timer = setTimeout(ring, Math.min(ms, LONGEST_TIMEOUT_MS));
    };
    wait();
    this.ends.add(over);
    return callOff;
  }

  endAll(): void {
    for (const end of [...this.ends]) end();
  }
}
