import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { type ShiftedRedis, startShiftedRedis } from '../../support/shifted-redis.js';
import { until } from '../../support/wait.js';

const HOUR_S = 3_600;
const LEASE_MS = 1_500;
/** More than a lease after its jump, so that what is taken for dead by mistake has been. */
const LONG_MS = 2.5 * LEASE_MS;

let redis: ShiftedRedis | undefined;

beforeAll(async () => {
  const started = await startShiftedRedis();
  if ('missing' in started) process.stdout.write(`The tests of Redis' clock are left out: ${started.missing}\n`);
  else redis = started;
});

afterEach(async () => {
  await stopApps();
  await redis?.shift(0);
});

afterAll(() => redis?.stop());

class Handlers {
  static runs: string[] = [];

  @OnScheduledJob('long')
  async long(_payload: unknown, { id }: ScheduledJob): Promise<void> {
    Handlers.runs.push(id);
    await sleep(LONG_MS);
  }

  @OnScheduledJob('short')
  short(_payload: unknown, { id }: ScheduledJob): void {
    Handlers.runs.push(id);
  }
}

let apps: QueueApp[] = [];
let log: LogLines;

beforeEach(async () => {
  Handlers.runs = [];
  log = new LogLines();
  if (!redis) return;
  const options = {
    connection: redis.url,
    prefix: newPrefix(),
    queues: { default: { leaseMs: LEASE_MS, concurrency: 30 } },
  };
  const start = () => startApp([Handlers], options, { log });
  apps = [await start(), await start()];
});

/** Twenty running jobs, spread over both workers. */
async function runLong(): Promise<string[]> {
  const refs = await apps[0]!.producer.scheduleMany(Array.from({ length: 20 }, () => ({ job: 'long', payload: null })));
  await until('they run', () => Handlers.runs.length === refs.length);
  return refs.map(({ id }) => id);
}

const runsOf = (ids: string[]) => Handlers.runs.filter((id) => ids.includes(id));

it("when Redis' clock jumps an hour ahead, what is due in that hour runs at once, and no running job runs twice", async () => {
  if (!redis) return;
  const { producer, inspector } = apps[0]!;
  const soon = await producer.schedule('short', null, { delay: '30m' });
  const later = await producer.schedule('short', null, { delay: '2h' });
  const long = await runLong();
  await redis.shift(HOUR_S);
  await until('the job of that hour has run', () => Handlers.runs.includes(soon.id));
  await until('the long ones have ended', async () => (await inspector.stats()).completed === long.length + 1);
  expect(runsOf(long)).toHaveLength(long.length);
  expect(Handlers.runs).not.toContain(later.id);
  expect(await inspector.stats()).toMatchObject({ recovered: 0, failed: 0 });
  expect(await inspector.counts()).toMatchObject({ scheduled: 1, active: 0 });
  // Each process tells it once, of however many calls notice it.
  expect(log.starting('warn The clock of Redis went 3600 s ahead: ')).toHaveLength(2);
});

it("when Redis' clock jumps an hour back, running jobs end once, new ones run at once, and only what was due before is late", async () => {
  if (!redis) return;
  const { producer, inspector } = apps[0]!;
  const before = await producer.schedule('short', null, { delay: 2_000 });
  const long = await runLong();
  await redis.shift(-HOUR_S);
  const now = await producer.schedule('short', null);
  await until('a new one has run', () => Handlers.runs.includes(now.id));
  const delayed = await producer.schedule('short', null, { delay: 500 });
  await until('a new one with a delay has run', () => Handlers.runs.includes(delayed.id));
  await until('the long ones have ended', async () => (await inspector.stats()).completed === long.length + 2);
  expect(runsOf(long)).toHaveLength(long.length);
  expect(Handlers.runs).not.toContain(before.id);
  expect(await inspector.stats()).toMatchObject({ recovered: 0, failed: 0 });
  expect(log.starting('warn The clock of Redis went back by 3600 s: ')).toHaveLength(2);
  // Once the clock is right again, it is due.
  await redis.shift(0);
  await until('it has run', () => Handlers.runs.includes(before.id));
});
