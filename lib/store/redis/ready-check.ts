import type { Redis, RedisOptions } from 'ioredis';
import { baseOf, trialKey } from '../keys.js';
import type { Client } from './client.js';
import { inAcl, type PermissionLog } from './permission-log.js';
import { sendScript } from './send-script.js';

/** For so long an answer that refuses is believed: workers ask every second, and many calls at once need it only once. */
const ASK_AGAIN_MS = 500;

interface Trial {
  /** The connection that it is about. */
  readonly of: unknown;
  result: Promise<void>;
  passed: boolean;
  /** When a refusal may have been put right, a time of `performance.now()`. */
  askAgainAt: number;
}

/** Redis answered, and calls over this connection would do harm. The message begins with Redis' code. */
export class Unfit extends Error {}

/**
 * Whether calls may go over a connection, asked once for each that is made: it must use the database that is meant, as ioredis goes
 * on in database 0 where SELECT fails, and its user must be allowed every command of the scripts, as one that lacks a command stops
 * in the middle. A refusal is asked about again, so that what is put right in Redis needs no restart here.
 */
export class ReadyCheck {
  private database?: Trial;
  private permissions?: Trial;
  /** On a cluster: changes with each new connection to it. */
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

  /** Whether the connection that stands is known to use the right database, and to have the permissions if a script is to run. */
  isPassed(runsScript: boolean): boolean {
    return this.hasDatabase && (!runsScript || this.isGood(this.permissions));
  }

  get hasDatabase(): boolean {
    return this.number === 0 || this.isGood(this.database);
  }

  /** `key` is one of those that a script is to use. Rejects with `Unfit`, or with what the client says of the connection. */
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

  /** A client of ioredis makes a new one for each connection. */
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

  /** ioredis has done it as it connected; only a second one tells how it ended. */
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
    const missing = (await sendScript(this.client, 'permissions', [trialKey(key)], [baseOf(key)])) as string[];
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
