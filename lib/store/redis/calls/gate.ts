import { type RateRule, rateWindowMs } from '../../../core/options/rate-limit.js';
import type { LimitsUse } from '../../job-store.js';
import type { QueueKeys } from '../keys.js';
import type { QueueLink } from '../link/queue-link.js';
import { ask } from '../scripts/bound-script.js';
import { limitsScript, pausedScript, pauseScript, resumeScript } from '../scripts/gate/contract.js';
import type { CallerPool } from './caller-pool.js';

/** What the scripts say for a pause without an end. */
const ENDLESS = 'inf';

/** What keeps the due jobs of one queue from being claimed in any process: a pause, and the limits. */
export class RedisGate {
  private readonly scripts;

  constructor(
    private readonly callers: CallerPool,
    private readonly connection: QueueLink,
    keys: QueueKeys,
    private readonly options: {
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
    await this.callers.call(this.scripts.pause, { pause: forMs ?? ENDLESS });
  }

  async resume(): Promise<void> {
    await this.callers.call(this.scripts.resume, {});
  }

  async pausedUntil(): Promise<number | undefined> {
    const giveUpAt = this.connection.now() + this.options.commandTimeoutMs;
    const ends = await ask(this.connection, this.scripts.paused, {}, giveUpAt);
    if (ends === '') return undefined;
    return ends === ENDLESS ? Number.POSITIVE_INFINITY : Number(ends);
  }

  async limits(): Promise<LimitsUse> {
    const { rateLimit, commandTimeoutMs } = this.options;
    const giveUpAt = this.connection.now() + commandTimeoutMs;
    const args = { rateWindowMs: rateLimit ? rateWindowMs(rateLimit) : 0 };
    const [now, running, started, opensAt] = await ask(this.connection, this.scripts.limits, args, giveUpAt);
    return { nowMs: Number(now), running, started, opensAtMs: Number(opensAt) };
  }
}
