import type { Duplex } from 'node:stream';
import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { InvalidOptionsError } from '../../../core/errors.js';
import { describe } from '../../../core/read/describe.js';
import { answerOf } from './call-error.js';
import { requireDatabase, requireReadable, requireUrl, withoutSecrets } from './connection-url.js';

/** A client of ioredis, of whichever copy or version the application uses. */
export type Client = Redis | Cluster;

/**
 * Where Redis is: a URL, options of ioredis, the nodes of a cluster, or a ready client,
 * which is duplicated for the module's own use and never closed.
 */
export type ConnectionOption =
  | string
  | RedisOptions
  | { cluster: { nodes: ClusterNode[]; options?: ClusterOptions } }
  | Client;

export const DEFAULT_CONNECTION = 'redis://localhost:6379';

const FIRST_RECONNECT_MS = 50;
const LONGEST_RECONNECT_MS = 1_000;
/** How often a Redis that loads its data is asked whether it is ready; by itself ioredis trusts its estimate for up to 10 s. */
const LOADING_RETRY_MS = 500;

/**
 * How long a connection that is being closed may take to say goodbye; nobody waits for it any more. ioredis sets this timer also
 * where the connection is gone already, and would keep the process alive for 2 s after a close during an outage.
 */
const GOODBYE_MS = 100;

/** Doubles from 50 ms to 1 s, with a fifth left to chance so that a fleet does not return in step. */
function reconnectDelayMs(times: number): number {
  return (
    Math.min(FIRST_RECONNECT_MS * 2 ** Math.min(times - 1, 10), LONGEST_RECONNECT_MS) * (0.8 + 0.4 * Math.random())
  );
}

/**
 * What every client of ours has, whatever the application's own is set to. Resending is ours (see RedisConnection):
 * ioredis would run a script a second time after a lost reply, and on a cluster `maxRetriesPerRequest` does not keep it
 * from that, only `retryDelayOnFailover` does.
 */
function ownOptions(silenceMs: number): RedisOptions {
  return {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: reconnectDelayMs,
    // A server that was demoted refuses writes for as long as the connection lives.
    reconnectOnError: (error) => answerOf(error).startsWith('READONLY'),
    connectTimeout: silenceMs,
    // Without a limit, a server that accepts the connection and never answers would be waited for without end, and would keep a closed process alive.
    sentinelCommandTimeout: silenceMs,
    maxLoadingRetryTime: LOADING_RETRY_MS,
    disconnectTimeout: GOODBYE_MS,
    keyPrefix: '',
    // Else ioredis sends two commands a connection that a user with few permissions may not run, and each refusal fills ACL LOG.
    disableClientInfo: true,
  };
}

function ownClusterOptions(): ClusterOptions {
  return {
    lazyConnect: true,
    enableOfflineQueue: false,
    retryDelayOnFailover: 0,
    clusterRetryStrategy: reconnectDelayMs,
  };
}

/** Makes clients to one Redis, none of which connects before it is told to. */
export class ClientFactory {
  readonly clustered: boolean;
  private readonly make: (subscriber: boolean) => Client;

  /** Throws `InvalidOptionsError` where the option names no Redis. */
  constructor(
    option: unknown,
    private readonly silenceMs: number,
  ) {
    if (isClient(option)) {
      this.clustered = option.isCluster;
      this.refuseKeyPrefix(option.options as RedisOptions);
      this.make = (subscriber) => this.duplicate(option, subscriber);
      return;
    }
    if (typeof option === 'string') {
      requireUrl(option, Object.keys(ownOptions(0)));
      this.clustered = false;
      this.make = (subscriber) => new Redis(option, this.options(subscriber));
      return;
    }
    if (isPlainObject(option) && 'cluster' in option) {
      const { nodes, options } = readCluster(option.cluster);
      this.refuseKeyPrefix({ ...options, ...options.redisOptions });
      this.clustered = true;
      this.make = (subscriber) => new Cluster(nodes, this.clusterOptions(options, subscriber));
      return;
    }
    if (isPlainObject(option)) {
      requireServer(option);
      requireDatabase((option as RedisOptions).db, 'RedisScheduledQueueModule: connection: db');
      this.refuseKeyPrefix(option as RedisOptions);
      this.clustered = false;
      this.make = (subscriber) => new Redis({ ...(option as RedisOptions), ...this.options(subscriber) });
      return;
    }
    throw new InvalidOptionsError(
      `RedisScheduledQueueModule: connection: got ${describe(option)}, expected a URL such as '${DEFAULT_CONNECTION}', options of ioredis, { cluster: { nodes } }, or a Redis or Cluster client. Leave the option out for ${DEFAULT_CONNECTION}.`,
    );
  }

