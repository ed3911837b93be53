import { QueueUnavailableError } from '../../../core/errors.js';
import { newMaker } from '../../../core/job/job-id.js';
import type { QueueReplicas } from '../confirm/replicas.js';
import { type QueueKeys, receiptKey } from '../keys.js';
import type { RedisLink } from '../link/redis-link.js';
import type { CallTraits } from '../link/send-script.js';
import type { ServerClock } from '../link/server-clock.js';
import type { GivenArguments, NumberedScript } from '../scripts/bound-script.js';

export interface CallerOptions {
  readonly keepReceiptMs: number;
  readonly given: GivenArguments;
  /** Which replicas must have what a call wrote before it is answered; none where nothing is given. */
  readonly replicas?: QueueReplicas;
}

/** What the replies of numbered calls begin with: a status and Redis' time. */
type NumberedReply = [status: string, now: string, ...unknown[]];

/**
 * Numbers its calls, one of which is in flight at a time, so that Redis can tell a call that arrives again from a new one.
 * After a call that failed the caller goes on under another name: the old receipt stays and tells, while it is kept,
 * whether that call ran.
 */
export class Caller {
  private current: { name: string; receiptKey: string };
  private number = 0;

  constructor(
    private readonly connection: RedisLink,
    private readonly clock: ServerClock,
    private readonly keys: QueueKeys,
    private readonly options: CallerOptions,
    private readonly prefix = '',
  ) {
    this.current = this.newName();
  }

  /** Under which name Redis knows this caller. */
  get name(): string {
    return this.current.name;
  }

  /** The time by which its calls are given up. */
  now(): number {
    return this.connection.now();
  }

  /** Numbers a new call. */
  begin(): void {
    this.number++;
  }

  rename(): void {
    this.current = this.newName();
    this.number = 0;
  }

  /**
   * Sends the call that was begun last, for the first time or again. `giveUpAt` is a time of the link;
   * Redis refuses the call after it, so that a copy that was held up on the way cannot act later.
   * Throws `QueueUnavailableError`.
   */
  async send<A, R extends NumberedReply>(
    script: NumberedScript<A, R>,
    args: A,
    giveUpAt: number,
    traits?: CallTraits,
  ): Promise<R> {
    const keys = [...script.keys, this.current.receiptKey];
    const { keepReceiptMs, given, replicas } = this.options;
    if (replicas) await replicas.require(giveUpAt);
    const own = script.encode(args, given);
    if (!this.clock.known) await this.clock.learn(giveUpAt);
    for (;;) {
      // The order of the arguments that `@numbered` stands for: see scripts/lua/contract.mjs.
      const all = [this.keys.base, this.number, this.clock.at(giveUpAt), keepReceiptMs, ...own];
      const sentAt = this.connection.now();
      const reply = (await this.connection.run(script.name, keys, all, giveUpAt, traits)) as R;
      this.clock.note(Number(reply[1]), sentAt);
      if (reply[0] === 'overtaken') {
        // Somebody else numbers calls under this name; under a new one this call can be sent again.
        this.rename();
        this.begin();
        throw new QueueUnavailableError('The call was overtaken by a later one.', 'unknown');
      }
      if (reply[0] !== 'expired') {
        const receipt = { key: this.current.receiptKey, number: this.number, keepMs: keepReceiptMs };
        if (replicas) await replicas.confirm(receipt, giveUpAt);
        return reply;
      }
      // Either the time is over, or Redis' clock is another one than before, as after a failover.
      if (this.connection.now() >= giveUpAt)
        throw new QueueUnavailableError('The call reached Redis too late; it was refused.', 'refused');
    }
  }

  private newName() {
    const name = this.prefix + newMaker();
    return { name, receiptKey: receiptKey(this.keys, name) };
  }
}
