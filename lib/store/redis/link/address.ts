import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { firstFew } from '../../../core/read/describe.js';
import { withoutCredentials } from './call-error.js';
import type { Client } from './client.js';

/** How many nodes or sentinels are told; the others are counted. */
const NODES_TOLD = 3;

/** Where a client connects to, for the log and for errors: server and database, never a user or a password. */
export function addressOf(client: Client): string {
  if (client.isCluster) return `the cluster at ${listed(nodesOf(client as Cluster))}`;
  const { host, port, path, db, tls, sentinels, name } = (client as Redis).options;
  const database = Number(db) || 0;
  if (sentinels && sentinels.length > 0)
    return `the primary '${name}' of the sentinels ${listed(sentinels)}, database ${database}`;
  if (path) return `the socket ${withoutCredentials(path)}, database ${database}`;
  return `${tls ? 'rediss' : 'redis'}://${hostAndPort({ host, port })}/${database}`;
}

/** The passwords that a client was given, which no message may hold. */
export function secretsOf(client: Client): string[] {
  const options = client.options as RedisOptions & { redisOptions?: RedisOptions };
  return [options, options.redisOptions].flatMap((each) =>
    [each?.password, each?.sentinelPassword].filter((secret): secret is string => typeof secret === 'string'),
  );
}

/** As they were given: a cluster that cannot be reached knows no others. ioredis keeps them, though its types do not say so. */
function nodesOf(cluster: Cluster): readonly unknown[] {
  const { startupNodes } = cluster as unknown as { startupNodes?: readonly unknown[] };
  return startupNodes ?? cluster.nodes('all').map(({ options }) => options);
}

function listed(nodes: readonly unknown[]): string {
  return firstFew(nodes.map(hostAndPort), NODES_TOLD);
}

/** A node is a port, a URL with or without its scheme, or an object. */
function hostAndPort(node: unknown): string {
  if (typeof node === 'number') return `127.0.0.1:${node}`;
  if (typeof node === 'string') return node.replace(/^([a-z]+:)?\/\//i, '').replace(/^.*@|[/?#].*$/g, '');
  const { host, port } = node as { host?: string | null; port?: number | null };
  const name = withoutCredentials(String(host ?? 'localhost'));
  return `${name.includes(':') ? `[${name}]` : name}:${port ?? 6379}`;
}
