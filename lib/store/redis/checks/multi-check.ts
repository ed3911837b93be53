import { InvalidScheduleError } from '../../../core/errors.js';
import { answerOf, firstLine, NOT_NOW } from '../link/call-error.js';
import type { Client } from '../link/client.js';
import type { RedisConnection } from '../link/connection.js';

/** Redis refuses all that writes, or this user altogether: of scripts in a MULTI that tells nothing. */
const REFUSES_ALL = /^(OOM|MISCONF|NOREPLICAS|NOAUTH|WRONGPASS)\b/;

/** Finds out whether this Redis runs scripts inside of a MULTI: some managed ones refuse EVAL there, and would refuse the caller's EXEC. */
export class MultiCheck {
  private runsScripts = false;

  /**
   * `key`: one of the queue. Throws `InvalidScheduleError` where Redis refuses, and `QueueUnavailableError` where nobody has answered by
   * `giveUpAt`, a time of `performance.now()`, or where Redis refuses for another reason.
   */
  async require(connection: RedisConnection, key: string, giveUpAt: number): Promise<void> {
    // Of the schema of this very queue, too: nobody else looks before EXEC writes there.
    await connection.passed(key, giveUpAt);
    if (this.runsScripts) return;
    const refusal = await connection.read('text', (client) => refusalOf(client, key), giveUpAt, key);
    if (refusal !== null)
      throw new InvalidScheduleError(
        `in: this Redis refuses scripts inside of MULTI (${refusal}), expected one that runs them. Use producer.prepare with your own data, and producer.schedulePrepared afterwards: see docs/transactions.md.`,
      );
    this.runsScripts = true;
  }
}

/** Why Redis refuses a script in a MULTI. null: it runs one; or our own user may use no MULTI, which says nothing about the caller's user. */
async function refusalOf(client: Client, key: string): Promise<string | null> {
  try {
    const replies = await client.multi().eval('return 1', 1, key).exec();
    return refusalText(replies?.[0]?.[0]);
  } catch (error) {
    // EXEC says only that something was refused before.
    const [refusal = error as Error] = (error as { previousErrors?: Error[] }).previousErrors ?? [];
    const answer = answerOf(refusal);
    if (refusal.name !== 'ReplyError' || NOT_NOW.test(answer) || REFUSES_ALL.test(answer)) throw refusal;
    return refusalText(refusal);
  }
}

function refusalText(refusal: Error | null | undefined): string | null {
  // EXEC, too, may be the command that is not permitted.
  return !refusal || /\bNOPERM\b/.test(refusal.message) ? null : firstLine(refusal.message);
}
