import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, type OwnRedisServer, serverOnPath, startOwnServer } from './redis-server.js';
import { until } from './wait.js';

const SENTINELS = 3;

/** A primary, its replica, and three sentinels that watch them under the name `main`. */
export class TestSentinels {
  private constructor(
    readonly primary: OwnRedisServer,
    readonly replica: OwnRedisServer,
    readonly sentinels: readonly { host: string; port: number }[],
    private readonly processes: readonly ChildProcess[],
  ) {}

  static async start(): Promise<TestSentinels> {
    const primary = await startOwnServer();
    const replica = await startOwnServer('--replicaof', '127.0.0.1', String(primary.port));
    const sentinels = await Promise.all(
      Array.from({ length: SENTINELS }, async () => ({ host: '127.0.0.1', port: await freePort() })),
    );
    const processes = sentinels.map(({ port }) => {
      const file = join(primary.directory, `sentinel-${port}.conf`);
      const lines = [
        `port ${port}`,
        'bind 127.0.0.1',
        `dir ${primary.directory}`,
        `sentinel monitor main 127.0.0.1 ${primary.port} 2`,
        'sentinel down-after-milliseconds main 500',
        'sentinel failover-timeout main 2000',
      ];
      writeFileSync(file, lines.join('\n'));
      return spawn(serverOnPath()!, [file, '--sentinel'], { stdio: 'ignore' });
    });
    const all = new TestSentinels(primary, replica, sentinels, processes);
    await all.untilTheyKnowEachOther();
    return all;
  }

  async stop(): Promise<void> {
    for (const child of this.processes) child.kill('SIGKILL');
    await Promise.all([this.primary.stop(), this.replica.stop()]);
  }

  private async untilTheyKnowEachOther(): Promise<void> {
    for (const { port } of this.sentinels) {
      const client = new Redis(port, { retryStrategy: () => 50 });
      client.on('error', () => {});
      try {
        await until(
          'the sentinels know each other',
          async () => {
            const [others, replicas] = await Promise.all([
              client.call('SENTINEL', 'SENTINELS', 'main') as Promise<unknown[]>,
              client.call('SENTINEL', 'REPLICAS', 'main') as Promise<unknown[]>,
            ]);
            return others.length === SENTINELS - 1 && replicas.length === 1;
          },
          20_000,
        );
      } finally {
        client.disconnect();
      }
    }
  }
}
