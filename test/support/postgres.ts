import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { until } from './wait.js';

/** Sends one statement, and answers its rows. */
export type Query = <Row>(sql: string, values?: unknown[]) => Promise<Row[]>;

/** Whether PostgreSQL is installed here. Its programs refuse to run as root: then the user `postgres` has to be there, too. */
export const hasPostgres = spawnSync('initdb', ['--version']).status === 0 && (!isRoot() || owner() !== undefined);

/** Transactions over connections of a pool. */
export class PooledDatabase {
  constructor(readonly pool: pg.Pool) {}

  async transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let failure: Error | undefined;
    try {
      await client.query('BEGIN');
      const answer = await work(async (sql, values) => (await client.query(sql, values)).rows);
      await client.query('COMMIT');
      return answer;
    } catch (error) {
      // Where this is not answered, the connection goes, and the transaction with it.
      await client.query('ROLLBACK').catch((cause) => (failure = cause));
      throw error;
    } finally {
      client.release(failure);
    }
  }
}

/** A PostgreSQL of its own, with an empty database. */
export class OwnPostgres {
  private constructor(
    readonly url: string,
    private readonly stopServer: () => Promise<void>,
  ) {}

  static async start(): Promise<OwnPostgres> {
    const directory = mkdtempSync(join(tmpdir(), 'scheduled-queue-postgres-'));
    const as: { uid?: number; gid?: number } = isRoot() ? owner()! : {};
    if (isRoot()) chownSync(directory, as.uid!, as.gid!);
    const data = join(directory, 'data');
    execFileSync('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync'], {
      ...as,
      cwd: directory,
      stdio: 'ignore',
    });
    const port = await freePort();
    const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', directory, '-F'];
    const server = spawn('postgres', args, { ...as, cwd: directory, stdio: 'ignore' });
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    await until('PostgreSQL answers', async () => {
      const client = new pg.Client(url);
      client.on('error', () => {});
      return await client.connect().then(
        () => client.end().then(() => true),
        () => false,
      );
    });
    return new OwnPostgres(url, async () => {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      // Its clients are cut, not waited for.
      server.kill('SIGINT');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    });
  }

  stop(): Promise<void> {
    return this.stopServer();
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function owner(): { uid: number; gid: number } | undefined {
  const { stdout, status } = spawnSync('id', ['-u', 'postgres'], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  return { uid: Number(stdout), gid: Number(spawnSync('id', ['-g', 'postgres'], { encoding: 'utf8' }).stdout) };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
