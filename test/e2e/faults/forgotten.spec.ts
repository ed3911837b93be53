import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { SCRIPTS } from '../../../lib/store/redis/scripts/embedded.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { startShiftedRedis } from '../../support/shifted-redis.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';

// What docs/operations.md says under "What a failover forgets": a case a row. In each, the replica stops hearing of the primary, the
// primary goes on for a while and dies, and the replica takes over without the end of its history.

@Injectable()
class Handlers {
  readonly runs: ScheduledJob[] = [];
  ended = 0;
  private readonly releases: (() => void)[] = [];

  @OnScheduledJob('work')
  work(_: unknown, job: ScheduledJob): void {
    this.runs.push(job);
    this.ended++;
  }

  /** Runs until `release`. */
  @OnScheduledJob('long')
  async long(_: unknown, job: ScheduledJob): Promise<void> {
    this.runs.push(job);
    await new Promise<void>((resolve) => this.releases.push(resolve));
    this.ended++;
  }

  release(): void {
    for (const release of this.releases.splice(0)) release();
  }
}

let servers: [primary: OwnRedisServer, replica: OwnRedisServer];
/** What the replica hears of the primary. */
let history: TcpProxy;
/** The way of the applications to whichever is the primary. */
let way: TcpProxy;

beforeAll(async () => {
  const options = ['--repl-diskless-sync-delay', '0'];
  servers = [await startOwnServer(...options), await startOwnServer(...options)];
  [history, way] = [await TcpProxy.start(servers[0].url), await TcpProxy.start(servers[0].url)];
});

beforeEach(async () => {
  history.accept();
  await ask(servers[1], (replica) => replica.replicaof('127.0.0.1', new URL(history.url).port));
  await inStep();
});

afterEach(stopApps);

afterAll(async () => {
  await Promise.all([history.stop(), way.stop()]);
  await Promise.all(servers.map((server) => server.stop()));
});

const start = (options = {}) => startApp([Handlers], { connection: way.url, ...options });

async function ask<T>(server: OwnRedisServer, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(server.url);
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}

/** Resolves once the replica has all that the primary has written. */
async function inStep(): Promise<void> {
  const offsetOf = (server: OwnRedisServer) =>
    ask(server, async (redis) => /^master_repl_offset:(\d+)/m.exec(await redis.info('replication'))?.[1]);
  const follows = () => ask(servers[0], async (redis) => (await redis.info('replication')).includes('state=online'));
  await until('the replica follows', follows);
  await until('it is in step', async () => (await offsetOf(servers[0])) === (await offsetOf(servers[1])));
}

/** From now on the primary writes what nobody else hears of. */
async function forgetFromNowOn(): Promise<void> {
  await inStep();
  history.refuse();
}

/** The primary dies, and the replica takes over. What was the primary comes back as the replica of the next case, with nothing. */
async function failOver(): Promise<void> {
  const [dead, heir] = servers;
  await dead.kill();
  await ask(heir, (redis) => redis.replicaof('NO', 'ONE'));
  way.redirect(heir.url);
  history.redirect(heir.url);
  await dead.restart();
  servers = [heir, dead];
}

it('calls of a producer: a new job is gone, and a cancelled one is back', async () => {
  const { producer, inspector } = await start();
  await producer.schedule('work', null, { id: 'cancelled', delay: '1h' });
  await forgetFromNowOn();
  expect(await producer.cancel('cancelled')).toBe(true);
  await producer.schedule('work', null, { id: 'new', delay: '1h' });
  await failOver();
  expect((await inspector.list('scheduled')).map(({ id }) => id)).toEqual(['cancelled']);
});

it('a remembered id: the job that is scheduled under it again runs a second time, with a higher fence', async () => {
  const { producer, inspector, get } = await start();
  const { runs } = get(Handlers);
  const once = () => producer.schedule('work', null, { id: 'once' });
  const completed = async () => (await inspector.stats()).completed === 1;
  await forgetFromNowOn();
  await once();
  await until('it completes', completed);
  expect(await once()).toMatchObject({ created: false, status: 'ended' });
  await failOver();
  expect(await once()).toMatchObject({ created: true });
  await until('it completes again', completed);
  expect(runs.map(({ id, attempt }) => [id, attempt])).toEqual([
    ['once', 1],
    ['once', 1],
  ]);
  expect(runs[1]!.fence).toBeGreaterThan(runs[0]!.fence);
});

it('a completion: the job runs again as the same attempt, with a higher fence', async () => {
  const { producer, inspector, get } = await start();
  const { runs } = get(Handlers);
  await inspector.pause();
  const { id } = await producer.schedule('work', null);
  await forgetFromNowOn();
  await inspector.resume();
  await until('it completes', async () => (await inspector.stats()).completed === 1);
  await failOver();
  await inspector.resume();
  await until('it completes again', async () => (await inspector.stats()).completed === 1);
  expect(runs.map((run) => [run.id, run.attempt])).toEqual([
    [id, 1],
    [id, 1],
  ]);
  expect(runs[1]!.fence).toBeGreaterThan(runs[0]!.fence);
});

