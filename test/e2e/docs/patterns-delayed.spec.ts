import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { LeaseLostError, type ScheduledQueueEvent } from '../../../lib/index.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { snapshot } from '../../support/snapshot.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { ReportHandler, Reports } from './patterns/atomic-claim-with-in-progress-set.js';
import { Printer } from './patterns/claim-by-removal.js';
import { Orders } from './patterns/delayed-queue-with-separate-payload.js';
import { Reminders } from './patterns/poll-and-remove.js';
import { Mails } from './patterns/ready-list-plus-delayed-set.js';

afterEach(stopApps);

it('poll and remove: of two workers one sends each reminder, when it is due', async () => {
  const prefix = newPrefix();
  const apps = [await startApp([Reminders], { prefix }), await startApp([Reminders], { prefix })];
  const started: ScheduledQueueEvent[] = [];
  for (const { events } of apps) events.events$.subscribe((event) => event.type === 'started' && started.push(event));
  const users = Array.from({ length: 40 }, (_, i) => `user-${i}`);
  const refs = await Promise.all(users.map((user, i) => apps[0]!.get(Reminders).remind(user, 20 * i)));
  expect(refs.at(-1)!.dueAt!.getTime() - refs[0]!.dueAt!.getTime()).toBeGreaterThan(600);
  await until('all are sent', async () => (await apps[0]!.inspector.stats()).completed === users.length);
  const sent = apps.flatMap(({ get }) => get(Reminders).sent);
  expect(sent.sort()).toEqual([...users].sort());
  expect(started).toHaveLength(users.length);
  expect(started.filter((event) => event.type === 'started' && event.latenessMs < 0)).toEqual([]);
});

it('claim by removal: what a printer holds comes back when it is gone, and it cannot settle it any more', async () => {
  const { get, producer, inspector } = await startApp([Printer], { queues: { print: { leaseMs: 1_000 } } });
  const ref = await producer.schedule('page', 'a page', { queue: 'print' });
  const printed: string[] = [];
  let thaw = () => {};
  const frozen = get(Printer).next(() => new Promise((resolve) => (thaw = resolve)));
  await until('it is claimed', async () => (await inspector.counts({ queue: 'print' })).active === 1);
  const print = async (page: string) => void printed.push(page);
  expect(await get(Printer).next(print)).toBe(false);
  await until('another one has it', () => get(Printer).next(print));
  thaw();
  expect(await frozen).toBe(false);
  expect(printed).toEqual(['a page']);
  expect(await inspector.job(ref)).toBeNull();
});

it('claim by removal: what cannot be printed is tried again', async () => {
  const { get, producer, inspector } = await startApp([Printer]);
  const ref = await producer.schedule('page', 'a page', { queue: 'print' });
  expect(await get(Printer).next(() => Promise.reject(new Error('no paper')))).toBe(true);
  const job = await inspector.job(ref);
  expect(job).toMatchObject({ state: 'scheduled', attempts: 1, failures: [{ message: 'no paper' }] });
});

it('in-progress set: a worker that was cut off is told so, and what it writes late is refused', async () => {
  const table = new Map<string, { text: string; fence: number }>();
  const refused: string[] = [];
  const reports = (render: Reports['render']): Reports => ({
    render,
    save: async (name, text, fence) => {
      if (fence <= (table.get(name)?.fence ?? 0)) refused.push(text);
      else table.set(name, { text, fence });
    },
  });
  const prefix = newPrefix();
  const queues = { default: { leaseMs: 1_000 } };
  const proxy = await TcpProxy.start(redisUrl());
  try {
    let signal: AbortSignal | undefined;
    let thaw = () => {};
    const frozen = new Promise<void>((resolve) => (thaw = resolve));
    const cutOff = reports(async (_, abortedBy) => {
      signal = abortedBy;
      await frozen;
      return 'outdated';
    });
    const first = { prefix, queues, connection: proxy.url, commandTimeoutMs: 1_000 };
    const { producer } = await startApp([ReportHandler, { provide: Reports, useValue: cutOff }], first);
    await producer.schedule('report', 'sales');
    await until('the first worker renders', () => signal);
    proxy.refuse();
    const other = reports(async () => 'current');
    await startApp([ReportHandler, { provide: Reports, useValue: other }], { prefix, queues });
    await until('the other worker has written', () => table.has('sales'));
    proxy.accept();
    await until('the first hears of it', () => signal!.aborted);
    expect(signal!.reason).toBeInstanceOf(LeaseLostError);
    thaw();
    await until('it has tried to write', () => refused.length > 0);
    expect(refused).toEqual(['outdated']);
    expect(table.get('sales')!.text).toBe('current');
  } finally {
    await stopApps();
    await proxy.stop();
  }
});

it('ready list plus delayed set: mails go now and later, and one that is due can still be taken back', async () => {
  const { get, consumer, inspector } = await startApp([Mails], { autoStart: false });
  const mails = get(Mails);
  const due = await mails.now('never');
  await mails.now('at once');
  const inAMoment = new Date(Date.now() + 500);
  await mails.later('later', inAMoment);
  expect(await inspector.job(due)).toMatchObject({ state: 'due' });
  expect(await mails.undo(due)).toBe(true);
  await consumer.start();
  await until('both are sent', () => mails.sent.length === 2);
  expect(Date.now()).toBeGreaterThanOrEqual(inAMoment.getTime() - 1);
  expect(mails.sent).toEqual(['at once', 'later']);
});

it('separate payload: an order is put off, cancelled and expired by its id, and nothing of it stays', async () => {
  const { get, prefix, producer, inspector } = await startApp([Orders]);
  const orders = get(Orders);
  const { dueAt } = await orders.placed('o1', ['a', 'b']);
  expect(await orders.placed('o1', ['again'])).toMatchObject({ created: false });
  await until('a moment has passed', () => Date.now() > dueAt!.getTime() - 1_800_000 + 50);
  expect(await orders.touched('o1')).toBe(true);
  expect((await inspector.job('o1'))!.dueAt.getTime()).toBeGreaterThan(dueAt!.getTime());
  await orders.placed('o2', []);
  expect(await orders.paid('o2')).toBe(true);
  expect(await inspector.job('o2')).toBeNull();
  await producer.runNow('o1');
  await until('it is expired', async () => (await inspector.stats()).completed === 1);
  expect(orders.expired).toEqual(['o1: a,b']);
  expect(await orders.touched('o1')).toBe(false);
  expect(await inspector.job('o1')).toBeNull();
  const redis = new Redis(redisUrl());
  const { envelopes } = await snapshot(redis, prefix);
  redis.disconnect();
  expect(envelopes.size).toBe(0);
});
