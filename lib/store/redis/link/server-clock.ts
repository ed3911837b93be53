import type { QueueKeys } from '../keys.js';
import { ask } from '../scripts/bound-script.js';
import { clockScript } from '../scripts/contracts.js';
import type { RedisConnection } from './connection.js';

/** Redis' time as last heard, carried on by this process's monotonic clock. No wall clock of a process is ever asked. */
export class ServerClock {
  private offsetMs = Number.NaN;

  constructor(private readonly keys: QueueKeys) {}

  get known(): boolean {
    return !Number.isNaN(this.offsetMs);
  }

  /** Notes what a reply that has just come said. */
  note(serverNowMs: number): void {
    this.offsetMs = serverNowMs - performance.now();
  }

  async learn(connection: RedisConnection, giveUpAt: number): Promise<void> {
    this.note(Number(await ask(connection, clockScript(this.keys), {}, giveUpAt)));
  }

  /** How long from now it is until Redis' time is `serverMs`, in ms and fractions. */
  until(serverMs: number): number {
    return serverMs - this.offsetMs - performance.now();
  }

  /** Redis' time in whole ms at a time of `performance.now()`. */
  at(monotonicMs: number): number {
    return Math.round(monotonicMs + this.offsetMs);
  }
}
