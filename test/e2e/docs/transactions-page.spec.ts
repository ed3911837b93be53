import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Provider } from '@nestjs/common';
import { Redis } from 'ioredis';
import { OnScheduledJob, type PreparedJob, ScheduledJob } from '../../../lib/index.js';
import type { Query } from '../../support/postgres.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { Appointments, Database, OutboxRelay, SCHEMA } from './transactions/outbox.js';
import { Stock, stockKey } from './transactions/stock.js';

// What docs/transactions.md prints, over PGlite; with processes that are killed, over PostgreSQL: test/e2e/faults/transactions-killed.spec.ts.

/** PGlite, whose transactions end where a test says. */
class BreakingDatabase extends Database {
  /** What is thrown in the place of the next statement, or COMMIT, that begins so. */
  breaksAt?: string;

  constructor(private readonly db: PGlite) {
    super();
  }

  async transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return await this.db.transaction(async (transaction) => {
      const answer = await work(async <Row>(sql: string, values?: unknown[]) => {
        this.breakAt(sql);
        return (await transaction.query<Row>(sql, values)).rows;
      });
      this.breakAt('COMMIT');
      return answer;
    });
  }

  private breakAt(sql: string): void {
    if (this.breaksAt === undefined || !sql.startsWith(this.breaksAt)) return;
    this.breaksAt = undefined;
    throw new Error('the process has died');
  }
}

class Reminders {
  readonly reminded: string[] = [];

  @OnScheduledJob('appointment.remind')
  remind({ appointment }: { appointment: string }, _job: ScheduledJob): void {
    this.reminded.push(appointment);
  }
}

const PAST = new Date('2026-01-01T10:00:00Z');

let db: PGlite;
let database: BreakingDatabase;
let app: QueueApp;
let relay: OutboxRelay;

beforeAll(async () => {
  db = await PGlite.create();
  await db.exec(SCHEMA);
});
beforeEach(async () => {
  await db.exec('DELETE FROM appointments; DELETE FROM outbox');
  database = new BreakingDatabase(db);
});
afterEach(stopApps);
afterAll(() => db.close());

const outbox = async () =>
  (await db.query<{ id: number; refused: string | null }>('SELECT id, refused FROM outbox')).rows;

/** Where the relay is no provider, nothing but the calls of the test relays. */
async function start(connection?: string, relays: Provider[] = []): Promise<void> {
  const providers = [Appointments, Reminders, { provide: Database, useValue: database }, ...relays];
  app = await startApp(providers, { ...(connection && { connection }), commandTimeoutMs: 2_000 });
  // To the compiler, what the page imports by the name of the package is another class.
  relay = new OutboxRelay(database, app.producer as never);
}

