import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { JobOutcome, OnScheduledJob, RedisScheduledQueueModule } from '../../../lib/index.js';
import { ScheduledQueueHealthIndicator } from '../../../lib/terminus/index.js';
import {
  overrideScheduledQueue,
  ScheduledQueueTester,
  ScheduledQueueTestingModule,
} from '../../../lib/testing/index.js';
import { inTime, startHealthApp } from '../../support/health-app.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { TestCluster } from '../../support/redis-cluster.js';
import { startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';

@Injectable()
class Mails {
  @OnScheduledJob('mail')
  send() {
    return JobOutcome.deadLetter('nobody lives there');
  }
}

const toClose: (() => unknown)[] = [];
afterEach(async () => {
  await stopApps();
  await Promise.all(toClose.splice(0).map((close) => close()));
});

it('a queue is healthy while Redis answers, and tells lateness, dead letters and workers', async () => {
  const { health, inspector } = await startHealthApp([Mails]);
  await until('the worker is there', async () => (await inspector.workers()).length === 1);
  expect(await health.isHealthy('queue')).toEqual({ queue: { status: 'up', latenessMs: 0, dead: 0, workers: 1 } });
});

it('without bounds a queue is healthy however late its jobs are', async () => {
  const { health, producer } = await startHealthApp([]);
  await producer.schedule('nobody.handles.it', null, { at: Date.now() - 3_600_000 });
  const { queue } = await health.isHealthy('queue');
  expect(queue).toMatchObject({ status: 'up', dead: 0, workers: 0 });
  expect(queue.latenessMs).toBeGreaterThanOrEqual(3_600_000);
});

it('a queue is down while a job is later than maxLatenessMs, and not in a pause', async () => {
  const { health, producer, inspector } = await startHealthApp([]);
  await producer.schedule('nobody.handles.it', null, { at: Date.now() - 90_000, queue: 'slow' });
  const check = () => health.isHealthy('queue', { queue: 'slow', maxLatenessMs: '1m' });
  expect((await check()).queue).toMatchObject({
    status: 'down',
    message: expect.stringMatching(/^Queue 'slow': latenessMs is 9\d{4}, above maxLatenessMs 60000\.$/),
  });
  expect((await health.isHealthy('queue', { queue: 'slow', maxLatenessMs: '1h' })).queue.status).toBe('up');
  await inspector.pause({ queue: 'slow' });
  expect(await check()).toEqual({ queue: { status: 'up', latenessMs: 0, dead: 0, workers: 0 } });
});

it('a queue is down with more dead letters than maxDead, or fewer workers than minWorkers', async () => {
  const { health, producer, inspector } = await startHealthApp([Mails]);
  await producer.dispatch('mail', null);
  await until('it is dead', async () => (await inspector.counts()).dead === 1);
  expect((await health.isHealthy('queue', { maxDead: 1, minWorkers: 1 })).queue.status).toBe('up');
  expect(await health.isHealthy('queue', { maxDead: 0, minWorkers: 2 })).toEqual({
    queue: {
      status: 'down',
      message: "Queue 'default': dead is 1, above maxDead 0; workers is 1, below minWorkers 2.",
      latenessMs: 0,
      dead: 1,
      workers: 1,
    },
  });
});

it('each instance is asked by its name; one that is not there is down, and the message names those that are', async () => {
  const prefix = newPrefix();
  const reports = RedisScheduledQueueModule.forRoot({ name: 'reports', connection: redisUrl(), prefix });
  const { app } = await startApp([ScheduledQueueHealthIndicator], {}, { imports: [TerminusModule, reports] });
  const health = app.get(ScheduledQueueHealthIndicator);
  expect((await health.isHealthy('queue', { instance: 'reports' })).queue.status).toBe('up');
  for (const check of ['isHealthy', 'isLive'] as const) {
    expect(await health[check]('queue', { instance: 'report' })).toEqual({
      queue: {
        status: 'down',
        message: `${check}: instance: got 'report', which no RedisScheduledQueueModule of this application is named. There is: the one without a name, 'reports'. Did you mean 'reports'?`,
      },
    });
  }
});

it('wrong options are down, and the message says what is wrong', async () => {
  const { health } = await startHealthApp([]);
  const said = async (options: object) => (await health.isHealthy('queue', options)).queue;
  expect(await said({ maxLateness: 3 })).toEqual({
    status: 'down',
    message: `isHealthy: unknown option "maxLateness", did you mean 'maxLatenessMs'?`,
  });
  expect((await said({ maxLatenessMs: '5 parsecs' })).message).toMatch(/^isHealthy: maxLatenessMs: got "5 parsecs"/);
  expect((await said({ minWorkers: -1 })).message).toMatch(/^isHealthy: minWorkers: got -1/);
  expect((await health.isLive('queue', { queue: 'mail' } as object)).queue).toMatchObject({
    status: 'down',
    message: expect.stringMatching(/^isLive: unknown option "queue"/),
  });
});

it('an application without the module of the queue is down, and told to import it', async () => {
  const module = await Test.createTestingModule({
    imports: [TerminusModule],
    providers: [ScheduledQueueHealthIndicator],
  }).compile();
  expect(await module.get(ScheduledQueueHealthIndicator).isHealthy('queue')).toEqual({
    queue: {
      status: 'down',
      message:
        'isHealthy: this application has no RedisScheduledQueueModule, expected one: import RedisScheduledQueueModule.forRoot({ … }) or forRootAsync({ … }) in the root module.',
    },
  });
});

describe('within two and a half seconds a queue is down while Redis', () => {
  it('is stopped, and the message says where it was looked for; then it is up again', async () => {
    const server = await startOwnServer();
    toClose.push(() => server.stop());
    const { health } = await startHealthApp([Mails], { connection: server.url });
    expect((await health.isHealthy('queue')).queue.status).toBe('up');
    await server.kill();
    const { queue } = await inTime(() => health.isHealthy('queue'));
    expect(queue).toEqual({
      status: 'down',
      message: `Redis has not answered within 2 s: connect ECONNREFUSED 127.0.0.1:${server.port}, at redis://127.0.0.1:${server.port}/0.`,
    });
    await server.restart();
    await until('up again', async () => (await health.isHealthy('queue')).queue.status === 'up');
  });

  it('is frozen, connections and all', async () => {
    const server = await startOwnServer();
    toClose.push(() => server.stop());
    const { health } = await startHealthApp([Mails], { connection: server.url });
    expect((await health.isHealthy('queue')).queue.status).toBe('up');
    server.freeze();
    const answers = await Promise.all([1, 2].map(() => inTime(() => health.isHealthy('queue'))));
    for (const { queue } of answers)
      expect(queue).toEqual({ status: 'down', message: expect.stringMatching(/^Redis has not answered within 2 s/) });
    server.thaw();
    await until('up again', async () => (await health.isHealthy('queue')).queue.status === 'up');
  });

  it('was never there', async () => {
    const { health } = await startHealthApp([], { connection: 'redis://127.0.0.1:1' });
    const { queue } = await inTime(() => health.isHealthy('queue'));
    expect(queue.message).toMatch(/^Redis has not answered within 2 s: connect ECONNREFUSED 127\.0\.0\.1:1/);
  });

  it('answers behind a proxy that swallows all of it', async () => {
    const proxy = await TcpProxy.start(redisUrl());
    toClose.push(() => proxy.stop());
    const { health } = await startHealthApp([], { connection: proxy.url });
    expect((await health.isHealthy('queue')).queue.status).toBe('up');
    proxy.blackhole();
    proxy.swallowNew(true);
    expect((await inTime(() => health.isHealthy('queue'))).queue.status).toBe('down');
  });

  it('is a cluster without the node of the queue, while the queues of other nodes are up', async () => {
    const cluster = await TestCluster.start();
    toClose.push(() => cluster.stop());
    const { health, prefix } = await startHealthApp([], { connection: { cluster: { nodes: cluster.nodes } } });
    const homeOf = async (queue: string) => (await cluster.homeOf(`${prefix}:{${queue}}:gate`)).index;
    const lost = await homeOf('default');
    const others = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map(async (queue) => [queue, await homeOf(queue)] as const),
    );
    const [other] = others.find(([, index]) => index !== lost)!;
    await cluster.client((lost + 1) % 3).config('SET', 'cluster-require-full-coverage', 'no');
    await cluster.client((lost + 2) % 3).config('SET', 'cluster-require-full-coverage', 'no');
    expect((await health.isHealthy('queue', { queue: other })).queue.status).toBe('up');
    expect((await health.isHealthy('queue')).queue.status).toBe('up');
    await cluster.servers[lost]!.kill();
    const { queue } = await inTime(() => health.isHealthy('queue'));
    expect(queue).toMatchObject({ status: 'down', message: expect.stringMatching(/^Redis /) });
    expect((await health.isHealthy('queue', { queue: other })).queue.status).toBe('up');
  });
});

