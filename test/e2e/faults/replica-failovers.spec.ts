import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { QueueUnavailableError } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { TestCluster } from '../../support/redis-cluster.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';

// What `minReplicas` answers while nodes take over from others, with both of its connections and with one of them. Every application
// connects by a proxy, which stands for the name or the sentinels that tell where the primary is.

const OPTIONS = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'];

interface Node {
  server: OwnRedisServer;
  redis: Redis;
}

const nodes: Node[] = [];
let proxy: TcpProxy;
let log: LogLines;

beforeEach(() => {
  log = new LogLines();
});

afterEach(async () => {
  for (const { server, redis } of nodes) {
    server.thaw();
    redis.disconnect();
  }
  await stopApps();
  await proxy?.stop();
  await Promise.all(nodes.splice(0).map(({ server }) => server.stop()));
});

/** Resolves once it follows `primary`, where one is given. */
async function startNode(primary?: Node): Promise<Node> {
  const server = await startOwnServer(...OPTIONS);
  const node = { server, redis: new Redis(server.url) };
  nodes.push(node);
  node.redis.on('error', () => {});
  if (primary) await follow(node, primary);
  return node;
}

async function follow({ redis, server }: Node, primary: Node): Promise<void> {
  await redis.replicaof('127.0.0.1', primary.server.port);
  await until(`${server.port} follows`, async () =>
    new RegExp(`port=${server.port},state=online`).test(await primary.redis.info('replication')),
  );
}

async function startProducer(node: Node, commandTimeoutMs = 5_000) {
  proxy = await TcpProxy.start(node.server.url);
  const app = await startApp(
    [],
    { connection: proxy.url, minReplicas: 1, commandTimeoutMs, role: 'producer' },
    { log },
  );
  const schedule = (id: string) => app.producer.schedule('work', 1, { id, delay: '1h' });
  await schedule('first');
  const has = ({ redis }: Node, id: string) => redis.hexists(`${app.prefix}:{default}:jobs`, id);
  return { ...app, schedule, has };
}

const failure = (call: Promise<unknown>) =>
  call.then(
    () => {
      throw new Error('the call has resolved');
    },
    (error: QueueUnavailableError) => error,
  );

it('the replicas of a node that has not run the call do not confirm it, though it was the node before the call', async () => {
  const [old, other] = [await startNode(), await startNode()];
  await Promise.all([startNode(old), startNode(other)]);
  const { schedule, has } = await startProducer(old);
  const moved = proxy.redirectAt((request) => request.includes('moved') && /evalsha/i.test(request), other.server.url);
  const error = await failure(schedule('moved'));
  await moved;
  expect(error).toMatchObject({ outcome: 'unknown', jobId: 'moved' });
  expect(error.message).toContain('another node has taken over without it');
  expect([await has(old, 'moved'), await has(other, 'moved')]).toEqual([0, 1]);
  // Both connections are made anew, and the call comes to the node that has its job.
  expect(await schedule('moved')).toMatchObject({ created: false });
});

it('a node that takes over with the call confirms it by its own replicas', async () => {
  const old = await startNode();
  const next = await startNode(old);
  const last = await startNode(next);
  const { schedule, has } = await startProducer(old);
  const asked = proxy.redirectAt((request) => /receipt.*\r\nwait\r\n/s.test(request), next.server.url);
  const call = schedule('kept');
  await asked;
  await until('it is passed on', () => has(next, 'kept'));
  await old.server.kill();
  await next.redis.replicaof('NO', 'ONE');
  expect(await call).toMatchObject({ created: true });
  expect(await has(last, 'kept')).toBe(1);
});

it('a node that was a replica while its own replicas were waited for confirms nothing', async () => {
  const node = await startNode();
  await startNode(node);
  const { schedule } = await startProducer(node, 1_000);
  let id = 10_000_000;
  // Whenever a node becomes a primary it writes under another id.
  proxy.rewrite((reply) => reply.replace(/master_replid:\w{8}/g, () => `master_replid:${id++}`));
  expect(await failure(schedule('second'))).toMatchObject({ outcome: 'unknown', jobId: 'second' });
  proxy.rewrite((reply) => reply);
  expect(await schedule('second')).toMatchObject({ created: false });
});

it('a primary that has become a replica is left for the one that has taken over', async () => {
  const old = await startNode();
  const next = await startNode(old);
  const { schedule, has } = await startProducer(old);
  await next.redis.replicaof('NO', 'ONE');
  await follow(old, next);
  proxy.lead(next.server.url);
  await until('it is answered', () => schedule('second').catch(() => undefined));
  expect(await has(next, 'second')).toBe(1);
});

it('a primary whose replicas have left it for another is left as well, and without a word in the log', async () => {
  const old = await startNode();
  const next = await startNode(old);
  await startNode(next);
  const { schedule, has } = await startProducer(old);
  await next.redis.replicaof('NO', 'ONE');
  proxy.lead(next.server.url);
  await until('it is known', async () => (await old.redis.info('replication')).includes('connected_slaves:0'));
  await until('it is answered', () => schedule('second').catch(() => undefined));
  expect([await has(old, 'second'), await has(next, 'second')]).toEqual([0, 1]);
  expect(log.lines).toEqual([]);
});

it('with a full memory, what Redis still takes is confirmed too', async () => {
  const node = await startNode();
  const replica = await startNode(node);
  const { producer, schedule, has } = await startProducer(node);
  await node.redis.config('SET', 'maxmemory', '1');
  expect(await failure(schedule('second'))).toMatchObject({ outcome: 'refused', redisCode: 'OOM' });
  expect(await producer.cancel('first')).toBe(true);
  expect(await has(replica, 'first')).toBe(0);
});

it('on a cluster every call is confirmed while the slot of the queue moves to another master, and while that one hands over to its replica', async () => {
  const cluster = await TestCluster.start(3);
  try {
    const connection = { cluster: { nodes: cluster.nodes } };
    const { producer, prefix } = await startApp([], { connection, minReplicas: 1, role: 'producer' });
    const ids: string[] = [];
    const call = async () => ids.push((await producer.schedule('work', 1, { delay: '1h' })).id);
    await call();
    const { slot, index } = await cluster.homeOf('{default}');
    const target = (index + 1) % 3;
    let changing = true;
    const calling = (async () => {
      while (changing) await call();
    })();
    await cluster.moveSlot(slot, index, target, async () => {});
    await call();
    const [master, replica] = [cluster.client(target), cluster.client(3 + target)];
    const isReplica = async () => (await master.info('replication')).includes('role:slave');
    // On a busy machine nodes may give up, after five seconds.
    const handOver = async () => {
      await replica.call('CLUSTER', 'FAILOVER').catch(() => {});
      return until('it has handed over', isReplica, 6_000).catch(() => false);
    };
    await Promise.race([calling, until('it has handed over in the end', handOver)]);
    await call();
    changing = false;
    await calling;
    await master.readonly();
    expect((await master.hkeys(`${prefix}:{default}:jobs`)).sort()).toEqual(ids.sort());
  } finally {
    await stopApps();
    await cluster.stop();
  }
});
