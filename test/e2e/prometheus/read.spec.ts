import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { Gauge, Registry, register } from 'prom-client';
import {
  OnScheduledJob,
  RedisScheduledQueueModule,
  type RedisScheduledQueueModuleOptions,
  ScheduledQueueProducer,
  UnrecoverableJobError,
} from '../../../lib/index.js';
import { ScheduledQueueMetricsModule, type ScheduledQueueMetricsOptions } from '../../../lib/prometheus/index.js';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from '../../../lib/testing/index.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { freePort, type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { Scrape } from '../../support/scrape.js';
import { until } from '../../support/wait.js';

const STATES = ['active', 'completed', 'dead', 'due', 'scheduled'];

let registry: Registry;
let server: OwnRedisServer | undefined;
beforeEach(() => {
  registry = new Registry();
});
afterEach(async () => {
  server?.thaw();
  await stopApps();
  await server?.stop();
  server = undefined;
});

@Injectable()
class Handlers {
  @OnScheduledJob('dies')
  dies(): void {
    throw new UnrecoverableJobError('no use');
  }
}

const scrape = () => Scrape.of(registry);
const metrics = (options: ScheduledQueueMetricsOptions = {}) =>
  ScheduledQueueMetricsModule.forRoot({ registry, ...options });
const start = (options: RedisScheduledQueueModuleOptions = {}, of: ScheduledQueueMetricsOptions = {}) =>
  startApp([Handlers], options, { imports: [metrics(of)] });

it('the jobs of each queue are counted by state, each state there, and the oldest due one is told in seconds', async () => {
  const app = await start();
  const { inspector, producer } = app;
  await producer.schedule('dies', {});
  await until('it is dead', async () => (await inspector.counts()).dead === 1);
  await producer.schedule('unhandled', {}, { at: Date.now() - 90_000 });
  await producer.schedule('later', {}, { delay: '1h' });
  await producer.schedule('later', {}, { delay: '1h', queue: 'mail' });
  const read = await scrape();
  const jobs = (queue: string) =>
    Object.fromEntries(STATES.map((state) => [state, read.value('scheduled_queue_jobs', { queue, state })]));
  expect(jobs('default')).toEqual(await inspector.counts());
  expect(jobs('default')).toEqual({ scheduled: 1, due: 1, active: 0, completed: 0, dead: 1 });
  expect(jobs('mail')).toEqual({ scheduled: 1, due: 0, active: 0, completed: 0, dead: 0 });
  expect(read.labels('scheduled_queue_jobs', 'queue')).toEqual(['default', 'mail']);
  const oldest = read.value('scheduled_queue_oldest_due_seconds', { queue: 'default' })!;
  expect(oldest).toBeGreaterThanOrEqual(90);
  expect(oldest).toBeLessThanOrEqual((await inspector.latenessMs()) / 1_000);
  expect(read.value('scheduled_queue_oldest_due_seconds', { queue: 'mail' })).toBe(0);
  expect(read.value('scheduled_queue_redis_up')).toBe(1);
  expect(Math.abs(read.value('scheduled_queue_clock_offset_seconds')!)).toBeLessThan(0.5);
});

it('only the queues that are named are read', async () => {
  const { producer } = await start({}, { queues: ['mail', 'unused', 'mail'] });
  await producer.schedule('later', {}, { delay: '1h' });
  const read = await scrape();
  expect(read.labels('scheduled_queue_jobs', 'queue')).toEqual(['mail', 'unused']);
  expect(read.values('scheduled_queue_jobs', { queue: 'unused' })).toEqual([0, 0, 0, 0, 0]);
});

