/** Timers by name, so that whoever looks after an application's timers can see these. */
export interface Timers {
  /** Calls `callback` once after `ms`; a timer of that name that is set already is replaced. */
  set(name: string, callback: () => void, ms: number): unknown;
  clear(name: string): void;
}

/** The longest that `setTimeout` takes: beyond it fires at once. */
export const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export class NodeTimers implements Timers {
  private readonly timers = new Map<string, NodeJS.Timeout>();

  set(name: string, callback: () => void, ms: number): NodeJS.Timeout {
    clearTimeout(this.timers.get(name));
    const timer = setTimeout(callback, Math.min(ms, LONGEST_TIMEOUT_MS));
    this.timers.set(name, timer);
    return timer;
  }

  clear(name: string): void {
    clearTimeout(this.timers.get(name));
    this.timers.delete(name);
  }
}
