import type { Cluster, Redis } from 'ioredis';
import { QueueUnavailableError } from '../../../core/errors.js';
import { DIRECTORY, queueKeys } from '../keys.js';
import { addressOf } from '../link/address.js';
import { type Client, userOf } from '../link/client.js';
import { clockOffsetOf } from '../link/clock-offset.js';
import type { RedisConnection } from '../link/connection.js';
import { sendScript } from '../link/send-script.js';
import { permissionsScript } from '../scripts/server/contract.js';
import { inAcl } from './permission-log.js';

/** How many keys one step of a walk looks at, in a fraction of a millisecond. */
const KEYS_A_STEP = 1_000;

/** What one server has told. */
export interface Told<T> {
  /** Holds no password. */
  readonly address: string;
  readonly told: T;
}

/** The servers that hold queues: one, or each primary of a cluster. Whatever is asked throws `QueueUnavailableError`. */
export class RedisServers {
  constructor(
    private readonly connection: RedisConnection,
    /** Opens another connection, which is closed after use. */
    private readonly openAnother: () => RedisConnection,
    private readonly options: { prefix: string; clustered: boolean; commandTimeoutMs: number },
  ) {}

  /** What each server answers to INFO. */
  info(): Promise<Told<string>[]> {
    return this.each((link) => link.read('text', (client) => client.info(), this.giveUpAt()));
  }

  /** By how many ms the clock of each server is ahead of this process's. */
  clockOffsetsMs(): Promise<Told<number>[]> {
    return this.each((link) => clockOffsetOf(link, this.giveUpAt()));
  }

  /**
   * Calls `each` with every key of the database that begins with the prefix and a colon; with some twice. Looks at about so many keys of each
   * server at the most, and answers whether these were all.
   */
  async eachKey(most: number, each: (key: string) => void): Promise<boolean> {
    const pattern = `${this.options.prefix}:*`;
    const walks = await this.each(async (link) => {
      let cursor = '0';
      for (let looked = 0; looked < most; looked += KEYS_A_STEP) {
        const scan = (client: Client) => client.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_A_STEP);
        const [next, keys] = await link.read('step', scan, this.giveUpAt());
        for (const key of keys) each(key);
        if (next === '0') return true;
        cursor = next;
      }
      return false;
    });
    return walks.every(({ told }) => told);
  }

  /** As which user this process connects. */
  user(): Promise<string> {
    return this.connection.read('text', async (client) => userOf(client), this.giveUpAt());
  }

  /**
   * What the user lacks of all that the library sends, INFO excepted, as ACL SETUSER takes it: commands such as `+zadd`, and patterns. On a
   * cluster the nodes of these queues are asked.
   */
  async lacking(queues: readonly string[]): Promise<string[]> {
    const { prefix, clustered } = this.options;
    const bases = [DIRECTORY, ...(clustered ? queues : [])].map((queue) => queueKeys(prefix, queue).base);
    const lacking = await Promise.all([
      ...bases.flatMap((base) => [
        this.lackingFor(this.connection, (client) => missingIn(client, base)),
        // A script that Redis knows already is sent by its digest, so EVAL has not been tried yet.
        this.lackingFor(this.connection, (client) => client.eval('return {}', 1, `${base}trial`)),
      ]),
      this.lackingForMessages(`${bases[0]}wake:`),
    ]);
    return [...new Set(lacking.flat())];
  }

  private async lackingForMessages(channel: string): Promise<string[]> {
    const another = this.openAnother();
    try {
      const lacking = await this.lackingFor(another, (client) => client.subscribe(channel));
      return lacking.length > 0 ? lacking : await this.lackingFor(another, (client) => client.unsubscribe(channel));
    } finally {
      another.close();
    }
  }

  /** What an attempt is refused for, or what it answers as missing. */
  private async lackingFor(
    connection: RedisConnection,
    attempt: (client: Client) => Promise<unknown>,
  ): Promise<string[]> {
    try {
      const missing = await connection.read('list', async (client) => [await attempt(client)].flat(), this.giveUpAt());
      return missing.filter((each) => typeof each === 'string').map((command) => inAcl([command]));
    } catch (error) {
      if (!(error instanceof QueueUnavailableError) || error.redisCode !== 'NOPERM') throw error;
      const [, command] = /'([\w|-]+)' command/.exec(error.message) ?? [];
      if (command !== undefined) return [inAcl([command])];
      return [`${/channel/.test(error.message) ? '&' : '~'}${this.options.prefix}:{*`];
    }
  }

  private async each<T>(ask: (link: Pick<RedisConnection, 'read'>) => Promise<T>): Promise<Told<T>[]> {
    const servers = await this.servers();
    return Promise.all(
      servers.map(async (server) => {
        const link: Pick<RedisConnection, 'read'> = {
          read: (kind, command, giveUpAt) => this.connection.read(kind, () => command(server), giveUpAt),
        };
        return { address: addressOf(server), told: await ask(link) };
      }),
    );
  }

  private servers(): Promise<Redis[]> {
    const list = async (client: Client) => (client.isCluster ? (client as Cluster).nodes('master') : [client as Redis]);
    return this.connection.read('list', list, this.giveUpAt());
  }

  private giveUpAt(): number {
    return performance.now() + this.options.commandTimeoutMs;
  }
}

/** Which commands the scripts of the library need and may not send. */
async function missingIn(client: Client, base: string): Promise<unknown> {
  const { name, keys, encode } = permissionsScript({ base });
  return sendScript(client, name, keys, encode({ base, all: true }));
}
