import type { Clock } from '../../core/clock.js';

/** Calls back once all that happens at this moment has happened, however often it was asked to. */
export class OncePerRound {
  isAsked = false;

  constructor(
    private readonly clock: Clock,
    private readonly callback: () => void,
  ) {}

  ask(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    this.clock.soon(() => {
      this.isAsked = false;
      this.callback();
    });
  }
}
