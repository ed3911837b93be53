import { QueueUnavailableError } from '../../../core/errors.js';
import type { RedisConnection } from '../link/connection.js';
import type { NodeCalls } from './node-calls.js';
import { readReplication } from './replication.js';

/** The marker is of no use once WAIT has answered. */
const KEEP_MARKER_MS = 60_000;
/** The answer to a WAIT that took all the time there was may come so much later. */
const WAY_BACK_MS = 100;

/** A call that Redis has answered, and whose writing replicas have not confirmed yet. */
interface Unconfirmed {
  /** Under which id the node that was to run the call wrote before it. */
  readonly id: string;
  readonly giveUpAt: number;
  confirm(): void;
  reject(error: unknown): void;
}

/**
 * Waits until replicas have confirmed what calls have written: one WAIT at a time for each node, for all calls that Redis has answered
 * before it is sent. It has a connection of its own, since nothing passes on one that waits. What this connection writes before WAIT comes
 * after the calls in the order of the node, so replicas that confirm it have them as well. WAIT alone would not do: it is about what its
 * own connection has written. A call that found its job there already is confirmed in the same way.
 */
export class Confirmations {
  /** By node; there while a WAIT is under way. */
  private readonly waiting = new Map<string, Unconfirmed[]>();

  constructor(
    /** Opens the connection on its first use. */
    private readonly connection: () => RedisConnection,
    private readonly nodes: NodeCalls,
    private readonly least: number,
    /** How long one WAIT may take: a connection that is silent for much longer would count as dead. */
    private readonly waitMs: number,
  ) {}

  /**
   * Resolves once enough replicas have confirmed all that the queue's node has written by now. `id`: under which it wrote before the call.
   * Throws `QueueUnavailableError` (`unknown`) at `giveUpAt`, and where another node has taken over: it may not have what the call wrote.
   */
  confirm(queue: string, id: string, giveUpAt: number): Promise<void> {
    return new Promise((confirm, reject) => {
      const node = this.nodes.nodeOf(queue);
      const call = { id, giveUpAt, confirm, reject };
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
    try {
      const { id, confirmed } = await this.wait(queue, giveUpAt);
      for (const call of calls) {
        if (call.id !== id) call.reject(unconfirmed('another node has taken over'));
        else if (confirmed >= this.least) call.confirm();
        else if (performance.now() < call.giveUpAt) open.push(call);
        else call.reject(unconfirmed(`${confirmed} of ${this.least} have in time`));
      }
    } catch (error) {
      // What comes before its time is a refusal, which would come again.
      const isRefusal = performance.now() < giveUpAt;
      for (const call of calls) {
        if (!isRefusal && performance.now() < call.giveUpAt) open.push(call);
        else call.reject(error instanceof QueueUnavailableError ? unconfirmed(error.message, error.redisCode) : error);
      }
    }
    return open;
  }

  private async wait(queue: string, giveUpAt: number): Promise<{ id: string; confirmed: number }> {
    const leftMs = Math.max(1, Math.floor(giveUpAt - performance.now()));
    const [, info, confirmed] = await this.nodes.send(this.connection(), queue, giveUpAt + WAY_BACK_MS, (calls, key) =>
      calls.set(key, '', 'PX', KEEP_MARKER_MS).info('replication').wait(this.least, Math.min(leftMs, this.waitMs)),
    );
    return { id: readReplication(String(info)).id, confirmed: Number(confirmed) };
  }
}

function unconfirmed(why: string, redisCode?: string): QueueUnavailableError {
  return new QueueUnavailableError(
    `Redis has run the call, and too few replicas have confirmed it (${why}): a failover may lose it. Call again with its id until they have.`,
    'unknown',
    { redisCode },
  );
}
