import { QueueUnavailableError } from '../../../core/errors.js';
import type { RedisConnection } from '../link/connection.js';
import type { NodeCalls } from './node-calls.js';
import { type Replication, readReplication } from './replication.js';

/** For how long it is taken to be known. */
const KNOWN_MS = 1_000;

interface Reading {
  readonly at: number;
  readonly answer: Promise<Replication>;
}

/**
 * Knows how many replicas the node of a queue has. It must be known before something is written: with too few of them, WAIT would wait
 * for its whole time, and the call would have happened all the same.
 */
export class ReplicationWatch {
  private readonly known = new Map<string, Reading>();

  constructor(
    private readonly connection: () => RedisConnection,
    private readonly nodes: NodeCalls,
    private readonly least: number,
  ) {}

  /** The connection may lead to another node from now on. */
  forget(): void {
    this.known.clear();
  }

  /**
   * Throws `QueueUnavailableError` (`refused`) where the node of the queue has too few replicas, and where the user may not run WAIT.
   */
  async require(queue: string, giveUpAt: number): Promise<void> {
    const { replicas } = await this.read(queue, giveUpAt);
    if (replicas >= this.least) return;
    // They may follow another node by now, which this one has not heard of.
    this.connection().renew();
    throw new QueueUnavailableError(
      `Redis has ${replicas} connected replicas of the ${this.least} that minReplicas asks for; the call has not happened.`,
      'refused',
    );
  }

  private read(queue: string, giveUpAt: number): Promise<Replication> {
    const node = this.nodes.nodeOf(queue);
    const known = this.known.get(node);
    if (known && performance.now() < known.at + KNOWN_MS) return known.answer;
    const answer = this.ask(queue, giveUpAt);
    const reading = { at: performance.now(), answer };
    this.known.set(node, reading);
    // What failed is asked again by the next call.
    answer.catch(() => this.known.get(node) === reading && this.known.delete(node));
    return answer;
  }

  private async ask(queue: string, giveUpAt: number): Promise<Replication> {
    // PEXPIRE writes nothing here, but a node that has become a replica refuses it, and the connection is made anew. WAIT for none answers at
    // once. It is asked for the permission, which no script can try.
    const [, info] = await this.nodes.send(this.connection(), queue, giveUpAt, (commands, key) =>
      commands.pexpire(key, 1).info('replication').wait(0, 0),
    );
    return readReplication(info);
  }
}
