import { Redis } from 'ioredis';
import { type OwnRedisServer, startOwnServer } from './redis-server.js';
import { until } from './wait.js';

const SLOTS = 16_384;
const MASTERS = 3;
/** What `redis-cli --cluster reshard` gives a key. */
const MIGRATE_TIMEOUT_MS = 60_000;

/** A node that speaks TLS has another port for it, at which it is known to the others. */
type Node = OwnRedisServer & { tlsPort?: number };

/** A cluster of three masters on this machine, the first so many of which have a replica each. */
export class TestCluster {
  private constructor(
    /** The masters first, then the replicas in the order of their masters. */
    readonly servers: readonly Node[],
    private readonly clients: readonly Redis[],
  ) {}

  static async start(
    replicas = 0,
    startNode: (...options: string[]) => Promise<Node> = startOwnServer,
  ): Promise<TestCluster> {
    const options = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000'];
    const starting = Array.from({ length: MASTERS + replicas }, () => startNode(...options));
    const servers = await Promise.all(starting);
    const clients = servers.map(({ port }) => new Redis(port));
    for (const client of clients) client.on('error', () => {});
    const cluster = new TestCluster(servers, clients);
    await cluster.form();
    return cluster;
  }

  get nodes(): { host: string; port: number }[] {
    return this.servers.map(({ port, tlsPort = port }) => ({ host: '127.0.0.1', port: tlsPort }));
  }

  /** Which master had the key when the cluster was formed. */
  async homeOf(key: string): Promise<{ server: OwnRedisServer; client: Redis; slot: number; index: number }> {
    const slot = await this.clients[0]!.cluster('KEYSLOT', key);
    const index = Math.floor(slot / Math.ceil(SLOTS / MASTERS));
    return { server: this.servers[index]!, client: this.clients[index]!, slot, index };
  }

  client(index: number): Redis {
    return this.clients[index]!;
  }

  /**
   * Moves a slot as an operator would: key by key, and `between` after each. Answers how long the key took that took longest, in ms:
   * both servers stand still meanwhile.
   */
  async moveSlot(slot: number, from: number, to: number, between?: () => Promise<unknown>): Promise<number> {
    const [source, target] = [this.clients[from]!, this.clients[to]!];
    const [sourceId, targetId] = await Promise.all([source.cluster('MYID'), target.cluster('MYID')]);
    await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId);
    await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId);
    let longestMs = 0;
    for (;;) {
      const [key] = (await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[];
      if (key === undefined) break;
      const startedAt = performance.now();
      await source.call('MIGRATE', '127.0.0.1', this.servers[to]!.port, key, 0, MIGRATE_TIMEOUT_MS);
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      await between?.();
    }
    for (const client of [target, source]) await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', targetId);
    return longestMs;
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  private async form(): Promise<void> {
    const share = Math.ceil(SLOTS / MASTERS);
    for (const [i, client] of this.clients.slice(0, MASTERS).entries()) {
      const slots = Array.from({ length: Math.min(share, SLOTS - i * share) }, (_, slot) => i * share + slot);
      await client.cluster('ADDSLOTS', ...slots);
    }
    const [{ host, port }] = this.nodes as [{ host: string; port: number }];
    for (const client of this.clients.slice(1)) await client.cluster('MEET', host, port);
    const known = new RegExp(`cluster_known_nodes:${this.servers.length}\\b`);
    await this.untilAll('know each other', async (client) => known.test(await client.cluster('INFO')));
    for (const [i, replica] of this.clients.slice(MASTERS).entries()) {
      await replica.cluster('REPLICATE', await this.clients[i]!.cluster('MYID'));
    }
    await this.untilAll('are whole', async (client) => /cluster_state:ok/.test(await client.cluster('INFO')));
    for (const replica of this.clients.slice(MASTERS)) {
      await until('it follows', async () => (await replica.info('replication')).includes('master_link_status:up'));
    }
    // A master counts a replica a little later, with its first acknowledgement.
    for (const master of this.clients.slice(0, this.servers.length - MASTERS)) {
      await until('it is counted', async () => (await master.info('replication')).includes('state=online'));
    }
  }

  private untilAll(what: string, test: (client: Redis) => Promise<boolean>): Promise<unknown> {
    return until(`all nodes ${what}`, async () => (await Promise.all(this.clients.map(test))).every(Boolean));
  }
}
