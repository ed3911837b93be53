import { Redis } from 'ioredis';
import { type OwnRedisServer, startOwnServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/wait.js';
import type { History } from './history.js';
import type { Connected } from './member.js';
import { QueuesUnderTest } from './queues-under-test.js';

const ANSWERS_WITHIN_MS = 5_000;
/** Every write is on disk before it is answered, so that nothing that was answered may be missing after a kill. */
const OPTIONS = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** The Redis that all processes use, and a connection of the harness that no fault but Redis' own stands in the way of. */
export class RedisUnderTest extends QueuesUnderTest {
  private constructor(
    readonly server: OwnRedisServer,
    private readonly client: Redis,
    history: History,
  ) {
    super(history);
    this.watchClock(client);
  }

  static async start(history: History, logFile: string): Promise<RedisUnderTest> {
    const server = await startOwnServer(...OPTIONS, '--logfile', logFile);
    const client = new Redis(server.url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: 1_000,
      retryStrategy: () => 50,
    });
    client.on('error', () => {});
    return new RedisUnderTest(server, client, history);
  }

  /** Behind a proxy of its own, so that a connection fault hits one process. */
  async connect(): Promise<Connected> {
    const proxy = await TcpProxy.start(this.server.url);
    return { connection: proxy.url, proxy };
  }

  /** The connection of the harness, once Redis answers again. Throws where it does not come back. */
  async answering(): Promise<Redis> {
    const answers = () =>
      this.client.ping().then(
        () => true,
        () => false,
      );
    await until('Redis answers', answers, ANSWERS_WITHIN_MS);
    return this.client;
  }

  homeOf(): Redis {
    return this.client;
  }

  protected async stopServers(): Promise<void> {
    this.client.disconnect();
    this.server.process.kill('SIGCONT');
    await this.server.stop();
  }
}
