import { type ConnectionOption, DEFAULT_CONNECTION } from '../store/redis/link/client.js';
import { readUrl } from '../store/redis/link/connection-url.js';
import type { Options } from './options.js';
import { UsageError } from './usage-error.js';

interface Node {
  host: string;
  port: number;
}

const DEFAULT_PORT = 6379;

/** Where Redis is, as the module's option `connection` says it. Throws `UsageError`, which holds nothing of the URL. */
export function connectionOf(
  { url, cluster, sentinel }: Options,
  env: Readonly<Record<string, string | undefined>>,
): ConnectionOption {
  const source = url === undefined && env.REDIS_URL ? 'REDIS_URL' : '--url';
  const text = url ?? (env.REDIS_URL || DEFAULT_CONNECTION);
  if (cluster && sentinel !== undefined)
    throw new UsageError('got --cluster and --sentinel, expected one of them: which of both does --url name?');
  // A password may hold a comma.
  const hostsFrom = text.lastIndexOf('@') + 1;
  const [first = '', ...others] = text.slice(hostsFrom).split(',');
  const whole = withScheme(text.slice(0, hostsFrom) + first);
  if (!cluster && sentinel === undefined) {
    if (others.length === 0) return whole;
    throw new UsageError(
      `${source}: got ${others.length + 1} nodes, expected one, or --cluster, or --sentinel <master>.`,
    );
  }
  const { username, password, protocol, pathname, ...node } = partsOf(whole, `${source}: node 1`);
  const nodes: Node[] = [
    nodeOf(node),
    ...others.map((each, i) => nodeOf(partsOf(`redis://${each}`, `${source}: node ${i + 2}`))),
  ];
  const isSafe = protocol === 'rediss:';
  const user = {
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(isSafe && { tls: {} }),
  };
  if (cluster) return { cluster: { nodes, options: { redisOptions: user } } };
  const db = Number(pathname.slice(1));
  return {
    ...user,
    ...(isSafe && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
    sentinels: nodes,
    name: sentinel!,
    ...(db > 0 && { db }),
  };
}

/** `localhost:6379` names a server as well. Without this, it would be read as a URL whose scheme is `localhost`. */
function withScheme(text: string): string {
  return text.includes('://') || text.startsWith('/') ? text : `redis://${text}`;
}

function partsOf(url: string, where: string) {
  try {
    const { protocol, username, password, hostname, port, pathname } = readUrl(url);
    if (!/^rediss?:$/.test(protocol) || hostname === '') throw new TypeError();
    return {
      protocol,
      username: decodeURIComponent(username),
      password: decodeURIComponent(password),
      hostname,
      port,
      pathname,
    };
  } catch {
    throw new UsageError(
      `${where} cannot be read, expected host:port, the first also as redis://user:password@host:port. Write special characters of the password as encodeURIComponent does.`,
    );
  }
}

function nodeOf({ hostname, port }: { hostname: string; port: string }): Node {
  // An address of IPv6 stands in brackets in a URL, and nowhere else.
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || DEFAULT_PORT };
}
