import type { QueueStore } from '../../job-store.js';
import type { RedisConnection } from '../link/connection.js';
import { Confirmations } from './confirmations.js';
import { type ConfirmedBy, confirmedQueue } from './confirmed-queue.js';
import { NodeCalls } from './node-calls.js';
import { ReplicationWatch } from './replication-watch.js';

export interface ConfirmedQueuesOptions {
  readonly prefix: string;
  readonly clustered: boolean;
  readonly commandTimeoutMs: number;
  /** How long a connection may be silent before it counts as dead. */
  readonly silenceMs: number;
}

/** The queues of a store as producers see them where `minReplicas` is given. */
export class ConfirmedQueues {
  private readonly queues = new Map<string, QueueStore>();
  private readonly by: ConfirmedBy;

  constructor(
    private readonly plain: (name: string) => QueueStore,
    /** Each is opened on its first use. Nothing else passes on that of confirmations while it waits. */
    links: { forCalls(): RedisConnection; forConfirmations(): RedisConnection },
    least: number,
    { prefix, clustered, commandTimeoutMs, silenceMs }: ConfirmedQueuesOptions,
  ) {
    const nodes = new NodeCalls(prefix, clustered);
    const watch = new ReplicationWatch(links.forCalls, nodes, least);
    this.by = {
      watch,
      confirmations: new Confirmations(links.forConfirmations, nodes, least, silenceMs / 2),
      commandTimeoutMs,
    };
  }

  queue(name: string): QueueStore {
    const queue = this.queues.get(name) ?? confirmedQueue(name, this.plain(name), this.by);
    this.queues.set(name, queue);
    return queue;
  }

  /** The connection for calls may lead to another node from now on. */
  forget(): void {
    this.by.watch.forget();
  }
}
