import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { currentScheduledJob, InvalidOptionsError, OnScheduledJob, ScheduledQueueEvents } from '../../../lib/index.js';
import { newPrefix, type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { StreamReader } from '../../support/stream-reader.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

@Injectable()
class Handlers {
  @OnScheduledJob('work')
  work(): void {}

  @OnScheduledJob('fail', { maxAttempts: 1 })
  fail(): void {
    throw Object.assign(new Error('no'), { code: 'ENO', payload: 'secret' });
  }
}

const streaming = (maxLength: number) => ({ queues: { default: { streamEvents: { maxLength } } } });
const PRODUCER = { role: 'producer', ...streaming(10_000) } as const;

afterEach(stopApps);

/** Adds an event for each of these ids, one after another. */
async function tell({ producer }: QueueApp, ...ids: string[]): Promise<void> {
  for (const id of ids) await producer.schedule('nobody', null, { id, delay: '1h' });
}

/** Resolves once these have been added. */
async function added({ events }: QueueApp, ...ids: string[]): Promise<void> {
  const reader = new StreamReader(events, '0');
  await reader.saw(...ids.map((id) => `scheduled ${id}`));
  reader.stop();
}

/** Resolves once a subscription without `from` hears what comes. */
async function hears(app: QueueApp, reader: StreamReader): Promise<void> {
  let n = 0;
  await until('it hears', async () => {
    await tell(app, `probe-${n++}`);
    return reader.seen.length > 0;
  });
}

it('one process hears the events of all, each with an id of its own, and nothing of payloads', async () => {
  const prefix = newPrefix();
  const reading = await startApp([], { ...PRODUCER, prefix });
  const reader = new StreamReader(reading.events);
  await hears(reading, reader);
  const scheduling = await startApp([], { ...PRODUCER, prefix });
  await startApp([Handlers], { ...streaming(10_000), prefix });
  const payload = { secret: 'secret' };
  await scheduling.producer.dispatch('work', payload, { id: 'w' });
  await scheduling.producer.dispatch('fail', payload, { id: 'f' });
  await reader.saw('scheduled w', 'completed w', 'scheduled f', 'dead f');
  // Each process tells its own in order; a job may run before the one that scheduled it has told so.
  expect(reader.of('w').filter((type) => type !== 'scheduled')).toEqual(['started', 'completed']);
  expect(reader.of('f').filter((type) => type !== 'scheduled')).toEqual(['started', 'failed', 'dead']);
  expect(reader.seen.find(({ type }) => type === 'dead')).toEqual({
    type: 'dead',
    queue: 'default',
    id: 'f',
    name: 'fail',
    attempt: 1,
    reason: 'attempts-exhausted',
    error: { name: 'Error', message: 'no', code: 'ENO' },
    eventId: expect.any(String),
  });
  expect(new Set(reader.ids).size).toBe(reader.seen.length);
  const redis = new Redis(redisUrl());
  expect(JSON.stringify(await redis.xrange(`${prefix}:{default}:events`, '-', '+'))).not.toContain('secret');
  redis.disconnect();
});

it('the events of worker processes come once each, in the order of each process, while readers come and go on', async () => {
  const workers = new WorkerProcesses();
  try {
    const options = { streamEvents: { maxLength: 100_000 } };
    await Promise.all(['a', 'b'].map((id) => workers.start(id, options)));
    const app = await startApp([], { ...PRODUCER, prefix: workers.prefix });
    const whole = new StreamReader(app.events, '0');
    const parts: StreamReader[] = [];
    const ids = Array.from({ length: 1_000 }, (_, i) => `job-${i}`);
    const scheduling = app.producer.scheduleMany(ids.map((id) => ({ job: 'work', payload: null, options: { id } })));
    for (let from = '0', count = 0; count < 3_000; ) {
      const part = new StreamReader(app.events, from);
      await until('it is told', () => part.seen.length > 0);
      part.stop();
      parts.push(part);
      from = part.ids.at(-1)!;
      count += part.seen.length;
    }
    await scheduling;
    await until('all is told', () => whole.seen.length === 3_000);
    expect(parts.flatMap((part) => part.ids)).toEqual(whole.ids);
    expect(parts.flatMap((part) => part.told)).toEqual(whole.told);
    expect(whole.told).not.toContain('gap');
    expect(new Set(whole.ids).size).toBe(3_000);
    for (const id of ids.slice(0, 50))
      expect(whole.of(id).filter((type) => type !== 'scheduled')).toEqual(['started', 'completed']);
    const bothRan = new Set(workers.history().map(({ worker }) => worker));
    expect([...bothRan].sort()).toEqual(['a', 'b']);
  } finally {
    await workers.stop();
  }
});

it('a reader begins with what is kept, with an instant, after an event, or now', async () => {
  const app = await startApp([], PRODUCER);
  await tell(app, 'a', 'b');
  await added(app, 'a', 'b');
  const redis = new Redis(redisUrl());
  const now = async () =>
    Math.floor((await redis.time()).reduce((whole, part) => whole * 1e6 + Number(part), 0) / 1_000);
  const from = await now();
  const since = await until('a millisecond passes', async () => (await now()) > from && new Date(await now()));
  redis.disconnect();
  await tell(app, 'c');
  await added(app, 'c');
  const fromNow = new StreamReader(app.events);
  await hears(app, fromNow);
  const all = new StreamReader(app.events, '0');
  const fromDate = new StreamReader(app.events, since);
  await tell(app, 'last');
  for (const reader of [all, fromDate, fromNow]) await reader.saw('scheduled last');
  const after = new StreamReader(app.events, all.ids[0]);
  await after.saw('scheduled last');
  const told = (reader: StreamReader) => reader.told.filter((each) => !each.includes('probe'));
  expect(told(all)).toEqual(['scheduled a', 'scheduled b', 'scheduled c', 'scheduled last']);
  expect(told(after)).toEqual(told(all).slice(1));
  expect(told(fromDate)).toEqual(told(all).slice(2));
  expect(told(fromNow)).toEqual(told(all).slice(3));
});

it('a reader that goes on is told of a gap where the cap has cut events off meanwhile, and only there', async () => {
  const app = await startApp([], { role: 'producer', ...streaming(5) });
  await tell(app, 'a', 'b');
  const first = new StreamReader(app.events, '0');
  await first.saw('scheduled b');
  first.stop();
  const ids = Array.from({ length: 8 }, (_, i) => `job-${i}`);
  for (const id of ids) {
    await tell(app, id);
    await added(app, id);
  }
  const second = new StreamReader(app.events, first.ids.at(-1));
  await second.saw('scheduled job-7');
  expect(second.told).toEqual(['gap', ...ids.slice(-5).map((id) => `scheduled ${id}`)]);
  expect(second.seen[0]).toEqual({ type: 'gap', queue: 'default', eventId: expect.any(String) });
  const third = new StreamReader(app.events, second.ids[0]);
  await third.saw('scheduled job-7');
  expect(third.told).toEqual(second.told.slice(2));
});

it('a process that has streamEvents off tells nothing there, and reads what others tell', async () => {
  const prefix = newPrefix();
  const off = await startApp([], { prefix, role: 'producer' });
  const on = await startApp([], { ...PRODUCER, prefix });
  const reader = new StreamReader(off.events, '0');
  await tell(off, 'silent');
  await tell(on, 'told');
  await reader.saw('scheduled told');
  expect(reader.told).toEqual(['scheduled told']);
});

it('off it costs nothing: no event is made, and nothing is written', async () => {
  const { app, producer, prefix, inspector } = await startApp([Handlers], {
    queues: { default: {}, watched: { streamEvents: { maxLength: 10 } } },
  });
  const events = app.get(ScheduledQueueEvents);
  expect(['default', 'watched', 'other'].map((queue) => events.wants(queue))).toEqual([false, true, false]);
  await producer.dispatch('work', null);
  await until('it has run', async () => (await inspector.stats()).completed === 1);
  await app.close();
  const redis = new Redis(redisUrl());
  expect(await redis.exists(`${prefix}:{default}:events`)).toBe(0);
  redis.disconnect();
});

it('what was told before the shutdown is in the stream, and readers complete', async () => {
  const prefix = newPrefix();
  const other = await startApp([], { prefix });
  const { app, producer, events } = await startApp([], { ...PRODUCER, prefix });
  const own = new StreamReader(events, '0');
  const ids = Array.from({ length: 100 }, (_, i) => `job-${i}`);
  await producer.scheduleMany(ids.map((id) => ({ job: 'nobody', payload: null, options: { id, delay: '1h' } })));
  await app.close();
  expect(own.isComplete).toBe(true);
  const afterwards = new StreamReader(events, '0');
  expect([afterwards.isComplete, afterwards.error]).toEqual([true, undefined]);
  const reader = new StreamReader(other.events, '0');
  await reader.saw(`scheduled ${ids.at(-1)}`);
  expect(reader.told).toEqual(ids.map((id) => `scheduled ${id}`));
});

it('a subscriber is below no handler, also where a handler has subscribed', async () => {
  const seen: unknown[] = [];
  @Injectable()
  class Subscribing {
    constructor(private readonly events: ScheduledQueueEvents) {}

    @OnScheduledJob('subscribe')
    async subscribe(): Promise<void> {
      this.events.stream({ from: '0' }).subscribe(() => seen.push(currentScheduledJob()?.id));
      await until('it is told while its handler runs', () => seen.length > 0);
    }
  }
  const app = await startApp([Subscribing], streaming(100));
  // So that the very first look of the subscription finds one.
  await tell(app, 'a');
  await added(app, 'a');
  await app.producer.dispatch('subscribe', null);
  await until('it is told', () => seen.length > 2);
  expect(new Set(seen)).toEqual(new Set([undefined]));
});

it('options that cannot be used are refused at once, before anything is read, and those of a queue at the start', async () => {
  const { events } = await startApp([], PRODUCER);
  expect(() => events.stream({ from: 'yesterday' })).toThrow(InvalidOptionsError);
  expect(() => events.stream({ form: '0' } as never)).toThrow("did you mean 'from'?");
  const started = startApp([], { queues: { default: { streamEvents: true as never } } });
  await expect(started).rejects.toThrow(InvalidOptionsError);
  await expect(started).rejects.toThrow("queues['default']: streamEvents: got true, expected false or { maxLength }.");
});
