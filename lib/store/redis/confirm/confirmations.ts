import { QueueUnavailableError } from '../../../core/errors.js';
import type { RedisConnection } from '../link/connection.js';
import type { NodeCalls } from './node-calls.js';
import { readReplication } from './replication.js';

/** For less time nothing is sent any more. */
const LEAST_MS = 50;

/** What a numbered call has left in Redis. Its caller makes no other call until this one is confirmed. */
export interface Receipt {
  readonly key: string;
  readonly number: number;
  readonly keepMs: number;
}

/** A call that Redis has answered, and whose writing replicas have not confirmed yet. */
interface Unconfirmed {
  readonly receipt: Receipt;
  readonly giveUpAt: number;
  confirm(): void;
  reject(error: unknown): void;
}

/**
 * Waits until replicas have confirmed what calls have written: one WAIT at a time for each node, for all calls that Redis has answered
 * before it is sent. It has a connection of its own, since nothing passes on one that waits. So it may reach another node than the one that
 * ran the call, as in a failover. It sends in one go, and a call is confirmed only where all of this holds:
 * - GET finds the receipt with the number of the call: the data of this node have what the call wrote;
 * - PEXPIRE of the receipt, a write that a full memory does not refuse, comes after it in the order of this node. WAIT alone is about what
 *   its own connection has written, and would answer at once;
 * - WAIT counts enough replicas that have this write;
 * - INFO has answered the same id before and after: a node that was a replica meanwhile has another one, and perhaps other data.
 */
export class Confirmations {
  /** By node; there while a WAIT is under way. */
  private readonly waiting = new Map<string, Unconfirmed[]>();

  constructor(
    private readonly links: { forCalls(): RedisConnection; forConfirmations(): RedisConnection },
    private readonly nodes: NodeCalls,
    private readonly least: number,
    /** How long one WAIT may take: a connection that is silent for much longer would count as dead. */
    private readonly waitMs: number,
  ) {}

  /**
   * Resolves once enough replicas have what the call wrote. Throws `QueueUnavailableError` (`unknown`) at `giveUpAt`, and where the queue's
   * node does not have it.
   */
  confirm(queue: string, receipt: Receipt, giveUpAt: number): Promise<void> {
    return new Promise((confirm, reject) => {
      const node = this.nodes.nodeOf(queue);
      const call = { receipt, giveUpAt, confirm, reject };
      if (this.waiting.get(node)?.push(call)) return;
      this.waiting.set(node, [call]);
      void this.confirmAll(node, queue);
    });
  }

  private async confirmAll(node: string, queue: string): Promise<void> {
    for (let calls = this.waiting.get(node)!; calls.length > 0; calls = this.waiting.get(node)!) {
      this.waiting.set(node, []);
      const open = await this.confirmSome(queue, calls);
      this.waiting.get(node)!.unshift(...open);
    }
    this.waiting.delete(node);
  }

  /** Answers the calls that are still open. */
  private async confirmSome(queue: string, calls: readonly Unconfirmed[]): Promise<Unconfirmed[]> {
    const giveUpAt = Math.min(...calls.map((call) => call.giveUpAt));
    const open: Unconfirmed[] = [];
    const keepOr = (call: Unconfirmed, error: unknown) => {
      if (performance.now() + LEAST_MS < call.giveUpAt) open.push(call);
      else call.reject(error);
    };
    try {
      const { found, confirmed } = await this.wait(queue, calls, giveUpAt);
      // Which of the two connections leads to a node that was replaced cannot be told.
      if (found.includes(false)) for (const link of Object.values(this.links)) link().renew();
      for (const [i, call] of calls.entries()) {
        if (!found[i]) call.reject(unconfirmed('another node has taken over without it'));
        else if (confirmed >= this.least) call.confirm();
        else keepOr(call, unconfirmed(TOO_FEW));
      }
    } catch (error) {
      const isUnavailable = error instanceof QueueUnavailableError;
      for (const call of calls) {
        if (!isUnavailable) call.reject(error);
        // A refusal would come again.
        else if (error.redisCode) call.reject(unconfirmed(error.message, error));
        else keepOr(call, unconfirmed(TOO_FEW, error));
      }
    }
    return open;
  }

  /** `found`: whether the node has what each call wrote. `confirmed`: how many replicas have all that it has. */
  private async wait(queue: string, calls: readonly Unconfirmed[], giveUpAt: number) {
    const waitMs = Math.max(1, Math.min(Math.floor(giveUpAt - performance.now()), this.waitMs));
    const answers = await this.nodes.send(this.links.forConfirmations(), queue, giveUpAt, (commands) => {
      commands.info('replication');
      for (const { receipt } of calls) commands.get(receipt.key).pexpire(receipt.key, receipt.keepMs);
      return commands.wait(this.least, waitMs).info('replication');
    });
    const found = calls.map(({ receipt }, i) => String(answers[1 + 2 * i]).startsWith(`${receipt.number} `));
    const [before, after] = [answers[0], answers.at(-1)].map(readReplication);
    const isSame = before!.id !== undefined && before!.id === after!.id;
    return { found, confirmed: isSame ? Number(answers.at(-2)) : 0 };
  }
}

const TOO_FEW = 'too few replicas have confirmed it in time';

function unconfirmed(why: string, { redisCode, cause }: Partial<QueueUnavailableError> = {}): QueueUnavailableError {
  return new QueueUnavailableError(
    `Redis has run the call, but ${why.replace(/\.$/, '')}: a failover may lose it. Where this error names job ids, call again with them.`,
    'unknown',
    { redisCode, ...(cause !== undefined && { cause }) },
  );
}
