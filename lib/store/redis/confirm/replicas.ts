import type { RedisConnection } from '../link/connection.js';
import { Confirmations, type Receipt } from './confirmations.js';
import { NodeCalls } from './node-calls.js';
import { ReplicationWatch } from './replication-watch.js';

/** The replicas that a numbered call of a producer waits for. */
export interface QueueReplicas {
  /** Throws `QueueUnavailableError` (`refused`) where too few are connected. */
  require(giveUpAt: number): Promise<void>;
  /** Resolves once enough of them have what the call wrote. Throws `QueueUnavailableError` (`unknown`) at `giveUpAt`. */
  confirm(receipt: Receipt, giveUpAt: number): Promise<void>;
}

/** The replicas of all queues of a store, where `minReplicas` is given. */
export class Replicas {
  private readonly watch: ReplicationWatch;
  private readonly confirmations: Confirmations;

  constructor(
    /** Each is opened on its first use. Nothing else passes on that of confirmations while it waits. */
    links: { forCalls(): RedisConnection; forConfirmations(): RedisConnection },
    least: number,
    /** `silenceMs`: how long a connection may be silent before it counts as dead. */
    { prefix, clustered, silenceMs }: { prefix: string; clustered: boolean; silenceMs: number },
  ) {
    const nodes = new NodeCalls(prefix, clustered);
    this.watch = new ReplicationWatch(links.forCalls, nodes, least);
    this.confirmations = new Confirmations(links, nodes, least, silenceMs / 2);
  }

  of(queue: string): QueueReplicas {
    return {
      require: (giveUpAt) => this.watch.require(queue, giveUpAt),
      confirm: (receipt, giveUpAt) => this.confirmations.confirm(queue, receipt, giveUpAt),
    };
  }

  /** The connection for calls may lead to another node from now on. */
  forget(): void {
    this.watch.forget();
  }
}
