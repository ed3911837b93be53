import type { Log } from '../../../core/log.js';
import type { Client } from '../link/client.js';

/** The scripts use ZRANGE BYSCORE and SMISMEMBER, which this version brought. */
const OLDEST_VERSION = [6, 2] as const;

/**
 * Looks once, when a store first has a connection, whether this Redis can be trusted with jobs, and warns where it cannot.
 * Nothing waits for it, and where Redis does not say (a managed one may forbid INFO) it is silent.
 */
export class Preflight {
  private state: 'to do' | 'asking' | 'done' = 'to do';

  constructor(private readonly log: Log) {}

  watch(client: Client): void {
    client.on('ready', () => void this.look(client));
  }

  private async look(client: Client): Promise<void> {
    if (this.state !== 'to do') return;
    this.state = 'asking';
    try {
      // A section at a time: before Redis 7, INFO takes one. On a cluster any node answers; they should be alike.
      const info = `${await client.info('server')}\n${await client.info('memory')}`;
      this.state = 'done';
      this.checkVersion(field(info, 'redis_version'));
      this.checkEviction(field(info, 'maxmemory_policy'));
    } catch {
      // Where the connection has gone, the next one asks again; a refusal would be the same then.
      this.state = client.status === 'ready' ? 'done' : 'to do';
    }
  }

  private checkVersion(version: string | undefined): void {
    const parts = version?.match(/^(\d+)\.(\d+)/);
    if (!parts) return;
    const [major, minor] = [Number(parts[1]), Number(parts[2])];
    if (major > OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor >= OLDEST_VERSION[1])) return;
    this.log.warn(
      `Redis is of version ${version}, and ${OLDEST_VERSION.join('.')} or later is needed: workers cannot claim. Upgrade it.`,
    );
  }

  private checkEviction(policy: string | undefined): void {
    if (!policy || policy === 'noeviction') return;
    const loss = policy.startsWith('allkeys-')
      ? 'when its memory is full it deletes jobs, whole lanes of them, without a word'
      : 'when its memory is full it deletes what tells a repeated call from a new one, so that jobs may be there twice';
    this.log.warn(`Redis has the eviction policy '${policy}': ${loss}. Set maxmemory-policy noeviction.`);
  }
}

function field(info: string, name: string): string | undefined {
  return info.match(new RegExp(`^${name}:(.*?)\\r?$`, 'm'))?.[1];
}
