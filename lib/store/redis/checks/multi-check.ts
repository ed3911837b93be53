import { InvalidScheduleError } from '../../../core/errors.js';
import { firstLine, isPermission, NOT_NOW } from '../link/call-error.js';
import type { Client } from '../link/client.js';
import type { RedisConnection } from '../link/connection.js';

/** Finds out, once, whether this Redis runs scripts inside of a MULTI: some managed ones refuse EVAL there, and would refuse the caller's EXEC. */
export class MultiCheck {
  private asked?: Promise<string | null>;

  /**
   * `key`: one of the queue. Throws `InvalidScheduleError` where Redis refuses, and `QueueUnavailableError` where nobody has answered by
   * `giveUpAt`, a time of `performance.now()`.
   */
  async require(connection: RedisConnection, key: string, giveUpAt: number): Promise<void> {
    this.asked ??= connection
      .read('text', (client) => refusalOf(client, key), giveUpAt, key)
      .catch((error) => {
        this.asked = undefined;
        throw error;
      });
    const refusal = await this.asked;
    if (refusal === null) return;
    throw new InvalidScheduleError(
      `in: this Redis refuses scripts inside of MULTI (${refusal}), expected one that runs them. Use producer.prepare with your own data, and producer.schedulePrepared afterwards: see docs/transactions.md.`,
    );
  }
}

/** What Redis says against it; null where it runs one, and where our own user may not try, which tells nothing about the caller's. */
async function refusalOf(client: Client, key: string): Promise<string | null> {
  try {
    const replies = await client.multi().eval('return 1', 1, key).exec();
    return told(replies?.[0]?.[0]);
  } catch (error) {
    // EXEC says only that something was refused before.
    const [refusal = error as Error] = (error as { previousErrors?: Error[] }).previousErrors ?? [];
    if (refusal.name !== 'ReplyError' || NOT_NOW.test(refusal.message)) throw refusal;
    return told(refusal);
  }
}

function told(refusal: Error | null | undefined): string | null {
  return !refusal || isPermission(refusal.message) ? null : firstLine(refusal.message);
}
