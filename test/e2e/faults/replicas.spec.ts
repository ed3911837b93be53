import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { QueueUnavailableError } from '../../../lib/index.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { TestCluster } from '../../support/redis-cluster.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';

const TIMEOUT_MS = 1_000;

let primary: OwnRedisServer;
let replica: OwnRedisServer;
let admin: Redis;
let copy: Redis;

beforeAll(async () => {
  primary = await startOwnServer('--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1');
  replica = await startOwnServer('--replicaof', '127.0.0.1', String(primary.port));
  [admin, copy] = [new Redis(primary.url), new Redis(replica.url)];
  copy.on('error', () => {});
  await connected();
});

afterEach(async () => {
  replica.thaw();
  await stopApps();
});

afterAll(async () => {
  for (const client of [admin, copy]) client.disconnect();
  await Promise.all([primary.stop(), replica.stop()]);
});

const connected = () => until('the replica follows', async () => (await online()) === 1);
const online = async () => (await admin.info('replication')).match(/state=online/g)?.length ?? 0;

const startProducer = (more = {}) =>
  startApp([], { connection: primary.url, minReplicas: 1, commandTimeoutMs: TIMEOUT_MS, role: 'producer', ...more });

const failure = (call: Promise<unknown>) =>
  call.then(
    () => {
      throw new Error('the call has resolved');
    },
    (error: QueueUnavailableError) => error,
  );

const calls = async (command: string) =>
  Number((await admin.info('commandstats')).match(new RegExp(`cmdstat_${command}:calls=(\\d+)`))?.[1] ?? 0);

it('what a call has changed is on the replica when it resolves', async () => {
  const { producer, prefix } = await startProducer();
  for (let i = 0; i < 20; i++) {
    const { id } = await producer.schedule('work', i, { delay: '1h' });
    expect(await copy.hexists(`${prefix}:{default}:jobs`, id)).toBe(1);
    expect(await producer.cancel(id)).toBe(true);
    expect(await copy.hexists(`${prefix}:{default}:jobs`, id)).toBe(0);
  }
});

it('many calls of one moment are confirmed together, and wait for no others', async () => {
  const { producer } = await startProducer({ commandTimeoutMs: 5_000 });
  await producer.schedule('work', 'first', { delay: '1h' });
  const before = await calls('wait');
  await Promise.all(Array.from({ length: 1_000 }, (_, i) => producer.schedule('work', i, { delay: '1h' })));
  expect((await calls('wait')) - before).toBeLessThan(50);
});

it('while no replica confirms a call its outcome is unknown, however often it is made, and the job is there once', async () => {
  const { producer, inspector } = await startProducer();
  // Known, so that the freeze is met by a call.
  await producer.schedule('work', 'before', { delay: '1h' });
  replica.freeze();
  const calledAt = performance.now();
  const error = await failure(producer.schedule('work', 'lost?', { delay: '1h' }));
  expect(performance.now() - calledAt).toBeLessThan(TIMEOUT_MS + 500);
  expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE', outcome: 'unknown', jobName: 'work', queue: 'default' });
  expect(error.message).toBe(
    'Redis has run the call, but too few replicas have confirmed it in time: a failover may lose it. Where this error names job ids, call again with them.',
  );
  const id = error.jobId!;
  // The job is there, and this call writes nothing of its own.
  const again = () => producer.schedule('work', 'lost?', { delay: '1h', id });
  expect(await failure(again())).toMatchObject({ outcome: 'unknown', jobId: id });
  const many = [{ job: 'work', payload: 'many', options: { delay: '1h' } }] as const;
  expect(await failure(producer.scheduleMany(many))).toMatchObject({
    outcome: 'unknown',
    jobIds: [expect.any(String)],
  });
  replica.thaw();
  expect(await again()).toMatchObject({ id, created: false });
  expect(await inspector.counts()).toMatchObject({ scheduled: 3 });
});

it('a replica that confirms in time is enough, although it was frozen meanwhile', async () => {
  const { producer } = await startProducer({ commandTimeoutMs: 4_000 });
  await producer.schedule('work', 'before', { delay: '1h' });
  const before = await calls('wait');
  replica.freeze();
  const call = producer.schedule('work', 'late', { delay: '1h' });
  // Each waits for a quarter of the time. One of the three may have asked for the permission alone.
  await until('a second one is sent', async () => (await calls('wait')) > before + 2, 3_500);
  replica.thaw();
  expect(await call).toMatchObject({ created: true });
});