describe('in the test kit', () => {
  it.each(['ScheduledQueueTestingModule', 'overrideScheduledQueue'])(
    '%s: a queue is healthy and live, unless the test takes Redis away',
    async (kit) => {
      const real = RedisScheduledQueueModule.forRoot({ connection: 'redis://127.0.0.1:1' });
      const builder = Test.createTestingModule({
        imports: [TerminusModule, kit === 'overrideScheduledQueue' ? real : ScheduledQueueTestingModule.forRoot()],
        providers: [Mails, ScheduledQueueHealthIndicator],
      }).setLogger(false as never);
      const app = await (kit === 'overrideScheduledQueue' ? overrideScheduledQueue(builder) : builder).compile();
      await app.init();
      toClose.push(() => app.close());
      const [health, tester] = [app.get(ScheduledQueueHealthIndicator), app.get(ScheduledQueueTester)];
      await tester.advance('1h');
      expect((await health.isHealthy('queue', { maxDead: 0 })).queue).toMatchObject({ status: 'up', latenessMs: 0 });
      expect(await health.isLive('queue')).toEqual({ queue: { status: 'up' } });
      tester.redisAway();
      expect((await health.isHealthy('queue')).queue).toEqual({
        status: 'down',
        message: 'Redis is unavailable (the test has called tester.redisAway()); the call has not happened.',
      });
      await tester.advance('1h');
      expect(await health.isLive('queue')).toEqual({ queue: { status: 'up' } });
      tester.redisAway(false);
    },
  );
});
