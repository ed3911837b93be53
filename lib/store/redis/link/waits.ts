import { LONGEST_TIMEOUT_MS } from '../../../core/clock.js';
import { type UnorderedItem, UnorderedSet } from '../../../core/unordered-set.js';

interface Wait extends UnorderedItem {
  /** Ends the wait, at its time or before. */
  over(): void;
}

export const NONE_YET = Symbol('no answer yet');

/** The pending timers of one connection. `endAll` ends them all at close. */
export class Waits {
  private readonly waits = new UnorderedSet<Wait>();

  /**
   * Calls `end` at a time of `performance.now()`, or when all waits end. Answers a function that calls it off. Never earlier: a timer
   * may ring 2 ms too soon, a silence would then seem too short, and a dead connection would stay in place.
   */
  until(at: number, end: () => void): () => void {
    let timer: NodeJS.Timeout;
    const callOff = () => {
      clearTimeout(timer);
      this.waits.delete(itself);
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
    const itself: Wait = { index: -1, over };
    this.waits.add(itself);
    return callOff;
  }

  /** Resolves to the answer, or to `NONE_YET` at `by`, a time of `performance.now()`, or when all waits end. */
  answer<T>(answer: Promise<T>, by: number): Promise<T | typeof NONE_YET> {
    return new Promise((resolve, reject) => {
      const stopWaiting = this.until(by, () => resolve(NONE_YET));
      answer.then(
        (value) => {
          stopWaiting();
          resolve(value);
        },
        (error) => {
          stopWaiting();
          reject(error);
        },
      );
    });
  }

  endAll(): void {
    for (const { over } of [...this.waits]) over();
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.until(performance.now() + ms, resolve);
    });
  }
}