  /** A client for commands. */
  commands(): Client {
    return this.make(false);
  }

  /** A client for messages. */
  subscriber(): Client {
    return this.make(true);
  }

  private duplicate(client: Client, subscriber: boolean): Client {
    if (!client.isCluster) return (client as Redis).duplicate(this.options(subscriber));
    const options = (client as Cluster).options;
    return (client as Cluster).duplicate([], this.clusterOptions(options, subscriber));
  }

  private options(subscriber: boolean): RedisOptions {
    const options = ownOptions(this.silenceMs);
    return subscriber ? { ...options, autoResubscribe: false } : options;
  }

  private clusterOptions(given: ClusterOptions, subscriber: boolean): ClusterOptions {
    const { lazyConnect: _, retryStrategy: __, ...perNode } = this.options(subscriber);
    return {
      ...given,
      ...ownClusterOptions(),
      redisOptions: { ...given.redisOptions, ...perNode },
    };
  }

  private refuseKeyPrefix(options: RedisOptions | undefined): void {
    if (!options?.keyPrefix) return;
    throw new InvalidOptionsError(
      `RedisScheduledQueueModule: connection: got keyPrefix '${options.keyPrefix}', which ioredis does not apply to keys inside scripts: use the module's option prefix instead.`,
    );
  }
}

/**
 * Ends a client's connections at once, so that it makes new ones. Where packets vanish without an error nothing else does:
 * `disconnect` waits for the other side, and ioredis' own `socketTimeout` ends connections that are fine (ioredis#2147).
 */
export function dropConnections(client: Client): void {
  const nodes = client.isCluster ? (client as Cluster).nodes('all') : [client as Redis];
  for (const node of nodes) (node as unknown as { stream?: Duplex }).stream?.destroy(new Error('no answer in time'));
}

/** As which user of Redis it connects. */
export function userOf({ isCluster, options }: Client): string {
  const { redisOptions, username } = options as RedisOptions & { redisOptions?: RedisOptions };
  return (isCluster ? redisOptions?.username : username) || 'default';
}

/** In which database its commands run: the one that it selected last or, where it has not connected yet, is to select. On a cluster 0. */
export function databaseOf(client: Client): number {
  const { condition, options } = client as unknown as { condition?: { select?: number } | null; options: RedisOptions };
  return condition?.select ?? (Number(options.db) || 0);
}

/** By its methods, never by `instanceof`: the application may hold another copy of ioredis. */
function isClient(value: unknown): value is Client {
  return (
    typeof value === 'object' &&
    value !== null &&
    'duplicate' in value &&
    typeof value.duplicate === 'function' &&
    'status' in value
  );
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Options that name no server would mean localhost, where a misspelt host is more likely. */
function requireServer(options: Record<string, unknown>): void {
  if (['host', 'port', 'path', 'sentinels'].some((name) => options[name] !== undefined)) return;
  const given = Object.keys(options).join(', ');
  throw new InvalidOptionsError(
    `RedisScheduledQueueModule: connection: got options without host, port, path or sentinels${given ? ` (${given})` : ''}, expected one of them. A URL is given as it is: connection: '${DEFAULT_CONNECTION}'.`,
  );
}

function readCluster(cluster: unknown): { nodes: ClusterNode[]; options: ClusterOptions } {
  if (isPlainObject(cluster) && Array.isArray(cluster.nodes) && cluster.nodes.length > 0) {
    for (const [i, node] of cluster.nodes.entries()) {
      if (typeof node === 'string')
        requireReadable(node, `RedisScheduledQueueModule: connection: cluster: nodes[${i}]`);
    }
    return { nodes: cluster.nodes as ClusterNode[], options: (cluster.options ?? {}) as ClusterOptions };
  }
  throw new InvalidOptionsError(
    `RedisScheduledQueueModule: connection: cluster: got ${typeof cluster === 'string' ? withoutSecrets(cluster) : describe(cluster)}, expected { nodes: [{ host, port }, …], options? } with at least one node.`,
  );
}
