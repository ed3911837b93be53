/** A point that a stop waits for, with limited patience. */
export class Milestone {
  private reached?: () => void;

  get isAwaited(): boolean {
    return this.reached !== undefined;
  }

  /** Resolves when it is reached from now on, or when `patience` aborts. */
  wait(patience: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.reached = resolve;
      if (patience.aborted) resolve();
      else patience.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  reach(): void {
    this.reached?.();
  }
}