describe('the outbox', () => {
  it('is looked at by itself', async () => {
    await start(undefined, [OutboxRelay]);
    await app.get(Appointments).book('a', PAST);
    await until('it is reminded', () => app.get(Reminders).reminded.length === 1);
  });

  it('hands over what is committed, once, and nothing that was rolled back', async () => {
    await start();
    const appointments = app.get(Appointments);
    await appointments.book('a', PAST);
    database.breaksAt = 'COMMIT';
    await expect(appointments.book('rolled back', PAST)).rejects.toThrow('died');
    await appointments.book('b', PAST);
    expect(app.get(Reminders).reminded).toEqual([]);
    expect(await relay.relay()).toBe(2);
    expect(await relay.relay()).toBe(0);
    await until('both are reminded', () => app.get(Reminders).reminded.length === 2);
    expect(app.get(Reminders).reminded.sort()).toEqual(['a', 'b']);
  });

  it('holds what the page shows', async () => {
    await start();
    await app.get(Appointments).book('a', PAST);
    const [, shown] = readFileSync('docs/transactions.md', 'utf8').match(/^```json\n(.*?)^```$/ms)!;
    const { rows } = await db.query<{ job: PreparedJob }>('SELECT job FROM outbox');
    expect(rows.map(({ job }) => job)).toEqual([
      { ...JSON.parse(shown!), id: expect.stringMatching(/^[0-9a-z]{18}$/) },
    ]);
  });

  it.each(['SELECT', 'DELETE', 'COMMIT'])('goes on where a relay has died before its %s', async (statement) => {
    await start();
    await app.get(Appointments).book(statement, PAST);
    database.breaksAt = statement;
    await expect(relay.relay()).rejects.toThrow('died');
    if (statement !== 'SELECT') await until('it has run', () => app.get(Reminders).reminded.length === 1);
    expect(await relay.relay()).toBe(1);
    expect(await outbox()).toEqual([]);
    await until('it has run', () => app.get(Reminders).reminded.length === 1);
    // Of one that was handed over a second time nothing is there to run.
    await until('it is settled', async () => (await app.inspector.counts()).active === 0);
    expect(await app.inspector.counts()).toMatchObject({ due: 0, scheduled: 0 });
    expect(app.get(Reminders).reminded).toEqual([statement]);
  });

  it('keeps a row that is refused, says why, and hands over the others', async () => {
    await start();
    await app.get(Appointments).book('a', PAST);
    const bad: object = { ...(await app.producer.prepare('work', 1)), format: 2 };
    await db.query('INSERT INTO outbox (job) VALUES ($1)', [bad]);
    await app.get(Appointments).book('b', PAST);
    expect(await relay.relay()).toBe(3);
    expect(await outbox()).toEqual([{ id: expect.anything(), refused: expect.stringContaining('format: got 2') }]);
    await until('the others are reminded', () => app.get(Reminders).reminded.length === 2);
    expect(await relay.relay()).toBe(0);
  });

  it('passes over a queue that cannot be used, and names an id that another job has', async () => {
    await start();
    await app.producer.schedule('other', 1, { id: 'mine', delay: '1h' });
    await app.get(Appointments).book('a', PAST);
    const redis = new Redis(redisUrl());
    await redis.hset(`${app.prefix}:{newer}:stats`, 'schema', '99').finally(() => redis.disconnect());
    for (const options of [{ queue: 'newer' }, { id: 'mine' }])
      await db.query('INSERT INTO outbox (job) VALUES ($1)', [await app.producer.prepare('work', 1, options)]);
    await app.get(Appointments).book('b', PAST);
    expect(await relay.relay()).toBe(4);
    await until('both are reminded', () => app.get(Reminders).reminded.length === 2);
    const { rows } = await db.query<{ job: PreparedJob }>('SELECT job FROM outbox WHERE try_at > now()');
    expect(rows.map(({ job }) => job.queue)).toEqual(['newer']);
    expect(await outbox()).toHaveLength(1);
  });

  it('fills while Redis is away, and empties afterwards', async () => {
    const server: OwnRedisServer = await startOwnServer();
    const proxy = await TcpProxy.start(server.url);
    try {
      await start(proxy.url);
      proxy.refuse();
      await app.get(Appointments).book('a', PAST);
      expect(await relay.relay()).toBe(1);
      expect(await outbox()).toMatchObject([{ refused: null }]);
      // It steps aside for 5 s.
      expect(await relay.relay()).toBe(0);
      proxy.accept();
      await db.query('UPDATE outbox SET try_at = now()');
      await until('it is handed over', async () => (await relay.relay()) === 0 && (await outbox()).length === 0);
      await until('it is reminded', () => app.get(Reminders).reminded.length === 1);
    } finally {
      await stopApps();
      await proxy.stop();
      await server.stop();
    }
  });
});

it('each sale schedules a look at what is left', async () => {
  const redis = new Redis(redisUrl());
  const article = `article-${process.pid}`;
  const key = stockKey(article);
  try {
    await redis.set(key, 10);
    const { get, inspector } = await startApp([Stock, { provide: Redis, useValue: redis }]);
    const stock = get(Stock);
    await Promise.all([stock.sell(article), stock.sell(article)]);
    expect(await redis.get(key)).toBe('8');
    expect(await inspector.counts()).toMatchObject({ scheduled: 2 });
    await until('it is ordered again', () => stock.reordered.length === 2);
    expect(stock.reordered).toEqual([article, article]);
  } finally {
    await redis.del(key);
    redis.disconnect();
  }
});
