import type { Clock } from '../../core/clock.js';
import { Deadline } from './deadline.js';

/** Fires as often as it is told to, and each time for those that wait then. */
export class Signal {
  private waiting: (() => void)[] = [];

  /** Resolves when it fires from now on, or when `deadline` aborts. */
  wait(deadline?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (deadline?.aborted) resolve();
      else deadline?.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** The same with a deadline `ms` from now. */
  async waitFor(ms: number, clock: Clock): Promise<void> {
    const deadline = new Deadline(clock, ms);
    await this.wait(deadline.signal);
    deadline.clear();
  }

  fire(): void {
    if (this.waiting.length === 0) return;
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
