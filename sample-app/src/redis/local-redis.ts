import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type RedisServer, startRedis } from '../../../test/support/redis-server.js';

/** The Redis of this app: the one that REDIS_URL names, or one of its own, which ends with the app. */
@Injectable()
export class LocalRedis implements OnApplicationShutdown {
  static async start(): Promise<LocalRedis> {
    const logger = new Logger('Redis');
    const server = await startRedis((line) => logger.log(line));
    logger.log(`Using ${server.origin}.`);
    return new LocalRedis(server);
  }

  private constructor(private readonly server: RedisServer) {}

  get url(): string {
    return this.server.url;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.server.stop();
  }
}
