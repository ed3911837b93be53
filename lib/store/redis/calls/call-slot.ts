import { QueueUnavailableError } from '../../../core/errors.js';
import { newMaker } from '../../../core/job/job-id.js';
import { type QueueKeys, receiptKey } from '../keys.js';
import type { RedisConnection, ScriptArgument } from '../link/connection.js';
import type { CallTraits } from '../link/send-script.js';
import type { ServerClock } from '../link/server-clock.js';
import type { ScriptName } from '../scripts/embedded.js';

/**
 * One call in flight at a time, numbered, so that Redis can tell a call that arrives again from a new one.
 * After a call that failed the slot goes on under another name: the old record stays and tells, while it is kept,
 * whether that call ran.
 */
export class CallSlot {
  private name: string;
  private number = 0;

  constructor(
    private readonly connection: RedisConnection,
    private readonly clock: ServerClock,
    private readonly keys: QueueKeys,
    private readonly prefix = '',
  ) {
    this.name = prefix + newMaker();
  }

  /** Under which name Redis knows this slot. */
  get caller(): string {
    return this.name;
  }

  /** Numbers a new call. */
  begin(): void {
    this.number++;
  }

  rename(): void {
    this.name = this.prefix + newMaker();
    this.number = 0;
  }

  /**
   * Sends the call that was begun last, for the first time or again. `giveUpAt` is a time of `performance.now()`;
   * Redis refuses the call after it, so that a copy that was held up on the way cannot act later.
   * Resolves to the script's reply, status first. Throws `QueueUnavailableError`.
   */
  async send(
    script: ScriptName,
    fixedKeys: readonly string[],
    rest: readonly ScriptArgument[],
    giveUpAt: number,
    traits?: CallTraits,
  ): Promise<unknown[]> {
    const keys = [...fixedKeys, receiptKey(this.keys, this.name)];
    if (!this.clock.known) await this.clock.learn(this.connection, giveUpAt);
    for (;;) {
      const deadline = this.clock.at(giveUpAt);
      const reply = (await this.connection.run(
        script,
        keys,
        [this.keys.base, this.number, deadline, ...rest],
        giveUpAt,
        traits,
      )) as unknown[];
      this.clock.note(Number(reply[1]));
      if (reply[0] === 'overtaken') {
        // Somebody else numbers calls under this name; under a new one this call can be sent again.
        this.rename();
        this.begin();
        throw new QueueUnavailableError('The call was overtaken by a later one.', 'unknown');
      }
      if (reply[0] !== 'expired') return reply;
      // Either the time is over, or Redis' clock is another one than before, as after a failover.
      if (performance.now() >= giveUpAt)
        throw new QueueUnavailableError('The call reached Redis too late; it was refused.', 'refused');
    }
  }
}
