const LOOK_EVERY_MS = 1_000;
/** A look that comes later than this was held up. */
const LATEST_LOOK_MS = 2 * LOOK_EVERY_MS;

/**
 * Tells for how long this process has run without standing still, as it does while it is stopped by a signal, while its machine sleeps, and
 * while its event loop is blocked: nobody could be heard then, so a silence of that time says nothing.
 */
export class Standstill {
  private timer?: NodeJS.Timeout;
  private hasEnded = false;
  private lookedAt = performance.now();
  private ranSince = this.lookedAt;

  /** Looks from now on, by a timer that keeps no process alive. After the end it does nothing: nobody would end the timer again. */
  watch(): void {
    if (this.timer || this.hasEnded) return;
    this.lookedAt = performance.now();
    this.ranSince = this.lookedAt;
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** Counted from `watch` at most. */
  get ranForMs(): number {
    this.look();
    return this.lookedAt - this.ranSince;
  }

  end(): void {
    this.hasEnded = true;
    clearInterval(this.timer);
  }

  private look(): void {
    const now = performance.now();
    if (now - this.lookedAt > LATEST_LOOK_MS) this.ranSince = now;
    this.lookedAt = now;
  }
}
