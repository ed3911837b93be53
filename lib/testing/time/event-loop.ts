import { performance } from 'node:perf_hooks';
import { MessageChannel } from 'node:worker_threads';

/** Of the module, where no test runner replaces it: with a fake one no real time would ever pass. */
const realNow = performance.now.bind(performance);

/** How long a call may work by promises alone, in which no timer rings and nothing is read. */
const LONGEST_WITHOUT_A_TURN_MS = 100;

/** Promises settle in rounds; a call of the library, validation included, takes fewer. */
const ROUNDS_OF_PROMISES = 60;

/** Resolves once promises that follow from each other have settled. */
export async function settled(): Promise<void> {
  for (let round = 0; round < ROUNDS_OF_PROMISES; round++) await undefined;
}

/** One turn of the event loop. Fake timers of a test runner replace no `MessageChannel`. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.once('message', () => {
      port1.close();
      resolve();
    });
    port2.postMessage(null);
  });
}

/** Lets the timers and the I/O of the process have their turn while a call goes on: else the timeout of the test runner could not fire. */
export class EventLoop {
  private turnedAtMs = realNow();

  /** Call it where the event loop has just turned, or may be taken to have turned. */
  hasTurned(): void {
    this.turnedAtMs = realNow();
  }

  /** Call it at each step; it waits for a turn where the last one is long ago. */
  async turnNowAndThen(): Promise<void> {
    if (realNow() - this.turnedAtMs < LONGEST_WITHOUT_A_TURN_MS) return;
    await nextTurn();
    this.hasTurned();
  }
}
