import type { RateRule } from '../../../core/options/queue-options.js';
import type { LimitsUse } from '../../job-store.js';
import type { QueueKeys } from '../keys.js';
import type { RedisConnection } from '../link/connection.js';
import type { SlotPool } from './slot-pool.js';

/** What the scripts say for a pause without an end. */
const ENDLESS = 'inf';

/** A rate's window is taken this much longer than said, as the way from a claim to its handler is not always equally long. */
const LONGER_BY = 0.02;
const LONGER_AT_MOST_MS = 50;

/** What keeps the due jobs of one queue from being claimed in any process: a pause, and the limits. */
export class RedisGate {
  constructor(
    private readonly slots: SlotPool,
    private readonly connection: RedisConnection,
    private readonly keys: QueueKeys,
    private readonly options: {
      clustered: boolean;
      keepRecordMs: number;
      commandTimeoutMs: number;
      /** Where the queue has one. */
      rateLimit?: RateRule;
    },
  ) {}

  async pause(forMs: number | undefined): Promise<void> {
    await this.slots.call('pause', this.keysOfCalls(), [...this.argumentsOfCalls(), forMs ?? ENDLESS]);
  }

  async resume(): Promise<void> {
    await this.slots.call('resume', this.keysOfCalls(), this.argumentsOfCalls());
  }

  async pausedUntil(): Promise<number | undefined> {
    const giveUpAt = performance.now() + this.options.commandTimeoutMs;
    const ends = (await this.connection.run('paused', [this.keys.paused], [], giveUpAt)) as string;
    if (ends === '') return undefined;
    return ends === ENDLESS ? Number.POSITIVE_INFINITY : Number(ends);
  }

  async limits(): Promise<LimitsUse> {
    const { rateLimit, commandTimeoutMs } = this.options;
    const giveUpAt = performance.now() + commandTimeoutMs;
    const read = [this.keys.active, this.keys.rate];
    const reply = await this.connection.run('limits', read, [rateLimit ? rateWindowMs(rateLimit) : 0], giveUpAt);
    const [nowMs = 0, running = 0, started = 0, opensAtMs = 0] = (reply as (string | number)[]).map(Number);
    return { nowMs, running, started, opensAtMs };
  }

  private keysOfCalls(): string[] {
    return [this.keys.paused, this.keys.sleeping];
  }

  private argumentsOfCalls(): number[] {
    return [this.options.keepRecordMs, this.options.clustered ? 1 : 0];
  }
}

/** How long a start counts, in ms. */
export function rateWindowMs({ perMs }: RateRule): number {
  return perMs + Math.min(LONGER_AT_MOST_MS, Math.ceil(perMs * LONGER_BY));
}
