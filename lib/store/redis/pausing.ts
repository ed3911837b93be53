import type { QueueKeys } from '../keys.js';
import type { RedisConnection } from './connection.js';
import type { SlotPool } from './slot-pool.js';

/** What the scripts say for a pause without an end. */
const ENDLESS = 'inf';

/** Pauses and resumes one queue for all processes. */
export class RedisPausing {
  constructor(
    private readonly slots: SlotPool,
    private readonly connection: RedisConnection,
    private readonly keys: QueueKeys,
    private readonly options: { clustered: boolean; keepRecordMs: number; commandTimeoutMs: number },
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

  private keysOfCalls(): string[] {
    return [this.keys.paused, this.keys.groups];
  }

  private argumentsOfCalls(): number[] {
    return [this.options.keepRecordMs, this.options.clustered ? 1 : 0];
  }
}
