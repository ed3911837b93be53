import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Cluster, Redis } from 'ioredis';
import { defineScheduledJob, InvalidOptionsError, OnScheduledJob, relayKey } from '../../../lib/index.js';
import { messagePackCodec } from '../../../lib/msgpack/index.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { TestCluster } from '../../support/redis-cluster.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';

const QUEUES = ['a', 'b', 'c', 'd', 'e', 'f'];
const jobs = QUEUES.map((queue) => defineScheduledJob<number>('work', { queue }));

@Injectable()
class Handlers {
  readonly payloads: number[] = [];

  @OnScheduledJob(jobs[0]!)
  @OnScheduledJob(jobs[1]!)
  @OnScheduledJob(jobs[2]!)
  @OnScheduledJob(jobs[3]!)
  @OnScheduledJob(jobs[4]!)
  @OnScheduledJob(jobs[5]!)
  work(payload: number): void {
    this.payloads.push(payload);
  }
}

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.start();
});

afterEach(stopApps);
afterAll(() => cluster.stop());

it('queues on all nodes of a cluster run their jobs, at once where another process schedules them', async () => {
  // A colon in the prefix leaves the hash tag where it is.
  const prefix = `${newPrefix()}:prod`;
  const worker = await startApp([Handlers], { connection: { cluster: { nodes: cluster.nodes } }, prefix });
  const { payloads } = worker.get(Handlers);
  const producer = await startApp([], {
    connection: { cluster: { nodes: cluster.nodes } },
    prefix,
    role: 'producer',
  });
  await producer.producer.scheduleMany(jobs.map((job, payload) => ({ job, payload })));
  await until('all queues have run theirs', () => payloads.length === QUEUES.length);
  expect([...payloads].sort()).toEqual([0, 1, 2, 3, 4, 5]);

  const delayed = await Promise.all(jobs.map((job, i) => producer.producer.schedule(job, 10 + i, { delay: '1h' })));
  expect(await producer.producer.cancel(delayed[0]!)).toBe(true);
  for (const ref of delayed.slice(1)) expect(await producer.producer.runNow(ref)).toBe(true);
  await until('the others have run', () => payloads.length === 2 * QUEUES.length - 1);
  for (const queue of QUEUES) {
    await until('all of it is settled', async () => (await worker.inspector.counts({ queue })).active === 0);
    expect(await worker.inspector.counts({ queue })).toMatchObject({ scheduled: 0, due: 0, completed: 0, dead: 0 });
  }
});

it('jobs in a MULTI of a Cluster client are there with its own commands, in the slot of their queue', async () => {
  const connection = { cluster: { nodes: cluster.nodes } };
  const { producer, inspector, get } = await startApp([Handlers], { connection });
  const client = new Cluster(cluster.nodes);
  const counter = (queue: string) => relayKey(queue, `counter/${process.pid}`);
  try {
    for (const [i, queue] of QUEUES.entries()) {
      const multi = client.multi().incr(counter(queue));
      await producer.in(multi).dispatch(jobs[i]!, i);
      expect(await multi.exec()).toEqual([
        [null, 1],
        [null, '1'],
      ]);
    }
    const { payloads } = get(Handlers);
    await until('all have run', () => payloads.length === QUEUES.length);
    expect([...payloads].sort()).toEqual([0, 1, 2, 3, 4, 5]);

    const ofTwoSlots = client.multi().incr(counter('a'));
    await producer.in(ofTwoSlots).dispatch(jobs[1]!, 1);
    await expect(ofTwoSlots.exec()).rejects.toThrow('same slot');
    expect(await client.get(counter('a'))).toBe('1');
    await until('all of it is settled', async () => (await inspector.counts({ queue: 'b' })).active === 0);
    expect(await inspector.counts({ queue: 'b' })).toMatchObject({ due: 0 });
    const single = new Redis({ lazyConnect: true }).multi();
    expect(() => producer.in(single)).toThrow(
      'in: got a MULTI of a client of a single Redis, expected a client of a cluster',
    );
  } finally {
    client.disconnect();
  }
});

