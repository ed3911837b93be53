import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import pg from 'pg';
import { OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { hasPostgres, OwnPostgres, PooledDatabase, type Query } from '../../support/postgres.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { seededRandom } from '../../support/random.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { Appointments, Database, SCHEMA } from '../docs/transactions/outbox.js';

const ROWS = 5_000;
const KILLS = 50;
const AWAY_MS = 5_000;
const DUE = new Date('2026-01-01T10:00:00Z');

const closing: (() => unknown)[] = [];
afterEach(async () => {
  await stopApps();
  for (const close of closing.splice(0).reverse()) await close();
});

class Reminders {
  readonly counts = new Map<string, number>();

  @OnScheduledJob('appointment.remind')
  remind({ appointment }: { appointment: string }, _job: ScheduledJob): void {
    this.counts.set(appointment, (this.counts.get(appointment) ?? 0) + 1);
  }
}

class SometimesRolledBack extends PooledDatabase {
  rollsBack = false;

  override transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return super.transaction(async (query) => {
      const answer = await work(query);
      if (this.rollsBack) throw new Error('rolled back');
      return answer;
    });
  }
}

if (!hasPostgres && process.env.CI)
  process.stderr.write('PostgreSQL is not installed: the relays of docs/transactions.md are not killed.\n');

// Needs processes that share a database, which PGlite is not.
(hasPostgres ? it : it.skip)(
  'two relays of docs/transactions.md, killed again and again: each committed row runs once, and no other',
  async () => {
    const postgres = await OwnPostgres.start();
    closing.push(() => postgres.stop());
    const server: OwnRedisServer = await startOwnServer();
    closing.push(() => server.stop());
    const proxy = await TcpProxy.start(server.url);
    closing.push(() => proxy.stop());
    const pool = new pg.Pool({ connectionString: postgres.url });
    closing.push(() => pool.end());
    await pool.query(SCHEMA);
    const prefix = newPrefix();
    const database = new SometimesRolledBack(pool);
    const { get } = await startApp([Reminders, Appointments, { provide: Database, useValue: database }], {
      connection: server.url,
      prefix,
    });

    let isOver = false;
    let kills = 0;
    const random = seededRandom(7);
    const relayer = async (): Promise<void> => {
      while (!isOver) {
        const child: ChildProcess = fork('dist-test/test/e2e/docs/transactions-relayer.js', {
          env: { ...process.env, REDIS: proxy.url, PREFIX: prefix, POSTGRES: postgres.url, NODE_OPTIONS: '' },
          execArgv: [],
        });
        closing.push(() => child.kill('SIGKILL'));
        const ended = once(child, 'exit');
        await Promise.race([once(child, 'message'), ended]);
        if (kills >= KILLS) await until('all is done', () => isOver);
        else await sleep(20 + 300 * random());
        child.kill('SIGKILL');
        kills++;
        await ended;
      }
    };
    const relayers = Promise.all([relayer(), relayer()]);

    const appointments = get(Appointments);
    const committed: string[] = [];
    for (let n = 0; n < ROWS; n++) {
      const isRolledBack = random() < 0.1;
      database.rollsBack = isRolledBack;
      const booked = appointments.book(`row ${n}`, DUE);
      if (isRolledBack) await expect(booked).rejects.toThrow('rolled back');
      else committed.push(await booked.then(() => `row ${n}`));
      if (n === ROWS / 2) {
        proxy.refuse();
        void sleep(AWAY_MS).then(() => proxy.accept());
      }
    }
    const { counts } = get(Reminders);
    await until(
      `${KILLS} relays were killed, and all rows were handed over`,
      async () => {
        const { rows } = await pool.query('SELECT count(*)::int AS left FROM outbox');
        return kills >= KILLS && rows[0].left === 0;
      },
      240_000,
    );
    await until('all have run', () => counts.size >= committed.length);
    isOver = true;
    await relayers;
    expect([...counts.keys()].sort()).toEqual(committed.sort());
    expect([...counts].filter(([, count]) => count !== 1)).toEqual([]);
  },
  300_000,
);