it('the replicas of a node that has taken over confirm nothing that it may not have', async () => {
  const other = await startOwnServer();
  const itsReplica = await startOwnServer('--replicaof', '127.0.0.1', String(other.port));
  const proxy = await TcpProxy.start(primary.url);
  const reader = new Redis(other.url);
  try {
    await until('it follows', async () => (await reader.info('replication')).includes('state=online'));
    const { producer, prefix } = await startProducer({ connection: proxy.url, commandTimeoutMs: 5_000 });
    await producer.schedule('work', 'before', { delay: '1h' });
    replica.freeze();
    const call = failure(producer.schedule('work', 'lost', { delay: '1h' }));
    await until('it is written', async () => (await admin.hlen(`${prefix}:{default}:jobs`)) === 2);
    proxy.redirect(other.url);
    expect(await call).toMatchObject({
      outcome: 'unknown',
      message: expect.stringContaining('another node has taken over'),
    });
    expect(await reader.exists(`${prefix}:{default}:jobs`)).toBe(0);
  } finally {
    reader.disconnect();
    await stopApps();
    await proxy.stop();
    await Promise.all([other.stop(), itsReplica.stop()]);
  }
});

it('with too few replicas a call is refused at once and writes nothing', async () => {
  const prefix = newPrefix();
  const { producer } = await startProducer({ prefix, minReplicas: 2, commandTimeoutMs: 5_000 });
  const refused = {
    outcome: 'refused',
    message: 'Redis has 1 connected replicas of the 2 that minReplicas asks for; the call has not happened.',
  };
  const calledAt = performance.now();
  expect(await failure(producer.schedule('work', 1, { id: 'mine' }))).toMatchObject({ ...refused, jobId: 'mine' });
  expect(await failure(producer.scheduleMany([{ job: 'work', payload: 1 }]))).toMatchObject(refused);
  expect(await failure(producer.cancel('mine'))).toMatchObject(refused);
  expect(await failure(producer.upsertRecurrence('daily', 'work', 1, { everyMs: 60_000 }))).toMatchObject(refused);
  expect(performance.now() - calledAt).toBeLessThan(BEFORE_NEXT_LOOK_MS);
  expect(await admin.keys(`${prefix}:{default}:*`)).toEqual([]);
});

it('a replica that is gone is missed within a second', async () => {
  const { producer } = await startProducer();
  await producer.schedule('work', 'before', { delay: '1h' });
  await replica.kill();
  try {
    await until('it is known', async () => (await failure(producer.schedule('work', 1))).outcome === 'refused');
  } finally {
    await replica.restart();
    await connected();
  }
  await until('it is back', () => producer.schedule('work', 2).catch(() => undefined));
});

it.each(['wait', 'info'])('a user that may not run %s is told so before anything is written', async (command) => {
  await admin.acl('SETUSER', `no${command}`, 'on', '>secret', '~*', '&*', '+@all', `-${command}`);
  const connection = primary.url.replace('redis://', `redis://no${command}:secret@`);
  const { producer, prefix } = await startProducer({ connection });
  expect(await failure(producer.schedule('work', 1))).toMatchObject({
    outcome: 'refused',
    redisCode: 'NOPERM',
    message: expect.stringContaining(`'${command}'`),
  });
  expect(await admin.keys(`${prefix}:{default}:jobs`)).toEqual([]);
});

it('every changing call waits for replicas, and no reading one', async () => {
  const { producer } = await startProducer();
  await producer.upsertRecurrence('daily', 'work', 1, { everyMs: '1h' });
  await producer.schedule('work', 1, { delay: '1h', id: 'one' });
  replica.freeze();
  const unknown = await Promise.all(
    [
      producer.dispatch('work', 1),
      producer.schedule('work', 1, { delay: '1h', id: 'one', onDuplicate: 'replace' }),
      producer.reschedule('one', { delay: '2h' }),
      producer.runNow('one'),
      producer.cancel('one'),
      producer.upsertRecurrence('daily', 'work', 2, { everyMs: '1h' }),
      producer.pauseRecurrence('daily'),
      producer.resumeRecurrence('daily'),
      producer.runRecurrenceNow('daily'),
      producer.backfillRecurrence('daily', { from: Date.now() - 7_200_000, to: new Date() }),
      producer.removeRecurrence('daily'),
    ].map(failure),
  );
  expect(unknown.map(({ outcome }) => outcome)).toEqual(unknown.map(() => 'unknown'));
  expect(await producer.recurrences()).toEqual([]);
});

it('on a cluster the node that has the queue is asked', async () => {
  const cluster = await TestCluster.start(1);
  try {
    const connection = { cluster: { nodes: cluster.nodes } };
    const { producer, prefix } = await startProducer({ connection, commandTimeoutMs: 5_000 });
    // The first master has a replica, the others have none.
    const homes = new Map<number, string>();
    for (let i = 0; homes.size < 3; i++) homes.set((await cluster.homeOf(`{queue-${i}}`)).index, `queue-${i}`);
    const on = (index: number) => producer.schedule('work', 1, { queue: homes.get(index), delay: '1h' });
    const { id, queue } = await on(0);
    const follower = cluster.client(3);
    await follower.readonly();
    expect(await follower.hexists(`${prefix}:{${queue}}:jobs`, id)).toBe(1);
    for (const index of [1, 2]) expect(await failure(on(index))).toMatchObject({ outcome: 'refused' });
  } finally {
    await stopApps();
    await cluster.stop();
  }
});