it('the events of queues on all nodes of a cluster are read in another process', async () => {
  const options = {
    connection: { cluster: { nodes: cluster.nodes } },
    prefix: newPrefix(),
    queues: Object.fromEntries(QUEUES.map((queue) => [queue, { streamEvents: { maxLength: 100 } }])),
  };
  const worker = await startApp([Handlers], options);
  const reading = await startApp([], { ...options, role: 'producer' });
  const told: string[] = [];
  for (const queue of QUEUES)
    reading.events.stream({ queue, from: '0' }).subscribe((event) => told.push(`${event.type} in ${event.queue}`));
  await worker.producer.scheduleMany(jobs.map((job, payload) => ({ job, payload })));
  await until('all is told', () => told.length === 3 * QUEUES.length);
  expect(told.sort()).toEqual(
    QUEUES.flatMap((queue) => ['scheduled', 'started', 'completed'].map((type) => `${type} in ${queue}`)).sort(),
  );
});

it('payloads that are bytes come whole from all nodes of a cluster', async () => {
  const connection = { cluster: { nodes: cluster.nodes } };
  const { producer, inspector, consumer } = await startApp([], { connection, codec: messagePackCodec });
  const payload = { bytes: Buffer.from([0xff, 0x0a, 0x00]), at: new Date(0) };
  for (const queue of QUEUES) {
    const job = await producer.schedule('photo', payload, { queue });
    expect((await inspector.job(job))!.payload).toEqual(payload);
    const [popped] = await consumer.pop({ queue, waitMs: '5s' });
    expect(popped!.payload).toEqual(payload);
    expect(await popped!.complete()).toBe(true);
  }
});

it('queues on all nodes of a cluster are paused, looked at, cleared and resumed', async () => {
  const connection = { cluster: { nodes: cluster.nodes } };
  const { inspector, producer, get } = await startApp([Handlers], { connection, workerId: 'w' });
  for (const queue of QUEUES) await inspector.pause({ queue });
  await producer.scheduleMany([...jobs, ...jobs].map((job, payload) => ({ job, payload })));
  const kept = await Promise.all(jobs.map((job, i) => producer.schedule(job, 100 + i)));
  for (const [i, queue] of QUEUES.entries()) {
    expect(await inspector.explain(kept[i]!)).toMatchObject({ code: 'paused' });
    const [there] = await until('its worker is there', async () => {
      const workers = await inspector.workers({ queue });
      return workers.length > 0 && workers;
    });
    expect(there).toMatchObject({ id: 'w', running: 0, handles: ['work'] });
    expect(await inspector.remove(kept[i]!)).toBe(true);
    expect(await inspector.clear({ queue })).toBe(2);
  }
  await Promise.all(jobs.map((job, i) => producer.schedule(job, i)));
  await until('all are due', async () => (await inspector.counts({ queue: 'f' })).due === 1);
  expect(get(Handlers).payloads).toEqual([]);
  for (const queue of QUEUES) await inspector.resume({ queue });
  await until('all run', () => get(Handlers).payloads.length === QUEUES.length, BEFORE_NEXT_LOOK_MS);
});

