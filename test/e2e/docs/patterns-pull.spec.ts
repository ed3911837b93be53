import { afterEach, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { toRecord } from '../../support/relayed.js';
import { until } from '../../support/wait.js';
import { Rows } from './patterns/batch-pop.js';
import { Pages } from './patterns/blocking-pop.js';
import { Devices } from './patterns/dispatch-to-one-of-many-topics.js';
import { PriorityQueue } from './patterns/plain-priority-queue.js';
import { FaxRelay, list } from './patterns/relay-to-a-list.js';
import { ImageRelay, stream } from './patterns/relay-to-a-stream.js';

const clients: Redis[] = [];

afterEach(async () => {
  await stopApps();
  for (const client of clients.splice(0)) {
    await client.del(stream, list);
    client.disconnect();
  }
});

/** A consumer that knows nothing of this library. */
async function plainClient(): Promise<Redis> {
  const client = new Redis(redisUrl());
  clients.push(client);
  await client.del(stream, list);
  return client;
}

it('plain priority queue: push, peek, size, pop and clear', async () => {
  const { get, inspector } = await startApp([PriorityQueue]);
  const queue = get(PriorityQueue);
  expect([await queue.pop(), await queue.peek(), await queue.size()]).toEqual([undefined, undefined, 0]);
  for (const [item, priority] of [
    ['low', 9],
    ['high', 1],
    ['middle', 5],
    ['middle too', 5],
    ['lowest', 1_000],
  ] as const)
    await queue.push(item, priority);
  expect(await queue.peek()).toBe('high');
  expect(await queue.size()).toBe(5);
  for (const item of ['high', 'middle', 'middle too']) {
    const job = await queue.pop();
    expect(job!.payload).toBe(item);
    expect(await job!.complete()).toBe(true);
  }
  expect(await queue.clear()).toBe(2);
  expect(await queue.size()).toBe(0);
  expect(await inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
});

it('batch pop: a hundred at a time, and all of a batch that could not be inserted come again', async () => {
  const { get, producer, inspector } = await startApp([Rows]);
  const numbers = Array.from({ length: 250 }, (_, i) => i);
  await producer.scheduleMany(numbers.map((payload) => ({ job: 'row', payload })));
  const inserted: number[] = [];
  const insert = async (rows: number[]) => void inserted.push(...rows);
  const down = () => Promise.reject(new Error('the database is down'));
  await expect(get(Rows).flush(down)).rejects.toThrow('the database is down');
  const tried = await inspector.list('scheduled');
  expect(tried).toHaveLength(100);
  for (const job of tried) await producer.runNow(job.id);
  const counts: number[] = [];
  for (let i = 0; i < 4; i++) counts.push(await get(Rows).flush(insert));
  expect(counts).toEqual([100, 100, 50, 0]);
  expect(inserted.sort((a, b) => a - b)).toEqual(numbers);
  expect(await inspector.stats()).toMatchObject({ completed: 250, retried: 100 });
});

it('blocking pop: gets what is due now and later, and ends with the application', async () => {
  const { app, get, consumer, producer, inspector } = await startApp([Pages]);
  const visited: string[] = [];
  const pop = jest.spyOn(consumer, 'pop');
  const loop = (async () => {
    for await (const job of get(Pages).toVisit()) {
      visited.push(job.payload);
      expect(job.latenessMs).toBeGreaterThanOrEqual(0);
      await job.complete();
    }
  })();
  await producer.schedule('visit', 'later', { delay: 400 });
  await producer.dispatch('visit', 'now');
  await until('both are visited', async () => (await inspector.stats()).completed === 2);
  expect(visited).toEqual(['now', 'later']);
  expect(pop.mock.calls.length).toBeLessThanOrEqual(3);
  await app.close();
  await loop;
});

it('relay to a stream: a consumer group reads what is due, most urgent first', async () => {
  const client = await plainClient();
  await client.xgroup('CREATE', stream, 'python', '0', 'MKSTREAM');
  const { app, producer, inspector } = await startApp([ImageRelay], { autoStart: false });
  await producer.schedule('shrink', { file: 'later.png' }, { queue: 'images', delay: '1h' });
  const { id } = await producer.dispatch('shrink', { file: 'a.png' }, { queue: 'images' });
  await until('it is moved', async () => (await client.xlen(stream)) === 1);
  const [[, [[entry, fields]]]] = (await client.xreadgroup('GROUP', 'python', 'p1', 'STREAMS', stream, '>')) as [
    [string, [[string, string[]]]],
  ];
  expect(toRecord(fields)).toMatchObject({ id, name: 'shrink', payload: '{"file":"a.png"}' });
  expect(await client.xack(stream, 'python', entry)).toBe(1);
  expect(await inspector.counts({ queue: 'images' })).toMatchObject({ scheduled: 1, due: 0, active: 0 });
  await app.close();
});

it('relay to a list: a worker takes with a plain BLPOP what has become due', async () => {
  const client = await plainClient();
  const { producer, inspector } = await startApp([FaxRelay]);
  await producer.schedule('letter', null, { queue: 'faxes' });
  const waiting = client.blpop(list, 10);
  const { id } = await producer.schedule('fax', { to: 7 }, { queue: 'faxes', delay: 200 });
  const [, element] = (await waiting)!;
  expect(JSON.parse(element)).toMatchObject({ id, name: 'fax', payload: { to: 7 } });
  expect(await inspector.counts({ queue: 'faxes' })).toMatchObject({ due: 1, active: 0 });
});

it('many topics: one of two thousand is handled, the others wait for theirs and hold up nobody', async () => {
  const { get, consumer, producer, inspector } = await startApp([Devices]);
  const devices = Array.from({ length: 2_000 }, (_, i) => ({
    job: `device/${i}`,
    payload: 'restart',
    options: { queue: 'devices' },
  }));
  const [waiting] = await producer.scheduleMany(devices);
  await get(Devices).send('gateway', 'ping');
  await until('it is done', () => get(Devices).done.length === 1);
  expect(get(Devices).done).toEqual(['ping']);
  expect(await inspector.explain(waiting!)).toMatchObject({ code: 'no-handler' });
  const popped = await consumer.pop({ queue: 'devices', names: ['device/1234'], count: 10 });
  expect(popped.map(({ name }) => name)).toEqual(['device/1234']);
  expect(await inspector.counts({ queue: 'devices' })).toMatchObject({ due: 1_999, active: 1 });
});
