import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { QueueUnavailableError } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

const MB = 1_000_000;
const payloadOf = (bytes: number) => 'x'.repeat(bytes);

const proxies: TcpProxy[] = [];

async function slowLink(bytesPerSecond: number): Promise<TcpProxy> {
  const proxy = await TcpProxy.start(redisUrl());
  proxies.push(proxy);
  proxy.throttle(bytesPerSecond);
  return proxy;
}

let prefix: string;
beforeEach(() => {
  prefix = newPrefix();
});

afterEach(async () => {
  await stopApps();
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
});

it('twelve jobs of 1 MB all run once over 12 Mbit/s and two workers, and none of them is recovered', async () => {
  const near = await startApp([], { prefix, role: 'producer' });
  await near.producer.scheduleMany(Array.from({ length: 12 }, () => ({ job: 'work', payload: payloadOf(MB) })));
  const log = new LogLines();
  const { url } = await slowLink(1.5 * MB);
  const queues = { default: { leaseMs: 6_000 } };
  const workers = await Promise.all([1, 2].map(() => startApp([Work], { prefix, connection: url, queues }, { log })));
  await until('all have run', async () => (await near.inspector.stats()).completed === 12);
  expect(workers.flatMap((worker) => worker.get(Work).twice())).toEqual([]);
  expect(await near.inspector.stats()).toMatchObject({ started: 12, recovered: 0, completed: 12 });
  expect(log.lines).toEqual([]);
});

it('a job that alone takes longer than any call may take arrives all the same, and runs once', async () => {
  const near = await startApp([], { prefix, role: 'producer' });
  await near.producer.schedule('work', payloadOf(MB));
  const { url } = await slowLink(0.15 * MB);
  const queues = { default: { leaseMs: 10_000 } };
  await startApp([Work], { prefix, connection: url, queues, commandTimeoutMs: 2_000 });
  await until('it has run', async () => (await near.inspector.stats()).completed === 1);
  expect(await near.inspector.stats()).toMatchObject({ started: 1, recovered: 0 });
});

it('twenty schedules of 1 MB at once over 16 Mbit/s are sent once each, and those that find no time are refused unsent', async () => {
  const link = await slowLink(2 * MB);
  const app = await startApp([], { prefix, connection: link.url, role: 'producer' });
  const calls = Array.from({ length: 20 }, () => app.producer.schedule('work', payloadOf(MB), { delay: '1h' }));
  const answers = await Promise.allSettled(calls);
  const done = answers.filter(({ status }) => status === 'fulfilled').length;
  const errors = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  const refused = errors.filter((error) => error instanceof QueueUnavailableError && error.outcome === 'refused');
  // Ten fit into five seconds; a busy machine is slower than the link.
  expect(done).toBeGreaterThanOrEqual(3);
  // One on a quiet machine. On a busy one answers are late besides, but most of those that find no time are never sent.
  const unknown = errors.length - refused.length;
  expect(unknown).toBeLessThan(refused.length);
  expect(link.bytesUp).toBeLessThan(1.3 * (done + unknown + 1) * MB);
  const far = await startApp([], { prefix, role: 'producer' });
  await until('what was sent is there', async () => (await far.inspector.counts()).scheduled >= done);
  expect((await far.inspector.counts()).scheduled).toBeLessThanOrEqual(20 - refused.length);
});

it('large schedules over a slow link hold up no small ones, and none is sent twice', async () => {
  const link = await slowLink(2 * MB);
  const app = await startApp([], { prefix, connection: link.url, role: 'producer', commandTimeoutMs: 10_000 });
  const large = app.producer.scheduleMany(
    Array.from({ length: 8 }, () => ({ job: 'work', payload: payloadOf(MB), options: { delay: '1h' } })),
  );
  let isSmallDone = false;
  const small = app.producer
    .schedule('work', 1, { delay: '1h', id: 'small', onDuplicate: 'replace' })
    .then(() => (isSmallDone = true));
  await large;
  expect(isSmallDone).toBe(true);
  await small;
  expect((await app.inspector.counts()).scheduled).toBe(9);
  expect(link.bytesUp).toBeLessThan(1.3 * 8 * MB);
});