it('the directory of queues on all nodes lies in one slot, and leads to the tagged jobs of each', async () => {
  const connection = { cluster: { nodes: cluster.nodes } };
  const { inspector, producer, prefix } = await startApp([], { connection });
  const other = await startApp([], { connection, prefix, role: 'producer' });
  const refs = await Promise.all(
    QUEUES.map((queue, i) =>
      (i % 2 === 0 ? producer : other.producer).schedule('work', i, { queue, delay: '1h', tags: ['all'] }),
    ),
  );
  // Each process has waited for what it noted itself.
  await other.inspector.queues();
  expect((await inspector.queues()).map(({ name }) => name)).toEqual(QUEUES);
  const directory = `${prefix}:{*}:queues`;
  const homes = await Promise.all(
    QUEUES.map(async (queue) => (await cluster.homeOf(`${prefix}:{${queue}}:jobs`)).slot),
  );
  const { client, slot } = await cluster.homeOf(directory);
  expect(homes).not.toContain(slot);
  expect((await client.zrange(directory, '0', '-1')).sort()).toEqual(QUEUES);

  expect(await inspector.shiftTagged('all', '1h', { queue: '*' })).toBe(QUEUES.length);
  for (const ref of refs) {
    const { dueAt } = (await inspector.job(ref))!;
    expect(dueAt.getTime()).toBe(ref.dueAt!.getTime() + 3_600_000);
  }
  expect(await inspector.cancelTagged('all', { queue: ['b', 'e'] })).toBe(2);
  expect(await other.inspector.cancelTagged('all', { queue: '*' })).toBe(QUEUES.length - 2);
  for (const ref of refs) expect(await inspector.job(ref)).toBeNull();
});

it('pops take what is due on any node, at once where they wait for it, and hand over to those who wait on', async () => {
  const connection = { cluster: { nodes: cluster.nodes } };
  const first = await startApp([], { connection });
  const other = await startApp([], { connection, prefix: first.prefix });
  for (const queue of QUEUES) {
    const waiting = [first.consumer.pop({ queue, waitMs: '20s' }), other.consumer.pop({ queue, waitMs: '20s' })];
    const refs = [
      await first.producer.schedule('pulled', 1, { queue }),
      await other.producer.schedule('pulled', 2, { queue, delay: 50 }),
    ];
    const popped = (await Promise.all(waiting)).flat();
    expect(popped.map(({ id }) => id).sort()).toEqual(refs.map(({ id }) => id).sort());
    expect(await Promise.all(popped.map((job) => job.extend('1m')))).toEqual([true, true]);
    expect(await Promise.all(popped.map((job) => job.complete()))).toEqual([true, true]);
    expect(await first.consumer.pop({ queue })).toEqual([]);
  }
});

it('a relay moves jobs of any queue to a key of its slot, and refuses one of another slot', async () => {
  const client = new Cluster(cluster.nodes);
  try {
    const { consumer, producer } = await startApp([], { connection: { cluster: { nodes: cluster.nodes } } });
    for (const stream of ['out', 'out:{b}', '{b}:{a}', '{}{a}'])
      expect(() => consumer.relay({ queue: 'a', to: { stream } })).toThrow(
        new InvalidOptionsError(
          `relay: to: got '${stream}', expected a key with the hash tag {a} on a cluster, such as relayKey('a', …) makes.`,
        ),
      );
    for (const queue of QUEUES) consumer.relay({ queue, to: { stream: relayKey(queue, 'out') } });
    consumer.relay({ queue: 'a', names: ['other'], to: { list: 'mine:{a}' } });
    await producer.scheduleMany(jobs.map((job, payload) => ({ job, payload })));
    await producer.schedule('other', null, { queue: 'a', delay: 50 });
    for (const [i, queue] of QUEUES.entries()) {
      await until('it is there', async () => (await client.xlen(relayKey(queue, 'out'))) > 0);
      const [entry] = await client.xrange(relayKey(queue, 'out'), '-', '+');
      expect(entry![1]).toEqual(expect.arrayContaining(['queue', queue, 'payload', String(i)]));
    }
    await until(
      'the other is somewhere',
      async () => (await client.llen('mine:{a}')) + (await client.xlen(relayKey('a', 'out'))) === 2,
    );
  } finally {
    client.disconnect();
  }
});

it('a ready cluster client is duplicated, and left open', async () => {
  const client = new Cluster(cluster.nodes);
  try {
    const { app, producer, get } = await startApp([Handlers], { connection: client });
    await producer.schedule(jobs[3]!, 1);
    await until('it runs', () => get(Handlers).payloads.length === 1);
    await app.close();
    expect(await client.set('{mine}:key', 'value')).toBe('OK');
  } finally {
    client.disconnect();
  }
});
