import { MessageChannel } from 'node:worker_threads';

/** Within so many turns of the event loop everything goes on that waits for promises, immediates and messages alone. */
const TURNS = 3;
/** How long, of real time, a handler may do something else while a sleep of its own is raced. */
const PATIENCE_S = 0.25;

/** A run whose handler has begun to sleep. */
export interface Sleeper {
  readonly isOver: boolean;
  readonly sleepsNow: boolean;
  /** Its handler may wait for something beside its sleeps. */
  readonly mayBeAwake: boolean;
}

/**
 * Resolves once the handler does nothing but sleep: `false` where it goes on after all. `Promise.race` leaves a sleep behind that nobody
 * waits for any more, and no code can see that: so a handler that has raced one gets some real time to go on.
 */
export async function fallsAsleep(run: Sleeper): Promise<boolean> {
  // Unlike other clocks and timers, neither is replaced by the fake timers of test runners.
  const from = process.uptime();
  for (let turn = 1; ; turn++) {
    await nextTurn();
    if (run.isOver || !run.sleepsNow) return false;
    if (turn >= TURNS && !(run.mayBeAwake && process.uptime() - from < PATIENCE_S)) return true;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.once('message', () => {
      port1.close();
      resolve();
    });
    port2.postMessage(null);
  });
}
