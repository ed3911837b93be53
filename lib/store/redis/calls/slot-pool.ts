import type { QueueKeys } from '../keys.js';
import type { RedisConnection, ScriptArgument } from '../link/connection.js';
import type { ServerClock } from '../link/server-clock.js';
import type { ScriptName } from '../scripts/embedded.js';
import { CallSlot } from './call-slot.js';

/** How many calls of one queue are under way at once; more wait for a slot. */
const SLOTS = 16;

/** Numbered calls of one queue that need not wait for each other. */
export class SlotPool {
  private readonly free: CallSlot[] = [];
  private opened = 0;
  private readonly queueing: ((slot: CallSlot) => void)[] = [];

  constructor(
    private readonly connection: RedisConnection,
    private readonly clock: ServerClock,
    private readonly keys: QueueKeys,
    private readonly commandTimeoutMs: number,
  ) {}

  /** `bytes`: of payload, about. Resolves to the script's reply, status first. Throws `QueueUnavailableError`. */
  async call(
    script: ScriptName,
    keys: readonly string[],
    rest: readonly ScriptArgument[],
    bytes = 0,
  ): Promise<unknown[]> {
    const giveUpAt = performance.now() + this.commandTimeoutMs;
    const slot = await this.take();
    try {
      slot.begin();
      return await slot.send(script, keys, rest, giveUpAt, { bytes });
    } catch (error) {
      slot.rename();
      throw error;
    } finally {
      this.giveBack(slot);
    }
  }

  private take(): CallSlot | Promise<CallSlot> {
    const slot = this.free.pop();
    if (slot) return slot;
    if (this.opened < SLOTS) {
      this.opened++;
      return new CallSlot(this.connection, this.clock, this.keys);
    }
    return new Promise((resolve) => this.queueing.push(resolve));
  }

  private giveBack(slot: CallSlot): void {
    const next = this.queueing.shift();
    if (next) next(slot);
    else this.free.push(slot);
  }
}
