import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, type OwnRedisServer, serverOnPath, startOwnServer } from './redis-server.js';
import { type Certificates, startTlsServer } from './tls.js';
import { until } from './wait.js';

const SENTINELS = 3;

/** A primary, its replicas, and three sentinels that watch them under the name `main`. */
export class TestSentinels {
  private constructor(
    readonly primary: OwnRedisServer,
    readonly replicas: readonly OwnRedisServer[],
    readonly sentinels: readonly { host: string; port: number; tlsPort: number }[],
    private readonly end: () => void,
  ) {}

  /** With certificates all of them speak TLS with each other, and the sentinels with clients too, at their `tlsPort`. */
  static async start(replicaCount = 1, certificates?: Certificates): Promise<TestSentinels> {
    const startServer = (...options: string[]): Promise<OwnRedisServer & { tlsPort?: number }> =>
      certificates ? startTlsServer(certificates, ...options) : startOwnServer(...options);
    // Else each replica waits five seconds for others before its first copy, and sentinels wait for it in a failover.
    const options = ['--repl-diskless-sync-delay', '0'];
    const primary = await startServer(...options);
    const primaryPort = primary.tlsPort ?? primary.port;
    const replicaOf = ['--replicaof', '127.0.0.1', String(primaryPort), ...options];
    const replicas = await Promise.all(Array.from({ length: replicaCount }, () => startServer(...replicaOf)));
    const sentinels = await Promise.all(
      Array.from({ length: SENTINELS }, async () => ({
        host: '127.0.0.1',
        port: await freePort(),
        tlsPort: await freePort(),
      })),
    );
    const processes = sentinels.map(({ port, tlsPort }) => {
      const file = join(primary.directory, `sentinel-${port}.conf`);
      const lines = [
        `port ${port}`,
        'bind 127.0.0.1',
        `dir ${primary.directory}`,
        ...(certificates ? [`tls-port ${tlsPort}`, ...certificates.lines] : []),
        `sentinel monitor main 127.0.0.1 ${primaryPort} 2`,
        'sentinel down-after-milliseconds main 500',
        'sentinel failover-timeout main 2000',
      ];
      writeFileSync(file, lines.join('\n'));
      return spawn(serverOnPath()!, [file, '--sentinel'], { stdio: 'ignore' });
    });
    const end = () => {
      for (const child of processes) child.kill('SIGKILL');
    };
    process.once('exit', end);
    const all = new TestSentinels(primary, replicas, sentinels, end);
    await all.untilTheyKnowEachOther();
    return all;
  }

  /** The first one. */
  get replica(): OwnRedisServer {
    return this.replicas[0]!;
  }

  async stop(): Promise<void> {
    process.off('exit', this.end);
    this.end();
    await Promise.all([this.primary, ...this.replicas].map((server) => server.stop()));
  }

  private async untilTheyKnowEachOther(): Promise<void> {
    for (const { port } of this.sentinels) {
      const client = new Redis(port, { retryStrategy: () => 50, maxRetriesPerRequest: null });
      client.on('error', () => {});
      try {
        await until('the sentinels know each other', async () => {
          const [others, replicas] = await Promise.all([
            client.call('SENTINEL', 'SENTINELS', 'main') as Promise<unknown[]>,
            client.call('SENTINEL', 'REPLICAS', 'main') as Promise<unknown[]>,
          ]);
          return others.length === SENTINELS - 1 && replicas.length === this.replicas.length;
        });
      } finally {
        client.disconnect();
      }
    }
  }
}
