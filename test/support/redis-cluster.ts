import { Redis } from 'ioredis';
import { type OwnRedisServer, startOwnServer } from './redis-server.js';
import { until } from './wait.js';

const SLOTS = 16_384;

/** A cluster of three masters on this machine. */
export async function startCluster(): Promise<{ nodes: { host: string; port: number }[]; stop(): Promise<void> }> {
  const servers = await Promise.all(
    [0, 1, 2].map(() => startOwnServer('--cluster-enabled', 'yes', '--cluster-node-timeout', '2000')),
  );
  const clients = servers.map(({ port }) => new Redis(port));
  await assignSlots(clients);
  for (const client of clients.slice(1)) await client.cluster('MEET', '127.0.0.1', servers[0]!.port);
  await until(
    'the cluster is whole',
    async () => {
      const infos = await Promise.all(clients.map((client) => client.cluster('INFO')));
      return infos.every((info) => /cluster_state:ok/.test(info) && /cluster_known_nodes:3/.test(info));
    },
    20_000,
  );
  for (const client of clients) client.disconnect();
  return {
    nodes: servers.map(({ port }) => ({ host: '127.0.0.1', port })),
    stop: () => stopAll(servers),
  };
}

async function assignSlots(clients: Redis[]): Promise<void> {
  const share = Math.ceil(SLOTS / clients.length);
  for (const [i, client] of clients.entries()) {
    const slots = Array.from({ length: Math.min(share, SLOTS - i * share) }, (_, slot) => i * share + slot);
    await client.cluster('ADDSLOTS', ...slots);
  }
}

async function stopAll(servers: OwnRedisServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()));
}
