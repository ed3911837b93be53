import type { QueueKeys } from '../keys.js';
import { annotated } from '../link/call-error.js';
import type { RedisLink } from '../link/redis-link.js';
import type { ServerClock } from '../link/server-clock.js';
import type { NumberedScript } from '../scripts/bound-script.js';
import { Caller, type CallerOptions } from './caller.js';

/** How many calls of one queue are in flight at once; more wait for a caller. */
const CALLERS = 16;

/** Numbered calls of one queue that need not wait for each other. */
export class CallerPool {
  private readonly free: Caller[] = [];
  private opened = 0;
  private readonly queueing: ((caller: Caller) => void)[] = [];

  constructor(
    private readonly connection: RedisLink,
    private readonly clock: ServerClock,
    private readonly keys: QueueKeys,
    private readonly options: CallerOptions & { queue: string; commandTimeoutMs: number },
  ) {}

  /** `bytes`: of payload, about. Throws `QueueUnavailableError`, which says which queue the call was about. */
  async call<A, R extends [string, string, ...unknown[]]>(
    script: NumberedScript<A, R>,
    args: A,
    bytes = 0,
  ): Promise<R> {
    const giveUpAt = this.connection.now() + this.options.commandTimeoutMs;
    const caller = await this.take();
    try {
      caller.begin();
      return await annotated(caller.send(script, args, giveUpAt, { bytes }), { queue: this.options.queue });
    } catch (error) {
      caller.rename();
      throw error;
    } finally {
      this.giveBack(caller);
    }
  }

  private take(): Caller | Promise<Caller> {
    const caller = this.free.pop();
    if (caller) return caller;
    if (this.opened < CALLERS) {
      this.opened++;
      return new Caller(this.connection, this.clock, this.keys, this.options);
    }
    return new Promise((resolve) => this.queueing.push(resolve));
  }

  private giveBack(caller: Caller): void {
    const next = this.queueing.shift();
    if (next) next(caller);
    else this.free.push(caller);
  }
}
