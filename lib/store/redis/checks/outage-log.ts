import type { Log } from '../../../core/log.js';
import { firstLine } from '../link/call-error.js';

/** Answers that no time mends. */
const MISTAKEN =
  /\b(WRONGPASS|NOAUTH|NOPERM|ERR DB index|ERR SELECT|ERR AUTH|ERR invalid password|ERR Client sent AUTH)/;

/** Tells once that Redis is gone and once that it is back, however many connections see it. */
export class OutageLog {
  private readonly down = new Set<object>();
  private since = 0;
  private isDeaf = false;

  constructor(private readonly log: Log) {}

  lost(connection: object, reason: string): void {
    if (this.down.size === 0) {
      this.since = performance.now();
      const advice = MISTAKEN.test(reason) ? 'correct user, password and database in the option connection; ' : '';
      this.log.warn(`Redis cannot be reached (${firstLine(reason)}); ${advice}trying again until it is back.`);
    }
    this.down.add(connection);
  }

  found(connection: object): void {
    if (!this.down.delete(connection) || this.down.size > 0) return;
    this.log.log(`Redis is back after ${Math.round(performance.now() - this.since)} ms.`);
  }

  /** Redis refuses the messages that wake workers; `reason` is its answer. Told once, until they are heard. */
  deaf(reason: string): void {
    if (this.isDeaf) return;
    this.isDeaf = true;
    this.log.error(
      `Redis refuses the messages that wake workers, so jobs begin up to maxSleepMs late (${firstLine(reason)}): ACL SETUSER … +subscribe &<prefix>:{*`,
    );
  }

  hearing(): void {
    this.isDeaf = false;
  }

  /** A connection that was closed on purpose is neither lost nor found. */
  forget(connection: object): void {
    this.down.delete(connection);
  }
}
