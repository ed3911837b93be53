import type { RateRule } from '../../../core/options/queue-options.js';
import type { LimitsUse } from '../../job-store.js';
import type { QueueKeys } from '../keys.js';
import type { RedisConnection } from '../link/connection.js';
import { ask } from '../scripts/bound-script.js';
import { limitsScript, pausedScript, pauseScript, resumeScript } from '../scripts/contracts.js';
import type { CallerPool } from './caller-pool.js';

/** What the scripts say for a pause without an end. */
const ENDLESS = 'inf';

/** A rate's window is taken this much longer than said, as the way from a claim to its handler is not always equally long. */
const LONGER_BY = 0.02;
const LONGER_AT_MOST_MS = 50;

/** What keeps the due jobs of one queue from being claimed in any process: a pause, and the limits. */
export class RedisGate {
  private readonly scripts;

  constructor(
    private readonly callers: CallerPool,
    private readonly connection: RedisConnection,
    keys: QueueKeys,
    private readonly options: {
      clustered: boolean;
      commandTimeoutMs: number;
      /** Where the queue has one. */
      rateLimit?: RateRule;
    },
  ) {
    this.scripts = {
      pause: pauseScript(keys),
      resume: resumeScript(keys),
      paused: pausedScript(keys),
      limits: limitsScript(keys),
    };
  }

  async pause(forMs: number | undefined): Promise<void> {
    const { clustered } = this.options;
    await this.callers.call(this.scripts.pause, { clustered, pause: forMs ?? ENDLESS });
  }

  async resume(): Promise<void> {
    const { clustered } = this.options;
    await this.callers.call(this.scripts.resume, { clustered });
  }

  async pausedUntil(): Promise<number | undefined> {
    const giveUpAt = performance.now() + this.options.commandTimeoutMs;
    const ends = await ask(this.connection, this.scripts.paused, {}, giveUpAt);
    if (ends === '') return undefined;
    return ends === ENDLESS ? Number.POSITIVE_INFINITY : Number(ends);
  }

  async limits(): Promise<LimitsUse> {
    const { rateLimit, commandTimeoutMs } = this.options;
    const giveUpAt = performance.now() + commandTimeoutMs;
    const args = { rateWindowMs: rateLimit ? rateWindowMs(rateLimit) : 0 };
    const [now, running, started, opensAt] = await ask(this.connection, this.scripts.limits, args, giveUpAt);
    return { nowMs: Number(now), running, started, opensAtMs: Number(opensAt) };
  }
}

/** How long a start counts, in ms. */
export function rateWindowMs({ perMs }: RateRule): number {
  return perMs + Math.min(LONGER_AT_MOST_MS, Math.ceil(perMs * LONGER_BY));
}
