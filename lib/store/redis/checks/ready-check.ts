import type { Redis, RedisOptions } from 'ioredis';
import { baseOf } from '../keys.js';
import type { Client } from '../link/client.js';
import { sendScript } from '../link/send-script.js';
import { permissionsScript } from '../scripts/server/contract.js';
import { inAcl, type PermissionLog } from './permission-log.js';

/** How long a refusal is not asked about again. Workers ask every second; of many calls at once, one asks for all. */
const ASK_AGAIN_MS = 500;

interface Trial {
  /** The connection that was tried. */
  readonly of: unknown;
  result: Promise<void>;
  passed: boolean;
  /** When a refusal may have been put right, a time of `performance.now()`. */
  askAgainAt: number;
}

/** Redis has answered that this connection cannot be used: calls over it would do harm. The message begins with Redis' code. */
export class Unfit extends Error {}

/**
 * Checks once for each connection whether calls may go over it. The connection must use the right database: where SELECT fails, ioredis
 * goes on in database 0. Its user must be allowed every command that the scripts use: a script that lacks one stops half-way. After a
 * refusal it checks again, so that a correction in Redis needs no restart here.
 */
export class ReadyCheck {
  private database?: Trial;
  private permissions?: Trial;
  /** Stands for the connection to a cluster: another object for each new connection. */
  private era = {};
  private readonly number: number;

  constructor(
    private readonly client: Client,
    private readonly log: PermissionLog,
  ) {
    this.number = client.isCluster ? 0 : Number((client as Redis).options.db) || 0;
    if (client.isCluster) {
      client.on('close', () => {
        this.era = {};
      });
    }
  }

  /** Whether the present connection is known to use the right database and, if a script is to run, to have the permissions. */
  isPassed(runsScript: boolean): boolean {
    return this.hasDatabase && (!runsScript || this.isGood(this.permissions));
  }

  get hasDatabase(): boolean {
    return this.number === 0 || this.isGood(this.database);
  }

  /** `key`: any key that the next script uses; without it only the database is checked. Rejects with `Unfit`, or with the client's error. */
  async pass(key?: string): Promise<void> {
    if (this.number !== 0) {
      this.database = this.again(this.database) ?? this.try(() => this.select());
      await this.database.result;
    }
    if (key === undefined) return;
    this.permissions = this.again(this.permissions) ?? this.try(() => this.tryCommands(key));
    await this.permissions.result;
  }

  /** A command was refused, so a permission may have been taken away. */
  doubt(): void {
    this.permissions = undefined;
  }

  /** A client of ioredis makes a new stream for each connection. */
  private get connection(): unknown {
    return this.client.isCluster ? this.era : (this.client as unknown as { stream?: unknown }).stream;
  }

  private isGood(trial: Trial | undefined): boolean {
    return trial?.passed === true && trial.of === this.connection;
  }

  private again(trial: Trial | undefined): Trial | undefined {
    return trial && trial.of === this.connection && performance.now() < trial.askAgainAt ? trial : undefined;
  }

  private try(attempt: () => Promise<void>): Trial {
    const forever = Number.POSITIVE_INFINITY;
    const trial: Trial = { of: this.connection, passed: false, askAgainAt: forever, result: attempt() };
    trial.result.then(
      () => {
        trial.passed = true;
      },
      (error) => {
        trial.askAgainAt = error instanceof Unfit ? performance.now() + ASK_AGAIN_MS : 0;
      },
    );
    return trial;
  }

  /** ioredis sends SELECT when it connects, but does not say how that ended; a second SELECT does. */
  private async select(): Promise<void> {
    try {
      await (this.client as Redis).select(this.number);
    } catch (error) {
      const [, code, why] = (error as Error).message.match(/^(ERR|NOPERM) (.*)/s) ?? [];
      if (code === undefined) throw error;
      throw new Unfit(`${code} database ${this.number} cannot be used: ${why}`);
    }
  }

  private async tryCommands(key: string): Promise<void> {
    const base = baseOf(key);
    const { name, keys, encode } = permissionsScript({ base });
    const missing = (await sendScript(this.client, name, keys, encode({ base }))) as string[];
    if (missing.length === 0) return this.log.complete();
    this.log.missing(this.user, missing);
    throw new Unfit(
      `NOPERM the user '${this.user}' lacks ${inAcl(missing)}, and jobs would be left half done. Give them by ACL SETUSER.`,
    );
  }

  private get user(): string {
    const { options } = this.client as { options: RedisOptions & { redisOptions?: RedisOptions } };
    return (this.client.isCluster ? options.redisOptions : options)?.username || 'default';
  }
}