it('a claim: the job runs a second time beside the first run, which has the lower fence and does not count', async () => {
  const { producer, inspector, get } = await start({ queues: { default: { globalConcurrency: 1 } } });
  const handlers = get(Handlers);
  await inspector.pause();
  await producer.schedule('long', null);
  await forgetFromNowOn();
  await inspector.resume();
  const [first] = await until('it runs', () => handlers.runs.length === 1 && handlers.runs);
  await failOver();
  await inspector.resume();
  await until('it runs again', () => handlers.runs.length === 2);
  const second = handlers.runs[1]!;
  expect(second.id).toBe(first!.id);
  expect(second.fence).toBeGreaterThan(first!.fence);
  await until('the first run is told', () => first!.signal.aborted);
  expect(first!.signal.reason).toMatchObject({ name: 'LeaseLostError' });
  expect(second.signal.aborted).toBe(false);
  handlers.release();
  await until('it completes', async () => (await inspector.counts()).active === 0);
  expect(handlers.ended).toBe(2);
  expect(await inspector.stats()).toMatchObject({ started: 1, completed: 1 });
});

it('the record of a call: one that is sent again happens, as what it did is forgotten too', async () => {
  const { producer, inspector, prefix } = await start();
  await producer.schedule('work', null, { id: 'before', delay: '1h' });
  await forgetFromNowOn();
  const lost = way.cutOnce((request) => request.includes(SCRIPTS.schedule.sha));
  const call = producer.schedule('work', null, { id: 'again', delay: '1h' });
  await lost;
  way.refuse();
  expect(await ask(servers[0], (redis) => redis.hkeys(`${prefix}:{default}:jobs`))).toEqual(['before', 'again']);
  await failOver();
  way.accept();
  expect(await call).toMatchObject({ id: 'again', created: true });
  expect((await inspector.list('scheduled')).map(({ id }) => id).sort()).toEqual(['again', 'before']);
});

it('the record of a call of unknown outcome: where its job has run, calling again makes it run twice', async () => {
  const prefix = newPrefix();
  const worker = await start({ prefix, connection: servers[0].url });
  const { producer } = await start({ prefix, role: 'producer', commandTimeoutMs: 1_000 });
  await producer.schedule('work', null, { delay: '1h' });
  await forgetFromNowOn();
  const lost = way.cutOnce((request) => request.includes(SCRIPTS.schedule.sha));
  const call = producer.schedule('work', null).catch((thrown: unknown) => thrown);
  await lost;
  way.refuse();
  const error = (await call) as { outcome: string; jobId: string };
  expect(error).toMatchObject({ outcome: 'unknown', jobId: expect.any(String) });
  await until('its job completes', async () => (await worker.inspector.stats()).completed === 1);
  await worker.app.close();
  await failOver();
  way.accept();
  const again = await start({ prefix });
  const { id } = await until('Redis is back', () =>
    producer.schedule('work', null, { id: error.jobId }).catch(() => undefined),
  );
  await until('it runs again', () => again.get(Handlers).runs.length === 1);
  expect([...worker.get(Handlers).runs, ...again.get(Handlers).runs].map((run) => run.id)).toEqual([id, id]);
});

it('a rate window: as many more start in it as have started in the part that is forgotten', async () => {
  const { producer, inspector, get } = await start({ queues: { default: { rateLimit: { max: 5, perMs: '1h' } } } });
  const { runs } = get(Handlers);
  const jobs = (count: number) => Array.from({ length: count }, () => ({ job: 'work', payload: null }) as const);
  await producer.scheduleMany(jobs(2));
  await until('two have started', async () => (await inspector.stats()).completed === 2);
  await inspector.pause();
  await producer.scheduleMany(jobs(8));
  await forgetFromNowOn();
  await inspector.resume();
  const isFull = async () => (await inspector.load()).blocked === 'rate';
  await until('five have started', () => runs.length === 5 && isFull());
  await failOver();
  await inspector.resume();
  await until('three more have started', () => runs.length === 8 && isFull());
  expect(await inspector.counts()).toMatchObject({ due: 5 });
});

it('the state of a recurrence: an occurrence that has begun begins again, and its count and a pause are undone', async () => {
  const { producer, inspector, get } = await start();
  const { runs } = get(Handlers);
  await inspector.pause();
  await producer.upsertRecurrence('tick', 'work', null, { everyMs: 500, limit: 1, onMissed: 'all' });
  await producer.upsertRecurrence('tock', 'work', null, { everyMs: '1h' });
  await forgetFromNowOn();
  await producer.pauseRecurrence('tock');
  await inspector.resume();
  await until('it has begun', () => runs.length === 1);
  await until('it is over', async () => (await producer.recurrence('tick'))?.state === 'ended');
  await failOver();
  expect(await producer.recurrence('tick')).toMatchObject({ state: 'active', count: 0 });
  expect(await producer.recurrence('tock')).toMatchObject({ state: 'active' });
  await inspector.resume();
  await until('it begins again', () => runs.length === 2);
  await until('it is over again', async () => (await producer.recurrence('tick'))?.state === 'ended');
  expect(runs.map(({ id }) => id)).toEqual([runs[0]!.id, runs[0]!.id]);
  expect(runs[1]!.fence).toBeGreaterThan(runs[0]!.fence);
});

it('a fence goes back only where the clock of the new primary is behind by more than the failover took', async () => {
  const ahead = await startShiftedRedis();
  if ('missing' in ahead) {
    process.stdout.write(`Skipped: ${ahead.missing}.\n`);
    return;
  }
  try {
    await ahead.shift(3_600);
    way.redirect(ahead.url);
    const { producer, get } = await start();
    const { runs } = get(Handlers);
    await producer.schedule('work', null);
    await until('it runs', () => runs.length === 1);
    // As a replica that has heard nothing of the queue.
    way.redirect(servers[0].url);
    await producer.schedule('work', null);
    await until('another one runs', () => runs.length === 2);
    expect(runs[1]!.fence).toBeLessThan(runs[0]!.fence);
  } finally {
    way.redirect(servers[0].url);
    await ahead.stop();
  }
});