it('a scrape costs one call a queue, however many applications share the registry, and none again for 5 s', async () => {
  server = await startOwnServer();
  const prefix = newPrefix();
  const connection = server.url;
  const apps = [];
  for (let i = 0; i < 3; i++) apps.push(await start({ connection, prefix, autoStart: false }));
  for (const queue of ['a', 'b']) await apps[0]!.producer.schedule('later', {}, { delay: '1h', queue });
  const redis = new Redis(connection);
  const calls = async () => {
    const info = await redis.info('commandstats');
    return Object.fromEntries(
      ['evalsha', 'eval', 'zscan', 'time'].map((command) => [
        command,
        Number(info.match(new RegExp(`cmdstat_${command}:calls=(\\d+)`))?.[1] ?? 0),
      ]),
    );
  };
  const during = async (work: () => Promise<unknown>) => {
    const before = await calls();
    await work();
    const after = await calls();
    return Object.fromEntries(Object.keys(after).map((command) => [command, after[command]! - before[command]!]));
  };
  // Redis has no script yet. Each application checks its permissions once, and the schema of each queue.
  for (const { inspector } of apps) for (const queue of ['a', 'b']) await inspector.counts({ queue });
  // TIME is called by the scripts as well: once in each.
  expect(await during(scrape)).toEqual({ evalsha: 2, eval: 0, zscan: 3, time: 3 + 2 });
  expect(await during(async () => Promise.all([scrape(), scrape()]))).toMatchObject({ evalsha: 0, zscan: 0, time: 3 });
  redis.disconnect();
});

it.each([true, false])('an orderly close never tells that Redis is away, with isGlobal %s', async (isGlobal) => {
  const queue = RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix: newPrefix(), isGlobal });
  const app = await Test.createTestingModule({ imports: [metrics(), queue] }).compile();
  await app.init();
  const told = new Set<number | undefined>();
  let isClosed = false;
  const scrapes = (async () => {
    while (!isClosed) {
      told.add((await scrape()).value('scheduled_queue_redis_up'));
      await new Promise(setImmediate);
    }
  })();
  await until('it is scraped', () => told.size > 0);
  await app.close();
  isClosed = true;
  await scrapes;
  told.add((await scrape()).value('scheduled_queue_redis_up'));
  expect([...told]).toEqual([1, undefined]);
});

it('an application that closes leaves its counts and takes its gauges along', async () => {
  const [one, two] = [await start(), await start()];
  await one.producer.schedule('later', {}, { delay: '1h', queue: 'one' });
  await two.producer.schedule('later', {}, { delay: '1h', queue: 'two' });
  const queues = async () => (await scrape()).labels('scheduled_queue_jobs', 'queue');
  expect(await queues()).toEqual(['default', 'one', 'two']);
  await one.app.close();
  expect(await queues()).toEqual(['default', 'two']);
  expect((await scrape()).value('scheduled_queue_redis_up')).toBe(1);
  await two.app.close();
  const read = await scrape();
  const gauges = ['jobs', 'oldest_due_seconds', 'redis_up', 'clock_offset_seconds'];
  expect(gauges.flatMap((name) => read.values(`scheduled_queue_${name}`))).toEqual([]);
  expect(read.sum('scheduled_queue_events_total', { type: 'scheduled' })).toBe(2);
});

it('the queues of a named instance have its name in front, and each instance is measured by a module of its own', async () => {
  const [prefix, other] = [newPrefix(), newPrefix()];
  const app = await start({ prefix }, {});
  const module = await Test.createTestingModule({
    imports: [
      RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix: other, name: 'reports' }),
      metrics({ instance: 'reports' }),
    ],
  }).compile();
  await module.init();
  const producer = module.get<ScheduledQueueProducer>('ScheduledQueueProducer(reports)');
  await producer.schedule('later', {}, { delay: '1h' });
  await app.producer.schedule('later', {}, { delay: '1h' });
  const read = await scrape();
  expect(read.labels('scheduled_queue_jobs', 'queue')).toEqual(['default', 'reports/default']);
  expect(read.labels('scheduled_queue_events_total', 'queue')).toEqual(['default', 'reports/default']);
  await module.close();
});

it('a queue that two applications know is read by the one whose Redis answers', async () => {
  await start({ connection: `redis://127.0.0.1:${await freePort()}` }, { queues: ['default'] });
  const { producer } = await start({}, { queues: ['default'] });
  await producer.schedule('later', {}, { delay: '1h' });
  // Who is answered is known from the first scrape on.
  await scrape();
  for (let i = 0; i < 2; i++) {
    const read = await scrape();
    expect(read.value('scheduled_queue_redis_up')).toBe(0);
    expect(read.value('scheduled_queue_jobs', { queue: 'default', state: 'scheduled' })).toBe(1);
  }
});

