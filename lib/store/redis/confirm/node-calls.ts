import type { ChainableCommander } from 'ioredis';
import { absentKey, queueKeys } from '../keys.js';
import type { Client } from '../link/client.js';
import type { RedisConnection } from '../link/connection.js';

/**
 * Sends commands that name no key, such as INFO and WAIT, to the node that has a queue: a pipeline goes to one connection, that of the keys
 * which its commands name.
 */
export class NodeCalls {
  constructor(
    private readonly prefix: string,
    private readonly clustered: boolean,
  ) {}

  /** What queues of the same node share, as far as is known. On a cluster each queue counts as a node of its own. */
  nodeOf(queue: string): string {
    return this.clustered ? queue : '';
  }

  /** `add`: adds the commands, one of which must name a key of the queue, such as `key`, which is absent. Answers what each of them has answered. Throws `QueueUnavailableError`. */
  send(
    connection: RedisConnection,
    queue: string,
    giveUpAt: number,
    add: (calls: ChainableCommander, key: string) => ChainableCommander,
  ): Promise<unknown[]> {
    const key = absentKey(queueKeys(this.prefix, queue).base);
    return connection.read('list', (client) => answersOf(client, add(client.pipeline(), key), key), giveUpAt);
  }
}

async function answersOf(client: Client, calls: ChainableCommander, key: string): Promise<unknown[]> {
  const answers = (await calls.exec()) ?? [];
  const error = answers.find(([failed]) => failed)?.[0];
  if (!error) return answers.map(([, answer]) => answer);
  // The client learns from a single command where a slot has moved to, and from a pipeline like this one it does not.
  if (client.isCluster && /^(MOVED|ASK)\b/.test(error.message)) await client.exists(key);
  throw error;
}
