import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import type { Finding } from '../../../lib/command-line/doctor/finding.js';
import { OnScheduledJob, relayKey, type ScheduledJob } from '../../../lib/index.js';
import { ScheduledQueueMetricsModule } from '../../../lib/prometheus/index.js';
import { OutageLog } from '../../../lib/store/redis/checks/outage-log.js';
import { ClientFactory } from '../../../lib/store/redis/link/client.js';
import { WakeListener } from '../../../lib/store/redis/link/wake-listener.js';
import { ScheduledQueueHealthIndicator } from '../../../lib/terminus/index.js';
import { asDocumentedUser, deniedTo, documentedCommands } from '../../support/acl.js';
import { typed } from '../../support/command-line.js';
import { LogLines } from '../../support/log-lines.js';
import { type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { TestCluster } from '../../support/redis-cluster.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { Scrape } from '../../support/scrape.js';
import { StreamReader } from '../../support/stream-reader.js';
import { TRIED_COMMANDS } from '../../support/tried-commands.js';
import { until } from '../../support/wait.js';

@Injectable()
class Handlers {
  @OnScheduledJob('works')
  async works(_: unknown, job: ScheduledJob): Promise<void> {
    await job.progress(1);
  }

  @OnScheduledJob('fails', { maxAttempts: 2, backoff: { type: 'fixed', delayMs: 1 } })
  fails(): void {
    throw new Error('as it should');
  }

  @OnScheduledJob('goes-on', { weight: 2 })
  goesOn(_: unknown, job: ScheduledJob): Promise<void> {
    return new Promise((resolve) => job.signal.addEventListener('abort', () => resolve()));
  }

  @OnScheduledJob('ticks', { everyMs: '1h' })
  ticks(): void {}
}

const QUEUES = {
  default: { keepCompleted: { count: 1, ageMs: '1h' }, keepDead: 1, streamEvents: { maxLength: 5 } },
  limited: { globalConcurrency: 3, rateLimit: { max: 100, perMs: '1s' }, keepEnded: 5 },
} as const;

let server: OwnRedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await startOwnServer('--appendonly', 'yes');
  admin = new Redis(server.url);
});
afterEach(async () => {
  await stopApps();
  await admin.flushall();
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

describe('the documented user', () => {
  it('may do all that a producer, a worker, the inspector, metrics and probes do, and nothing is refused to it', async () => {
    const connection = await asDocumentedUser(server.url);
    await admin.acl('LOG', 'RESET');
    const registry = new Registry();
    const imports = [ScheduledQueueMetricsModule.forRoot({ registry }), TerminusModule];
    const app = await startApp(
      [Handlers, ScheduledQueueHealthIndicator],
      { connection, queues: QUEUES, prefix: 'sq' },
      { imports },
    );
    await everyKindOfJob(app);
    await everyLook(app);
    await managing(app);
    await recurring(app);
    await streaming(app);
    const health = app.get(ScheduledQueueHealthIndicator);
    expect(await health.isHealthy('queue', { maxLatenessMs: '1h' })).toMatchObject({ queue: { status: 'up' } });
    expect(await health.isLive('queue')).toMatchObject({ queue: { status: 'up' } });
    expect((await Scrape.of(registry)).value('scheduled_queue_redis_up')).toBe(1);
    await stopApps();
    expect(await deniedTo(admin)).toEqual([]);
  });

  it('may do so on a cluster, with the commands that are needed there besides', async () => {
    const cluster = await TestCluster.start();
    try {
      const more = ['+cluster|slots', '+cluster|info', '+readonly'];
      for (const { url } of cluster.servers) await asDocumentedUser(url, 'sq', ...more);
      const options = { redisOptions: { username: 'queue', password: 'secret' } };
      const connection = { cluster: { nodes: cluster.nodes, options } };
      const app = await startApp([Handlers], { connection, queues: QUEUES, prefix: 'sq' });
      await everyKindOfJob(app);
      await everyLook(app);
      await stopApps();
      const denied = await Promise.all(cluster.servers.map((_, i) => deniedTo(cluster.client(i))));
      const needless = ['client|setname', 'client|setinfo'];
      expect(denied.flat().filter((command) => !needless.includes(command as string))).toEqual([]);
      const nodes = cluster.nodes.map(({ host, port }) => `${host}:${port}`).join(',');
      const { out } = await typed(['doctor', '--json', '--cluster', '--url', `redis://queue:secret@${nodes}`]);
      const checks = JSON.parse(out).flatMap(({ check, level }: Finding) =>
        level === 'ok' ? [] : [`${check} ${level}`],
      );
      // No node has an AOF or a replica.
      expect([...new Set(checks)]).toEqual(['persistence problem', 'stray-keys unknown']);
    } finally {
      await stopApps();
      await cluster.stop();
    }
  });
});

describe('each documented command that is taken away is named', () => {
  const without = async (command: string, log?: LogLines): Promise<QueueApp> => {
    const connection = await asDocumentedUser(server.url, 'sq', `-${command}`);
    return startApp([Handlers], { connection, queues: QUEUES, prefix: 'sq' }, { log });
  };
  const errorOf = (call: Promise<unknown>): Promise<Error> =>
    call.then(
      () => new Error('none'),
      (error) => error,
    );

  /** What meets a command that is not tried at the start. */
  const MET: Record<string, (app: QueueApp) => Promise<unknown>> = {
    evalsha: ({ producer }) => producer.schedule('works', 1),
    eval: ({ producer }) => producer.schedule('works', 1),
    zrevrange: ({ inspector }) => inspector.list('dead'),
    xrevrange: ({ events }) => streamErrorOf(events),
    xrange: ({ events }) => streamErrorOf(events),
  };
  /** What the log says of those that no call meets. */
  const LOGGED: Record<string, (app: QueueApp) => unknown> = {
    subscribe: () => {},
    xadd: ({ producer }) => producer.schedule('works', 1),
    xtrim: ({ producer }) => producer.scheduleMany(Array.from({ length: 300 }, () => ({ job: 'works', payload: 1 }))),
    type: ({ consumer }) => consumer.relay({ names: ['moved'], to: { list: relayKey('default', 'l') } }),
    rpush: async ({ consumer, producer }) => {
      await producer.schedule('moved', 1);
      consumer.relay({ names: ['moved'], to: { list: relayKey('default', 'l') } });
    },
  };
  /** Nothing fails without them: INFO is for warnings and doctor, and a channel that is heard on is not listened to. */
  const NEEDLESS = ['info', 'unsubscribe'];

  it('by the trial at the start, by the call that meets it, or in the log: there is no other', () => {
    const named = [...TRIED_COMMANDS, ...Object.keys(MET), ...Object.keys(LOGGED), ...NEEDLESS];
    expect(named.sort()).toEqual(documentedCommands());
  });

  it.each(Object.keys(MET))('%s, by the error of a call', async (command) => {
    await admin.script('FLUSH');
    const { message } = await errorOf(MET[command]!(await without(command)));
    expect(message.toLowerCase()).toMatch(
      new RegExp(`no permissions to run the '${command}' command|\\+${command}\\b`),
    );
  });

  it.each(Object.keys(LOGGED))('%s, by a line of the log', async (command) => {
    const log = new LogLines();
    await LOGGED[command]!(await without(command, log));
    const named = new RegExp(`\\b${command}\\b`, 'i');
    expect(await until('it is told', () => log.lines.find((line) => named.test(line)))).toMatch(
      /NOPERM|permission|can't run/,
    );
  });

  it('subscribe, and its messages are heard soon after it is given, over the connection that stands', async () => {
    const clients = new ClientFactory(await asDocumentedUser(server.url, 'sq', '-subscribe'), 1_000);
    const log = new LogLines();
    const listener = new WakeListener(
      clients.subscriber(),
      new OutageLog({ log() {}, warn() {}, error: (line) => log.error(line, 'ScheduledQueue') }),
      50,
      5_000,
    );
    try {
      listener.listen('sq:{a}:wake:b', () => {});
      await until('it is told', () => log.lines.length > 0);
      await asDocumentedUser(server.url);
      await until('it hears', () => listener.hears('sq:{a}:wake:b'));
      expect(log.lines).toEqual([
        expect.stringMatching(/^error .*maxSleepMs late \(NOPERM .*\): ACL SETUSER … \+subscribe/),
      ]);
    } finally {
      listener.close();
    }
  });

  it('all of them, by doctor', async () => {
    const ofInfo = ['server', 'eviction', 'persistence'];
    const { out: whole } = await typed(['doctor', '--json', '--url', await asDocumentedUser(server.url)]);
    expect(JSON.parse(whole).filter(({ level }: Finding) => level !== 'ok')).toEqual([
      { check: 'stray-keys', level: 'unknown', message: expect.stringContaining("'scan'") },
    ]);
    for (const command of documentedCommands()) {
      const url = await asDocumentedUser(server.url, 'sq', `-${command}`);
      const { code, out } = await typed(['doctor', '--json', '--url', url]);
      const naming: Finding[] = JSON.parse(out).filter(
        ({ level, message }: Finding) => level !== 'ok' && new RegExp(`[+']${command}\\b`).test(message),
      );
      const checks = naming.map(({ check }) => check);
      expect({ command, code, checks }).toMatchObject(
        command === 'info' ? { code: 0, checks: ofInfo } : { checks: expect.arrayContaining(['permissions']) },
      );
    }
  });

  it.each(NEEDLESS)('%s excepted: jobs run without it', async (command) => {
    const log = new LogLines();
    const { producer, consumer, inspector } = await without(command, log);
    expect(await consumer.pop({ names: ['popped'], waitMs: 100 })).toEqual([]);
    await producer.schedule('works', 1);
    await until('it has run', async () => (await inspector.stats()).completed === 1);
    expect(log.lines).toEqual([]);
  });
});

async function everyKindOfJob({ producer, consumer, inspector }: QueueApp): Promise<void> {
  for (const id of ['first', 'second'])
    await producer.schedule('works', null, { id, tags: ['a'], headers: { a: 'b' } });
  for (const id of ['dead', 'dropped']) await producer.schedule('fails', null, { id });
  await producer.scheduleMany([{ job: 'works', payload: 1, options: { queue: 'limited' } }]);
  await producer.schedule('works', null, { id: 'moved', delay: '1h' });
  await producer.schedule('works', null, { id: 'moved', delay: '2h', onDuplicate: 'replace' });
  expect(await producer.reschedule('moved', { delay: '3h' })).toBe(true);
  expect(await producer.cancel('moved')).toBe(true);
  await producer.schedule('works', null, { id: 'preferred', worker: 'gone', delay: '1h' });
  expect(await producer.runNow('preferred')).toBe(true);
  await producer.schedule('goes-on', null, { id: 'run' });
  await until('it runs', async () => (await inspector.job('run'))?.state === 'active');
  expect((await producer.schedule('goes-on', null, { id: 'run', onDuplicate: 'replace' })).status).toBe('queued');
  expect(await producer.cancel('run')).toBe(true);
  expect(await inspector.cancelRunning('run')).toBe(true);
  expect(await consumer.pop({ names: ['pulled'], waitMs: 300 })).toEqual([]);
  await producer.schedule('pulled', null, { id: 'pulled' });
  const [popped] = await consumer.pop({ names: ['pulled'], waitMs: '10s' });
  expect(await popped!.extend('1m')).toBe(true);
  expect(await popped!.snooze('1h')).toBe(true);
  expect(await producer.cancel('pulled')).toBe(true);
  for (const [name, to] of [
    ['to-stream', { stream: relayKey('default', 'stream') }],
    ['to-list', { list: relayKey('default', 'list') }],
  ] as const) {
    await producer.schedule(name, null);
    const relay = consumer.relay({ names: [name], to, ...('stream' in to && { maxLength: 10 }) });
    await until(`it is moved ${name}`, async () => (await inspector.find({ names: [name] })).jobs.length === 0);
    await relay.stop();
  }
  await until('all jobs have ended', async () => {
    const { dead, deadDropped } = await inspector.stats();
    return dead === 2 && deadDropped === 1 && (await inspector.counts()).due === 0;
  });
}

async function everyLook({ inspector }: QueueApp): Promise<void> {
  for (const state of ['scheduled', 'due', 'active', 'completed', 'dead'] as const) await inspector.list(state);
  await inspector.find({ tags: ['a'] });
  await inspector.countsByPriority();
  await inspector.nextDueAt();
  await inspector.latenessMs();
  await inspector.peek();
  await inspector.load();
  await inspector.forecast({ from: Date.now(), to: Date.now() + 1_000, buckets: 3 });
  await inspector.workers();
  expect((await inspector.queues()).map(({ name }) => name)).toContain('limited');
  expect(await inspector.job('dropped')).toMatchObject({ state: 'dead' });
}

async function managing({ producer, inspector }: QueueApp): Promise<void> {
  await inspector.pause({ forMs: '1h' });
  await producer.schedule('works', null, { id: 'cleared', tags: ['b'], delay: '1h' });
  await producer.schedule('works', null, { id: 'due' });
  expect((await inspector.explain('due')).code).toBe('paused');
  expect(await inspector.shiftTagged('b', '1h')).toBe(1);
  await producer.schedule('works', null, { id: 'tagged', tags: ['c'] });
  expect(await inspector.cancelTagged('c', { queue: '*' })).toBe(1);
  expect(await inspector.clear()).toBeGreaterThan(0);
  await inspector.resume();
  const [completed] = await inspector.list('completed');
  expect(await inspector.remove(completed!)).toBe(true);
  expect(await inspector.replayDead({ reason: 'attempts-exhausted' }, { at: Date.now() + 3_600_000 })).toBe(1);
  await inspector.purgeDead({ names: ['fails'] });
  await inspector.setBlackouts([{ cron: '0 0 1 1 *', durationMs: '1s', timeZone: 'UTC' }]);
  expect(await inspector.blackouts()).toHaveLength(1);
  await inspector.setBlackouts([]);
}

async function recurring({ producer, inspector }: QueueApp): Promise<void> {
  const made = await producer.upsertRecurrence('mine', 'works', null, { everyMs: '1h' });
  expect(await producer.pauseRecurrence(made)).toBe(true);
  expect(await producer.resumeRecurrence(made)).toBe(true);
  await producer.runRecurrenceNow(made);
  expect(await producer.backfillRecurrence(made, { from: Date.now() - 7_200_000, to: Date.now() })).toBeGreaterThan(0);
  expect(await producer.recurrence('mine')).toMatchObject({ state: 'active' });
  await until('the declared one is there', async () => (await producer.recurrences()).length === 2);
  expect(await producer.removeRecurrence(made)).toBe(true);
  await until('what it made has ended', async () => (await inspector.counts()).due === 0);
}

async function streaming({ producer, events }: QueueApp): Promise<void> {
  const readers = [new StreamReader(events), new StreamReader(events, '0')];
  await until('both are told', async () => {
    await producer.cancel(await producer.schedule('works', null, { delay: '1h' }));
    return readers.every(({ seen }) => seen.length > 0);
  });
}

/** Rejects with the error by which the stream ends. */
async function streamErrorOf(events: QueueApp['events']): Promise<never> {
  const reader = new StreamReader(events);
  throw await until('it ends', () => reader.error);
}
