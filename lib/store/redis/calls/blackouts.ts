import { type BlackoutRule, isCron } from '../../../core/blackouts/blackout.js';
import { windowsAt } from '../../../core/blackouts/windows.js';
import type { KnownBlackouts } from '../../job-store.js';
import { formatRules, formatWindows, parseEnd, parseRules } from '../codec/blackout-text.js';
import type { QueueKeys } from '../keys.js';
import type { QueueLink } from '../link/queue-link.js';
import { ask } from '../scripts/bound-script.js';
import { blackoutsScript, setBlackoutsScript } from '../scripts/gate/contract.js';
import { clockScript } from '../scripts/server/contract.js';
import type { CallerPool } from './caller-pool.js';

/**
 * The blackouts of one queue. Cron cannot run in Redis, so the process that sets or tends them computes their windows, around Redis'
 * time: its own clock may be wrong.
 */
export class RedisBlackouts {
  private readonly scripts;

  constructor(
    private readonly callers: CallerPool,
    private readonly connection: QueueLink,
    keys: QueueKeys,
    private readonly options: { queue: string; commandTimeoutMs: number },
  ) {
    this.scripts = { clock: clockScript(keys), blackouts: blackoutsScript(keys), set: setBlackoutsScript(keys) };
  }

  async set(rules: readonly BlackoutRule[]): Promise<void> {
    const nowMs = Number(await ask(this.connection, this.scripts.clock, {}, this.giveUpAt()));
    await this.write(rules, formatRules(rules), true, nowMs);
  }

  async read(): Promise<KnownBlackouts> {
    const { nowMs, ends, rules } = await this.ask();
    const isOver = (rule: BlackoutRule) => !isCron(rule) && rule.toMs <= nowMs;
    return { rules: rules.filter((rule) => !isOver(rule)), untilMs: parseEnd(ends) };
  }

  /** Computes all windows anew: a process with newer data of the time zones may see them elsewhere. */
  async tend(): Promise<number | undefined> {
    const { nowMs, rules, text, tendAt } = await this.ask();
    const inMs = tendAt === '' ? undefined : Number(tendAt) - nowMs;
    if (inMs === undefined || inMs > 0) return inMs;
    const moreAtMs = await this.write(rules, text, false, nowMs);
    return moreAtMs === undefined ? undefined : moreAtMs - nowMs;
  }

  /** `text`: the rules as they are stored. */
  private async write(
    rules: readonly BlackoutRule[],
    text: string,
    isNew: boolean,
    nowMs: number,
  ): Promise<number | undefined> {
    const known = windowsAt(nowMs, rules);
    const [, , isSet] = await this.callers.call(this.scripts.set, {
      isNew,
      rules: text,
      windows: formatWindows(known),
      moreAt: known.moreAtMs ?? 0,
    });
    // Somebody has set others meanwhile: they are looked at next.
    return isSet === '1' ? known.moreAtMs : nowMs;
  }

  private async ask() {
    const [now, ends, text, tendAt] = await ask(this.connection, this.scripts.blackouts, {}, this.giveUpAt());
    return { nowMs: Number(now), ends, rules: parseRules(text, this.options.queue), text, tendAt };
  }

  private giveUpAt(): number {
    return this.connection.now() + this.options.commandTimeoutMs;
  }
}
