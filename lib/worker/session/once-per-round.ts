import type { Clock } from '../../core/clock.js';

/** Calls back once all that happens at this moment has happened, however often it was asked to. */
export class OncePerRound {
  private asked = false;

  constructor(
    private readonly clock: Clock,
    private readonly callback: () => void,
  ) {}

  get isAsked(): boolean {
    return this.asked;
  }

  ask(): void {
    if (this.asked) return;
    this.asked = true;
    this.clock.soon(() => {
      this.asked = false;
      this.callback();
    });
  }
}
