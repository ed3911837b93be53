import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { ConnectionOption } from 'nestjs-redis-scheduled-queue';
import { TestCluster } from '../support/redis-cluster.js';
import { TestSentinels } from '../support/redis-sentinel.js';
import type { OwnRedisServer } from '../support/redis-server.js';
import { until } from '../support/wait.js';

const FAILOVER_WITHIN_MS = 60_000;
/** For so long the primary writes for itself before it is killed: on one machine a replica is otherwise never behind. */
const CUT_MS = 300;

/** Servers of which one, the primary, has the queue `default`. */
export class Topology {
  private killed?: OwnRedisServer;

  private constructor(
    readonly connection: ConnectionOption,
    /** The primary, and those that may take its place. */
    private readonly servers: readonly OwnRedisServer[],
    readonly stop: () => Promise<void>,
    private readonly sentinels: TestSentinels['sentinels'] = [],
  ) {}

  /** `cluster`: three masters with a replica each. `sentinel`: a primary with two replicas, and three sentinels. */
  static async start(kind: string): Promise<Topology> {
    if (kind === 'cluster') {
      const cluster = await TestCluster.start(3);
      const { server, index } = await cluster.homeOf('{default}');
      const nodes = cluster.nodes;
      return new Topology({ cluster: { nodes } }, [server, cluster.servers[index + 3]!], () => cluster.stop());
    }
    if (kind === 'sentinel') {
      const watched = await TestSentinels.start(2);
      const { primary, replicas } = watched;
      await firstThatIs('state=online', [primary]);
      const connection = { sentinels: [...watched.sentinels], name: 'main' };
      return new Topology(connection, [primary, ...replicas], () => watched.stop(), watched.sentinels);
    }
    throw new Error(`--kind: got '${kind}', expected 'cluster' or 'sentinel'.`);
  }

  /** Asked each time: on a busy machine a failover may come by itself. */
  primary(): Promise<OwnRedisServer> {
    return firstThatIs('role:master', this.servers);
  }

  /** Resolves once another server is the primary, which has fewer replicas then. What was written in the last moments it does not have. */
  async killPrimary(): Promise<void> {
    this.killed = await this.primary();
    await cutReplication(this.killed);
    await sleep(CUT_MS);
    await this.killed.kill();
    const others = this.servers.filter((server) => server !== this.killed);
    const { port } = await firstThatIs('role:master', others);
    // Until then clients and the other replica are sent to the killed one, which will come back with nothing.
    await Promise.all(this.sentinels.map((sentinel) => names(sentinel, port)));
  }

  /** Starts the one that was killed again. Resolves once it follows the primary, as sentinels or the cluster tell it. */
  async bringBack(): Promise<void> {
    await this.killed!.restart();
    await firstThatIs('master_link_status:up', [this.killed!]);
  }
}

/** Its replicas lose their connection, and cannot make another one; clients keep theirs. Until the server is started again. */
async function cutReplication(server: OwnRedisServer): Promise<void> {
  const redis = new Redis(server.url);
  try {
    await redis.config('SET', 'requirepass', 'cut');
    await redis.call('CLIENT', 'KILL', 'TYPE', 'replica');
  } finally {
    redis.disconnect();
  }
}

async function names(sentinel: { host: string; port: number }, primaryPort: number): Promise<void> {
  const redis = new Redis(sentinel);
  try {
    await until(
      'the sentinel names the new primary',
      async () => {
        const [, port] = (await redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main')) as string[];
        return Number(port) === primaryPort;
      },
      FAILOVER_WITHIN_MS,
    );
  } finally {
    redis.disconnect();
  }
}

/** Answers the first server in whose replication this line stands, once there is one. */
async function firstThatIs(line: string, servers: readonly OwnRedisServer[]): Promise<OwnRedisServer> {
  const clients = servers.map(({ url }) => new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: 0 }));
  for (const client of clients) client.on('error', () => {});
  try {
    return await until(
      `one of ${servers.map(({ url }) => url)} is ${line}`,
      async () => {
        const infos = await Promise.all(clients.map((client) => client.info('replication').catch(() => '')));
        return servers[infos.findIndex((info) => info.includes(line))];
      },
      FAILOVER_WITHIN_MS,
    );
  } finally {
    for (const client of clients) client.disconnect();
  }
}
