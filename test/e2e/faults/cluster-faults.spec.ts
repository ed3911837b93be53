import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { OutageLog } from '../../../lib/store/redis/checks/outage-log.js';
import { queueKeys } from '../../../lib/store/redis/keys.js';
import { ClientFactory } from '../../../lib/store/redis/link/client.js';
import { WakeListener } from '../../../lib/store/redis/link/wake-listener.js';
import { audit } from '../../support/audit.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { TestCluster } from '../../support/redis-cluster.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

/** Of the queue that the tests use, as keys name it. */
const TAG = '{default}';

let cluster: TestCluster;
const proxies: TcpProxy[] = [];

beforeAll(async () => {
  cluster = await TestCluster.start(MASTERS_WITH_REPLICA);
});

afterEach(async () => {
  await stopApps();
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
});

afterAll(() => cluster?.stop());

/** So that the queue's master has one, wherever it is. */
const MASTERS_WITH_REPLICA = 3;

it('a subscriber to a cluster whose packets vanish is replaced, and hears again', async () => {
  const natMap: Record<string, { host: string; port: number }> = {};
  for (const { url, port } of cluster.servers) {
    const proxy = await TcpProxy.start(url);
    proxies.push(proxy);
    natMap[`127.0.0.1:${port}`] = { host: '127.0.0.1', port: Number(new URL(proxy.url).port) };
  }
  const clients = new ClientFactory({ cluster: { nodes: Object.values(natMap), options: { natMap } } }, 1_000);
  const log = new LogLines();
  const listener = new WakeListener(clients.subscriber(), new OutageLog(log), 100, 300);
  try {
    const channel = newPrefix();
    const heard: (string | undefined)[] = [];
    listener.listen(channel, (message) => heard.push(message));
    await until('it hears', () => listener.hears(channel));
    for (const proxy of proxies) proxy.blackhole((request) => request.includes('subscribe'));
    // It was told to look when it first heard, and is again after the gap.
    await until('it hears anew', () => heard.filter((atMs) => atMs === undefined).length === 2);
    await until('a message arrives again', async () => {
      await cluster.client(0).publish(channel, '7');
      return heard.includes('7');
    });
  } finally {
    listener.close();
  }
});

/** Jobs that wait while the slot of their queue moves. `npm run test:cluster -- --kind slots` is the long form, with 200 000. */
const WAITING = 3_000;

it('a slot that is moved back and forth while jobs run neither loses a job nor runs one twice, and fences grow', async () => {
  const connection = { cluster: { nodes: cluster.nodes } };
  const queues = { default: { keepCompleted: 10 } };
  const app = await startApp([Work], { connection, commandTimeoutMs: 10_000, queues });
  const { producer, inspector, prefix } = app;
  const work = app.get(Work);
  // Then every key that a schedule names is there, and Redis does not hold it back by itself.
  await producer.schedule('work', 'kept', { id: 'kept' });
  await producer.cancel(await producer.schedule('work', 'cancelled', { id: 'cancelled', delay: '1h' }));
  await producer.schedule('failing', 'waits for its second attempt');
  await until('both have run', async () => (await inspector.stats()).completed === 1 && work.runs.length === 2);
  await producer.scheduleMany(
    Array.from({ length: WAITING }, (_, payload) => ({ job: 'work', payload, options: { delay: '1h' } })),
  );
  const home = await cluster.homeOf(TAG);
  const to = (home.index + 1) % 3;
  const later = await producer.scheduleMany(
    Array.from({ length: 50 }, (_, payload) => ({
      job: 'work',
      payload,
      options: { delay: 1_500, priority: 1 + (payload % 25) },
    })),
  );
  let moving = true;
  let longestMs = 0;
  const ids: string[] = later.map(({ id }) => id);
  const scheduling = (async () => {
    for (let i = 0; moving; i++) {
      const calledAt = performance.now();
      const ref = await producer.schedule('work', i, { priority: 1 + (i % 5) });
      longestMs = Math.max(longestMs, performance.now() - calledAt);
      ids.push(ref.id);
    }
  })();
  await until('some have run', () => work.runs.length > 20);
  const { fence } = queueKeys(prefix, 'default');
  let lastFence = 0;
  for (const [move, [source, target]] of [
    [home.index, to],
    [to, home.index],
    [home.index, to],
  ].entries()) {
    longestMs = 0;
    // For longer than ioredis tries again by itself.
    await cluster.moveSlot(home.slot, source!, target!, () => (move === 0 ? sleep(60) : Promise.resolve()));
    const before = { ids: ids.length, runs: work.runs.length };
    await until('schedules go on', () => ids.length > before.ids + 20);
    await until('jobs run on', () => work.runs.length > before.runs + 20);
    process.stdout.write(`move ${move + 1}: the longest call took ${Math.round(longestMs)} ms\n`);
    const nextFence = Number(await cluster.client(target!).get(fence));
    expect(nextFence).toBeGreaterThan(lastFence);
    lastFence = nextFence;
  }
  moving = false;
  await scheduling;
  await until('all have run', async () => (await inspector.stats()).completed === 1 + ids.length);
  expect(ids.filter((id) => !work.has(id))).toEqual([]);
  expect(work.twice()).toEqual([]);
  expect(await inspector.stats()).toMatchObject({
    scheduled: 3 + WAITING + ids.length,
    started: 2 + ids.length,
    recovered: 0,
  });
  expect(await audit(cluster.client(to), prefix)).toEqual([]);
  await cluster.moveSlot(home.slot, to, home.index);
});

it('when a node of a cluster is killed its replica takes over, workers go on by themselves and nothing is lost', async () => {
  const connection = { cluster: { nodes: cluster.nodes } };
  const log = new LogLines();
  const { producer, inspector, get, prefix } = await startApp([Work], { connection }, { log });
  const work = get(Work);
  const home = await cluster.homeOf(TAG);
  const refs = await producer.scheduleMany(
    Array.from({ length: 50 }, (_, payload) => ({ job: 'work', payload, options: { delay: payload * 100 } })),
  );
  await until('some have run', () => work.runs.length > 2);
  expect(await home.client.wait(1, 5_000)).toBe(1);
  await home.server.kill();
  const heir = cluster.client(3 + home.index);
  const takenOverAt = await until(
    'the replica has taken over',
    async () =>
      (await heir.info('replication')).includes('role:master') &&
      (await heir.cluster('INFO')).includes('cluster_state:ok') &&
      performance.now(),
  );
  const runsBefore = work.runs.length;
  const firstRun = await until('jobs are claimed', () => work.runs[runsBefore]);
  process.stdout.write(`claimed ${Math.round(firstRun.startedAt - takenOverAt)} ms after the failover\n`);
  expect(firstRun.startedAt - takenOverAt).toBeLessThan(2_000 + 1_500);
  const calledAt = performance.now();
  await producer.schedule('work', 'after', { id: 'after' });
  expect(performance.now() - calledAt).toBeLessThan(5_000);
  await until('all have run', () => [...refs, { id: 'after' }].every(({ id }) => work.has(id)));
  await until('all are settled', async () => (await inspector.counts()).active === 0);
  expect(await audit(heir, prefix)).toEqual([]);
});
