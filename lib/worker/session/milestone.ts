import type { Clock } from '../../core/clock.js';
import { Deadline } from './deadline.js';

/** A point that others wait for. */
export class Milestone {
  private reached: (() => void)[] = [];

  get isAwaited(): boolean {
    return this.reached.length > 0;
  }

  /** Resolves when it is reached from now on, or when `deadline` aborts. */
  wait(deadline?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.reached.push(resolve);
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

  reach(): void {
    if (!this.isAwaited) return;
    const { reached } = this;
    this.reached = [];
    for (const resolve of reached) resolve();
  }
}
