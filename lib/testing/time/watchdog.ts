import { clearInterval as realClearInterval, setInterval as realSetInterval } from 'node:timers';

// Bound when this file is loaded, and from the module rather than from the globals that a test runner replaces.
const [start, stop] = [realSetInterval, realClearInterval];

const LOOK_EVERY_MS = 250;
/** How long a handler may take of real time, looked at so often. */
const PATIENCE_MS = 5_000;
/** By then a warning is out: the test runners themselves give a test up after 5 s, and nothing is heard of its error any more. */
const WARN_BY_MS = 4_000;

export interface Alarms {
  /** Nothing has changed for nearly 4 s. */
  slow(): void;
  /** Nothing has changed for 5 s. */
  hangs(): void;
}

/** Sees by real time that something goes on. It counts looks: the time of day may be a fake one, and a debugger may stop it all. */
export class Watchdog {
  private timer?: NodeJS.Timeout;
  private looks = 0;
  private seen: unknown;

  /** Sounds the alarms where `what()` answers the same for so long of real time; `undefined` does not count. */
  watch(what: () => unknown, alarms: Alarms): void {
    this.looks = 0;
    this.timer = start(() => {
      const now = what();
      this.looks = now !== undefined && now === this.seen ? this.looks + 1 : 0;
      this.seen = now;
      // The first look came up to one interval after the change.
      if (this.looks === WARN_BY_MS / LOOK_EVERY_MS - 1) alarms.slow();
      if (this.looks < PATIENCE_MS / LOOK_EVERY_MS) return;
      this.looks = 0;
      alarms.hangs();
    }, LOOK_EVERY_MS);
  }

  /** Leaves no open handle. */
  rest(): void {
    stop(this.timer);
    this.timer = undefined;
    this.seen = undefined;
  }
}
