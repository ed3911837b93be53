import { nextTurn } from '../time/event-loop.js';

/** Within so many turns of the event loop everything goes on that waits for promises, immediates and messages alone. */
const TURNS = 3;

/** A run whose handler has begun to sleep. */
export interface Sleeper {
  readonly isOver: boolean;
  readonly sleepsNow: boolean;
}

/**
 * Resolves to true once the handler does nothing but sleep, to false if it goes on. A sleep that lost a `Promise.race` looks like a sleeping
 * handler, so the handler has three turns of the event loop to go on before it counts as asleep.
 */
export async function fallsAsleep(run: Sleeper): Promise<boolean> {
  for (let turn = 0; turn < TURNS; turn++) {
    await nextTurn();
    if (run.isOver || !run.sleepsNow) return false;
  }
  return true;
}
