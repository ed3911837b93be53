import type { Redis } from 'ioredis';
import { PLAIN_SCHEMA, SCHEMA } from '../../../core/constants.js';
import { VERSION } from '../../../core/version.js';
import { baseOf, keysOf } from '../keys.js';
import { type Client, userOf } from '../link/client.js';
import { sendScript } from '../link/send-script.js';
import { permissionsScript, schemaScript } from '../scripts/server/contract.js';
import { inAcl, type PermissionLog } from './permission-log.js';
import { twoPrimaries } from './server-info.js';

/** How long a refusal is not asked about again. Workers ask every second; of many calls at once, one asks for all. */
const ASK_AGAIN_MS = 500;
const UNNAMED = /can't run this command/;

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
 * goes on in database 0. The server must be the only one that takes writes, must let scripts use keys whose names they make, and must have
 * every command that the scripts use, and the user must be allowed it: a script that lacks one stops half-way. Before the first call about
 * a queue its data must have a schema that this version knows: another one would be misread, and damaged. After a refusal it checks again,
 * so that a correction in Redis needs no restart here.
 */
export class ReadyCheck {
  private database?: Trial;
  private permissions?: Trial;
  /** By what the keys of a queue begin with. */
  private readonly schemas = new Map<string, Trial>();
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

  /** Whether the present connection is known to be fit for a call that uses `key`; without one only the database matters. */
  isPassed(key?: string): boolean {
    if (!this.hasDatabase) return false;
    return key === undefined || (this.isGood(this.permissions) && this.isGood(this.schemas.get(baseOf(key))));
  }

  get hasDatabase(): boolean {
    return this.number === 0 || this.isGood(this.database);
  }

  /** `key`: any key of the queue that the next call is about; without it only the database is checked. Rejects with `Unfit`, or with the client's error. */
  async pass(key?: string): Promise<void> {
    if (this.number !== 0) {
      this.database = this.again(this.database) ?? this.try(() => this.select());
      await this.database.result;
    }
    if (key === undefined) return;
    this.permissions = this.again(this.permissions) ?? this.try(() => this.tryCommands(key));
    await this.permissions.result;
    const base = baseOf(key);
    const schema = this.again(this.schemas.get(base)) ?? this.try(() => this.readSchema(base));
    this.schemas.set(base, schema);
    await schema.result;
  }

  /** A command was refused, so a permission may have been taken away. */
  doubt(): void {
    this.permissions = undefined;
  }

  /** In Redis 7.0 the refusal of a command in a script does not say which one: the refusal, and what is missing. */
  async named(refusal: string, key: string): Promise<string> {
    if (!UNNAMED.test(refusal)) return refusal;
    const missing = await this.missing(key, true).catch(() => []);
    return missing.length === 0
      ? refusal
      : `NOPERM the user '${userOf(this.client)}' lacks ${inAcl(missing)}: ${refusal}`;
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
    const refusal = twoPrimaries(await this.client.info('replication').catch(() => ''));
    if (refusal) throw new Unfit(`UNSUPPORTED ${refusal}`);
    const missing = await this.missing(key, false).catch((error: Error) => {
      throw error.message.startsWith('UNSUPPORTED') ? new Unfit(error.message) : error;
    });
    if (missing.length === 0) return this.log.complete();
    this.log.missing(userOf(this.client), missing);
    throw new Unfit(
      `NOPERM the user '${userOf(this.client)}' lacks ${inAcl(missing)}, and jobs would be left half done. Give them by ACL SETUSER.`,
    );
  }

  private async readSchema(base: string): Promise<void> {
    const { name, keys, encode } = schemaScript(keysOf(base));
    const found = (await sendScript(this.client, name, keys, encode({}))) as string;
    const schema = Number(found);
    if (schema >= PLAIN_SCHEMA && schema <= SCHEMA) return;
    throw new Unfit(
      `SCHEMA ${base.slice(0, -1)} holds data of schema ${found} (HGET ${base}stats schema), and this version (${VERSION}) knows schema ${PLAIN_SCHEMA} to ${SCHEMA}. Nothing was changed. Deploy the version that wrote it here too, or use another prefix: see docs/upgrading.md.`,
    );
  }

  private async missing(key: string, all: boolean): Promise<string[]> {
    const base = baseOf(key);
    const { name, keys, encode } = permissionsScript({ base });
    return (await sendScript(this.client, name, keys, encode({ base, all }))) as string[];
  }
}