it('while Redis is away a scrape is answered in time, says so, and shows no old numbers', async () => {
  server = await startOwnServer();
  const { producer } = await start({ connection: server.url });
  await producer.schedule('later', {}, { delay: '1h' });
  expect((await scrape()).value('scheduled_queue_redis_up')).toBe(1);
  await server.kill();
  await expectDown();
  await server.restart();
  await until('it is up again', async () => (await scrape()).value('scheduled_queue_redis_up') === 1);
});

it('while Redis is frozen a scrape is answered in time, says so, and shows no old numbers', async () => {
  server = await startOwnServer();
  const { producer } = await start({ connection: server.url });
  await producer.schedule('later', {}, { delay: '1h' });
  expect((await scrape()).labels('scheduled_queue_jobs', 'queue')).toEqual(['default']);
  server.freeze();
  await expectDown();
  server.thaw();
  await until('it is up again', async () => (await scrape()).value('scheduled_queue_redis_up') === 1);
});

it('a Redis that was never there is down, and its clock is not known', async () => {
  await start({ connection: `redis://127.0.0.1:${await freePort()}` });
  const read = await expectDown();
  expect(read.values('scheduled_queue_clock_offset_seconds')).toEqual([]);
});

async function expectDown(): Promise<Scrape> {
  const from = performance.now();
  const read = await scrape();
  expect(performance.now() - from).toBeLessThan(3_000);
  expect(read.value('scheduled_queue_redis_up')).toBe(0);
  expect(read.values('scheduled_queue_jobs')).toEqual([]);
  expect(read.values('scheduled_queue_oldest_due_seconds')).toEqual([]);
  return read;
}

it('in the test kit everything is measured without Redis', async () => {
  const app = await Test.createTestingModule({
    imports: [ScheduledQueueTestingModule.forRoot({ now: '2027-01-01T09:00:00Z' }), metrics()],
    providers: [Handlers],
  })
    .setLogger({ log() {}, warn() {}, error() {} })
    .compile();
  await app.init();
  const producer = app.get(ScheduledQueueProducer);
  await producer.schedule('dies', {}, { delay: '1h' });
  await producer.schedule('unhandled', {}, { delay: '30m' });
  expect((await scrape()).value('scheduled_queue_jobs', { state: 'scheduled' })).toBe(2);
  const tester = app.get(ScheduledQueueTester);
  await tester.advance('2h');
  const read = await scrape();
  expect(read.value('scheduled_queue_jobs', { state: 'dead' })).toBe(1);
  expect(read.value('scheduled_queue_jobs', { state: 'due' })).toBe(1);
  expect(read.value('scheduled_queue_oldest_due_seconds')).toBe(90 * 60);
  expect(read.value('scheduled_queue_events_total', { job: 'dies', type: 'dead' })).toBe(1);
  expect(read.value('scheduled_queue_run_seconds_count', { job: 'dies' })).toBe(1);
  expect(read.value('scheduled_queue_claim_size_count')).toBe(1);
  expect(read.value('scheduled_queue_redis_up')).toBe(1);
  tester.redisAway();
  expect((await scrape()).value('scheduled_queue_redis_up')).toBe(0);
  tester.redisAway(false);
  await app.close();
});

it('by default the metrics stand in the registry that prom-client has by default, and come back after it was cleared', async () => {
  const imports = [ScheduledQueueMetricsModule.forRoot()];
  const first = await startApp([], {}, { imports });
  await first.producer.schedule('later', {}, { delay: '1h' });
  expect((await Scrape.of(register)).sum('scheduled_queue_events_total', { type: 'scheduled' })).toBe(1);
  await first.app.close();
  register.clear();
  const second = await startApp([], {}, { imports });
  await second.producer.schedule('later', {}, { delay: '1h' });
  expect((await Scrape.of(register)).sum('scheduled_queue_events_total', { type: 'scheduled' })).toBe(1);
  register.clear();
});

