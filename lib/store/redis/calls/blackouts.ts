import { type BlackoutRule, isCron } from '../../../core/blackouts/blackout.js';
import { type KnownWindows, windowsAt } from '../../../core/blackouts/windows.js';
import type { KnownBlackouts } from '../../job-store.js';
import { formatRules, formatWindows, isWindow, parseEnd, parseRules } from '../codec/blackout-text.js';
import type { QueueKeys } from '../keys.js';
import type { QueueLink } from '../link/queue-link.js';
import { ask } from '../scripts/bound-script.js';
import { blackoutsScript, clockScript, setBlackoutsScript } from '../scripts/contracts.js';
import type { CallerPool } from './caller-pool.js';

/** Of the list that a call brings with it. */
const NEW_LIST = '';

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
    private readonly options: { queue: string; clustered: boolean; commandTimeoutMs: number },
  ) {
    this.scripts = { clock: clockScript(keys), blackouts: blackoutsScript(keys), set: setBlackoutsScript(keys) };
  }

  async set(rules: readonly BlackoutRule[]): Promise<void> {
    const nowMs = Number(await ask(this.connection, this.scripts.clock, {}, this.giveUpAt()));
    await this.write(rules, NEW_LIST, nowMs);
  }

  async read(): Promise<KnownBlackouts> {
    const { nowMs, ends, rules } = await this.ask();
    const isOver = (rule: BlackoutRule) => !isCron(rule) && rule.toMs <= nowMs;
    return { rules: rules.filter((rule) => !isOver(rule)), untilMs: parseEnd(ends) };
  }

  /**
   * Computes all windows anew: a process with newer data of the time zones may see them elsewhere. Also where Redis has lost when to do
   * so, or which window comes next: the queue would be open from then on.
   */
  async tend(): Promise<number | undefined> {
    const { nowMs, rules, version, tendAt, copy } = await this.ask();
    if (rules.length === 0) return undefined;
    const inMs = tendAt === '' ? undefined : Number(tendAt) - nowMs;
    if ((inMs ?? 0) > 0 && isWindow(copy)) return inMs;
    if (inMs === undefined && !isLost(windowsAt(nowMs, rules), nowMs, copy)) return undefined;
    const moreAtMs = await this.write(rules, version, nowMs);
    return moreAtMs === undefined ? undefined : moreAtMs - nowMs;
  }

  private async write(rules: readonly BlackoutRule[], version: string, nowMs: number): Promise<number | undefined> {
    const { clustered } = this.options;
    const known = windowsAt(nowMs, rules);
    const args = { clustered, version, rules: formatRules(rules), windows: formatWindows(known) };
    const [, , isSet] = await this.callers.call(this.scripts.set, { ...args, moreAt: known.moreAtMs ?? 0 });
    // Somebody has set others meanwhile: they are looked at next.
    return isSet === '1' ? known.moreAtMs : nowMs;
  }

  private async ask() {
    const [now, ends, version, rules, tendAt, copy] = await ask(
      this.connection,
      this.scripts.blackouts,
      {},
      this.giveUpAt(),
    );
    return { nowMs: Number(now), ends, version, rules: parseRules(rules, this.options.queue), tendAt, copy };
  }

  private giveUpAt(): number {
    return performance.now() + this.options.commandTimeoutMs;
  }
}

/** Whether nobody is told to compute more of these, or the queue does not know the one that is on or comes next. */
function isLost({ windows, moreAtMs }: KnownWindows, nowMs: number, copy: string): boolean {
  if (moreAtMs !== undefined) return true;
  return windows.some(({ toMs }) => toMs > nowMs) && !isWindow(copy);
}
