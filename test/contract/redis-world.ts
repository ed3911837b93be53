import { Redis } from 'ioredis';
import type { QueueSettings } from '../../lib/core/options/queue-options.js';
import { RedisJobStore } from '../../lib/store/redis/redis-job-store.js';
import { asDocumentedUser, PREFIXES_OF_TESTS } from '../support/acl.js';
import { audit } from '../support/audit.js';
import type { ManualClock } from '../support/manual-clock.js';
import { newPrefix } from '../support/queue-app.js';
import { snapshot } from '../support/snapshot.js';
import { type StoppedRedis, startStoppedRedis } from '../support/stopped-redis.js';
import { World } from './world.js';

const silent = { log: () => {}, warn: () => {}, error: () => {} };

/**
 * Redis, whose clock and this process's monotonic one stand still until the world lets time pass. The store may run the commands that
 * docs/security.md allows, and no others.
 */
export class RedisWorld extends World {
  private prefix = '';
  private readonly redis: Redis;
  private readonly monotonic = performance.now;

  private constructor(
    clock: ManualClock,
    private readonly server: StoppedRedis,
    private readonly connection: string,
  ) {
    super(clock);
    this.redis = new Redis(server.url);
    performance.now = () => clock.now();
  }

  static async start(clock: ManualClock): Promise<RedisWorld> {
    const server = await startStoppedRedis(clock.wallNow());
    return new RedisWorld(clock, server, await asDocumentedUser(server.url, PREFIXES_OF_TESTS));
  }

  protected open(settings: QueueSettings): RedisJobStore {
    this.prefix = newPrefix();
    return new RedisJobStore({
      connection: this.connection,
      prefix: this.prefix,
      commandTimeoutMs: 5_000,
      settingsOf: () => settings,
      codecs: { decodes: true, writes: 'json' },
      log: silent,
      random: () => 0,
    });
  }

  override pass(ms: number): void {
    super.pass(ms);
    this.server.setTime(this.now());
  }

  override jump(ms: number): void {
    super.jump(ms);
    this.server.setTime(this.now());
  }

  /** Every index is true, and nothing outlives its job. */
  async audit(): Promise<string[]> {
    const { failures, envelopes } = await snapshot(this.redis, this.prefix);
    const orphans = [...failures.keys()].filter((id) => !envelopes.has(id));
    return [...(await audit(this.redis, this.prefix)), ...orphans.map((id) => `${id} has failures and is nowhere`)];
  }

  override async stop(): Promise<void> {
    performance.now = this.monotonic;
    this.redis.disconnect();
    await this.server.stop();
  }
}