it('every metric says in its HELP what is counted, in which unit, and how processes are put together', async () => {
  await start();
  const text = await registry.metrics();
  const help = [...text.matchAll(/^# HELP (\w+) (.*)$/gm)].map(([, name, words]) => ({ name: name!, words: words! }));
  expect(help).toHaveLength(9);
  expect(help.filter(({ name, words }) => name.endsWith('_seconds') && !words.includes('in seconds'))).toEqual([]);
  expect(help.filter(({ words }) => !/(sum|max) by \(|min for all|no aggregation/.test(words))).toEqual([]);
});

it.each([
  [{ registry: {} }, 'registry: got an object, expected a Registry of prom-client.'],
  [{ queues: 'mail' }, 'queues: got "mail", expected a list of queues.'],
  [{ queues: ['a', 'b c'] }, 'queues: [1]: got "b c", expected 1 to 64'],
  [{ jobNames: -1 }, 'jobNames: got -1, expected a whole number from 0 to 10000.'],
  [{ jobNames: true }, 'jobNames: got true, expected a number of names, a list of names, or false.'],
  [{ jobNames: ['a', 'other'] }, "jobNames: got a list with 'other', which all names read"],
  [{ jobName: ['a'] }, `unknown option "jobName", did you mean 'jobNames'?`],
])('options that cannot be used are refused: %j', (options, message) => {
  expect(() => ScheduledQueueMetricsModule.forRoot(options as never)).toThrow(
    expect.objectContaining({ name: 'InvalidOptionsError', message: expect.stringContaining(message) }),
  );
});

it('with deep-hash ids of Nest, each instance has its module', async () => {
  const queue = (name: string) =>
    RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix: newPrefix(), name });
  @Module({ imports: [queue('a'), queue('b'), metrics({ instance: 'a' }), metrics({ instance: 'b' })] })
  class Root {}
  const options = { moduleIdGeneratorAlgorithm: 'deep-hash', logger: false } as const;
  const app = await NestFactory.createApplicationContext(Root, options);
  for (const name of ['a', 'b'])
    await app.get<ScheduledQueueProducer>(`ScheduledQueueProducer(${name})`).schedule('later', {}, { delay: '1h' });
  const read = await scrape();
  await app.close();
  expect(read.labels('scheduled_queue_jobs', 'queue')).toEqual(['a/default', 'b/default']);
  expect(read.sum('scheduled_queue_events_total', { type: 'scheduled' })).toBe(2);
});

it('the bare class stops the start', async () => {
  await expect(startApp([], {}, { imports: [ScheduledQueueMetricsModule] })).rejects.toThrow(
    'ScheduledQueueMetricsModule: got the bare class in imports, expected ScheduledQueueMetricsModule.forRoot(), once',
  );
});

it('an instance that is not there stops the start, and so does one that is measured twice', async () => {
  const started = startApp([], {}, { imports: [metrics({ instance: 'report' })] });
  await expect(started).rejects.toThrow("instance: got 'report', which no RedisScheduledQueueModule");
  await expect(startApp([], {}, { imports: [metrics(), metrics()] })).rejects.toThrow(
    'got a second ScheduledQueueMetricsModule for the instance without a name, expected one',
  );
  const alone = Test.createTestingModule({ imports: [metrics()] });
  await expect(alone.compile().then((module) => module.init())).rejects.toThrow(
    'this application has no RedisScheduledQueueModule, expected one',
  );
});

it('a registry that has a metric of the name already stops the start', async () => {
  new Gauge({ name: 'scheduled_queue_jobs', help: 'Mine.', registers: [registry] });
  await expect(start()).rejects.toThrow(
    expect.objectContaining({
      name: 'InvalidOptionsError',
      message: expect.stringContaining("registry: got one that has a metric 'scheduled_queue_jobs' from elsewhere"),
    }),
  );
  expect(registry.getMetricsAsArray()).toHaveLength(1);
});
