import { nextTurn } from '../time/event-loop.js';

/** Within so many turns of the event loop everything goes on that waits for promises, immediates and messages alone. */
const TURNS = 3;

/** A run whose handler has begun to sleep. */
export interface Sleeper {
  readonly isOver: boolean;
  readonly sleepsNow: boolean;
}

/**
 * Resolves once the handler does nothing but sleep: `false` where it goes on after all. `Promise.race` leaves a sleep behind that nobody
 * waits for any more, and no code can see that: so what needs no I/O has time to go on.
 */
export async function fallsAsleep(run: Sleeper): Promise<boolean> {
  for (let turn = 0; turn < TURNS; turn++) {
    await nextTurn();
    if (run.isOver || !run.sleepsNow) return false;
  }
  return true;
}
