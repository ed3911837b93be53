import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  InvalidScheduleError,
  OnScheduledJob,
  type ScheduledQueueEvent,
  type ScheduleOptions,
  type ScheduleStatus,
} from '../../../lib/index.js';
import { audit } from '../../support/audit.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

afterEach(stopApps);

describe('a debounce over processes', () => {
  const processes = new WorkerProcesses();
  let app: QueueApp;

  beforeAll(async () => {
    app = await startApp([], { prefix: processes.prefix, role: 'producer' });
    await processes.start('first', { leaseMs: 1_000, workMs: 300, shutdownTimeoutMs: 100 });
  });
  afterAll(() => processes.stop());

  interface Change {
    workMs?: number;
    fails?: boolean;
  }
  const change = async (
    version: number,
    expected: ScheduleStatus,
    more: Change = {},
    options: ScheduleOptions = {},
  ) => {
    const payload = { version, ...more };
    const ref = await app.producer.schedule('work', payload, { id: 'doc', onDuplicate: 'replace', ...options });
    expect(`${version} ${ref.status}`).toBe(`${version} ${expected}`);
  };
  const happened = (event: string, version: number) =>
    until(`${event} of ${version}`, () => {
      return processes.history().some((line) => line.event === event && line.version === version);
    });
  const inState = (state: string | undefined) =>
    until(`it is ${state}`, async () => (await app.inspector.job('doc'))?.state === state);

  it('runs the last change, whenever it comes', async () => {
    // Before.
    await change(1, 'created', {}, { delay: '1h' });
    await change(2, 'replaced');
    // During, and twice during.
    await happened('start', 2);
    await change(3, 'queued');
    await happened('start', 3);
    await change(4, 'queued');
    await change(5, 'queued');
    // After.
    await happened('end', 5);
    await inState(undefined);
    await change(6, 'created');
    await happened('end', 6);
    await inState(undefined);
    // After a dead letter.
    await change(7, 'created', { fails: true }, { maxAttempts: 1 });
    await inState('dead');
    await change(8, 'created');
    await happened('end', 8);
    await inState(undefined);
    // During a last attempt.
    await change(9, 'created', { fails: true }, { maxAttempts: 1 });
    await happened('start', 9);
    await change(10, 'queued');
    await happened('end', 10);
    await inState(undefined);
    // Over a shutdown.
    await change(11, 'created', { workMs: 60_000 });
    await happened('start', 11);
    await change(12, 'queued');
    await processes.start('second', { leaseMs: 1_000, workMs: 300 });
    processes.signal('first', 'SIGTERM');
    await happened('end', 12);
    expect(await processes.ended('first')).toBe('SIGTERM');
    await inState(undefined);
    // Over a killed worker.
    await change(13, 'created', { workMs: 60_000 });
    await happened('start', 13);
    await change(14, 'queued');
    processes.signal('second', 'SIGKILL');
    await processes.start('third', { leaseMs: 1_000 });
    await happened('end', 14);
    await inState(undefined);

    const versions = processes.history().flatMap((line) => (line.event === 'start' ? [line.version] : []));
    expect(versions).toEqual([2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    expect(await app.inspector.stats()).toMatchObject({ failed: 2, retried: 0, dead: 1, deadDropped: 1, recovered: 1 });
    const redis = new Redis(redisUrl());
    expect(await audit(redis, processes.prefix)).toEqual([]);
    redis.disconnect();
  });
});

const index = defineScheduledJob<{ version: number }>('index', { maxAttempts: 1, onDuplicate: 'replace' });

class Indexer {
  readonly runs: { version: number; end(error?: Error): void }[] = [];

  @OnScheduledJob(index)
  index({ version }: { version: number }): Promise<void> {
    return new Promise((resolve, reject) => {
      this.runs.push({ version, end: (error) => (error ? reject(error) : resolve()) });
    });
  }
}

async function startIndexer() {
  const warnings: string[] = [];
  const log = { log() {}, warn: (line: string) => warnings.push(line), error() {} };
  const app = await startApp([Indexer], {}, { log });
  const events: ScheduledQueueEvent[] = [];
  app.events.events$.subscribe((event) => events.push(event));
  const { runs } = app.get(Indexer);
  const change = (version: number, options: ScheduleOptions = {}) =>
    app.producer.schedule(index, { version }, { id: 'doc', ...options });
  return { ...app, warnings, events, runs, change };
}

describe('a change while the job runs', () => {
  it('is shown by the inspector, can be moved and cancelled, and is counted nowhere', async () => {
    const { producer, inspector, runs, change } = await startIndexer();
    await change(1);
    await until('it runs', () => runs.length === 1);
    const { dueAt } = await change(2, { delay: '1h' });
    expect(await inspector.job('doc')).toMatchObject({ state: 'active', payload: { version: 1 }, queued: { dueAt } });
    expect(await inspector.counts()).toMatchObject({ scheduled: 0, due: 0, active: 1 });
    expect(await producer.reschedule('doc', { at: '2040-01-01T00:00:00Z' })).toBe(true);
    expect(await inspector.job('doc')).toMatchObject({ queued: { dueAt: new Date('2040-01-01T00:00:00Z') } });
    expect(await producer.cancel('doc')).toBe(true);
    expect(await inspector.job('doc')).not.toHaveProperty('queued');
    await change(3);
    expect(await producer.runNow(index.ref('doc'))).toBe(true);
    runs[0]!.end();
    await until('the next runs', () => runs.length === 2);
    expect(runs[1]!.version).toBe(3);
    runs[1]!.end();
  });

  it('keeps a run that fails from being retried or dead, and the event says so', async () => {
    const { inspector, runs, events, change } = await startIndexer();
    await change(1);
    await until('it runs', () => runs.length === 1);
    await change(2);
    runs[0]!.end(new Error('no'));
    await until('the next runs', () => runs.length === 2);
    expect(events.filter(({ type }) => type === 'failed')).toMatchObject([
      { id: 'doc', retryAt: null, replaced: true },
    ]);
    expect(events.some(({ type }) => type === 'dead')).toBe(false);
    expect(await inspector.counts()).toMatchObject({ dead: 0 });
    runs[1]!.end(new Error('no'));
    await until('it is dead', () => events.some(({ type }) => type === 'dead'));
    expect(events.findLast(({ type }) => type === 'failed')).not.toHaveProperty('replaced');
    await change(3);
    expect(events).toContainEqual({ type: 'deadDropped', queue: 'default', id: 'doc', name: 'index' });
    await until('it runs', () => runs.length === 3);
    runs[2]!.end();
  });

  it('that is cancelled leaves a run that fails neither retried nor dead, and the events say so', async () => {
    const { producer, inspector, runs, events, warnings, change } = await startIndexer();
    await change(1);
    await until('it runs', () => runs.length === 1);
    await change(2);
    expect(await producer.cancel('doc')).toBe(true);
    const isCancelled = ({ type }: ScheduledQueueEvent) => type === 'cancelled';
    expect(events.filter(isCancelled)).toHaveLength(1);
    runs[0]!.end(new Error('no'));
    await until('the run is told to be cancelled', () => events.filter(isCancelled).length === 2);
    expect(events.filter(({ type }) => type === 'failed')).toMatchObject([
      { id: 'doc', retryAt: null, replaced: true },
    ]);
    expect(await inspector.job('doc')).toBeNull();
    expect(await inspector.stats()).toMatchObject({ scheduled: 2, started: 1, failed: 1, cancelled: 2, dead: 0 });
    expect(warnings.join('\n')).toContain('the later job of its id was cancelled');
  });

  it('begins once the run has been cancelled', async () => {
    const { inspector, runs, change } = await startIndexer();
    await change(1);
    await until('it runs', () => runs.length === 1);
    await change(2);
    expect(await inspector.cancelRunning('doc')).toBe(true);
    runs[0]!.end();
    await until('the next runs', () => runs.length === 2);
    expect(await inspector.stats()).toMatchObject({ scheduled: 2, cancelled: 1 });
    runs[1]!.end();
  });

  it.each(['complete', 'fail', 'snooze'] as const)('takes the place of a popped job after its %s', async (end) => {
    const { producer, consumer, inspector } = await startApp([], { autoStart: false });
    await producer.schedule('pull', 1, { id: 'doc' });
    const [job] = await consumer.pop({ count: 1, waitMs: 0 });
    await producer.schedule('pull', 2, { id: 'doc', onDuplicate: 'replace' });
    expect(
      await (end === 'complete' ? job!.complete() : end === 'fail' ? job!.fail(new Error('no')) : job!.snooze('1h')),
    ).toBe(true);
    expect(await inspector.job('doc')).toMatchObject({ state: 'due', payload: 2, attempts: 0 });
  });
});

describe('an id', () => {
  it('that a job of another name has is told as taken, and warned of once for the two names', async () => {
    const { producer, warnings, change } = await startIndexer();
    const first = await change(1, { delay: '1h' });
    for (const id of ['doc', 'doc']) {
      expect(await producer.schedule('mail', { secret: 7 }, { id })).toEqual({
        ...first,
        created: false,
        status: 'taken',
      });
    }
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("A job 'mail' was not scheduled in queue 'default': a job 'index' has its id.");
    expect(warnings[0]).not.toContain('7');
  });

  it('of one scheduleMany is taken in the order of its items, replacing ones as well', async () => {
    const { producer, inspector } = await startApp([], { autoStart: false });
    const change = (version: number, onDuplicate: 'keep' | 'replace', id = 'doc') => ({
      job: index,
      payload: { version },
      options: { id, onDuplicate, delay: '1h' as const },
    });
    const replacing = Array.from({ length: 50 }, (_, i) => change(i + 2, 'replace'));
    const items = [change(0, 'keep'), change(1, 'keep'), ...replacing, change(99, 'keep'), change(7, 'keep', 'other')];
    const statuses = (await producer.scheduleMany(items)).map(({ id, status }) => `${id} ${status}`);
    const expected = ['created', 'waiting', ...replacing.map(() => 'replaced'), 'waiting'].map(
      (status) => `doc ${status}`,
    );
    expect(statuses).toEqual([...expected, 'other created']);
    expect(await inspector.job('doc')).toMatchObject({ payload: { version: 51 } });
  });

  it('of one scheduleMany is replaced in the order of its items, in a row and under a throttle too', async () => {
    const { producer, inspector } = await startApp([], { autoStart: false });
    const row = { id: 'row', delay: '1h', maxWaitMs: '1m' } as const;
    const throttled = { id: 'throttled', throttleMs: '1 day' } as const;
    const items = Array.from({ length: 20 }, (_, version) => [
      { job: index, payload: { version }, options: row },
      { job: index, payload: { version }, options: throttled },
    ]).flat();
    const refs = await producer.scheduleMany(items);
    const statuses = refs.map(({ id, status }) => `${id} ${status}`);
    const expected = Array.from({ length: 38 }, (_, i) => `${i % 2 === 0 ? 'row' : 'throttled'} replaced`);
    expect(statuses).toEqual(['row created', 'throttled created', ...expected]);
    expect(new Set(refs.map(({ dueAt }) => dueAt!.getTime())).size).toBe(2);
    for (const id of ['row', 'throttled']) expect((await inspector.job(id))?.payload).toEqual({ version: 19 });
    const { createdAt } = (await inspector.job('row'))!;
    expect(refs[0]!.dueAt!.getTime()).toBe(createdAt!.getTime() + 60_000);
  });

  it('that cannot be replaced has neither a longest wait nor a throttle, and nothing is written', async () => {
    const { producer, inspector } = await startApp([], { autoStart: false });
    const calls = [
      producer.schedule('save', 1, { maxWaitMs: '1m' }),
      producer.schedule('save', 1, { id: 'a', throttleMs: '1m' }),
      producer.schedule(index, { version: 1 }, { id: 'a', maxWaitMs: 1, throttleMs: 1 }),
      producer.scheduleMany([{ job: index, payload: { version: 1 }, options: { throttleMs: 1 } }]),
    ];
    for (const call of calls) await expect(call).rejects.toThrow(InvalidScheduleError);
    expect(await inspector.stats()).toMatchObject({ scheduled: 0 });
  });

  it("is named with its definition's queue by ref, also of a definition that was spread and changed", () => {
    const mail = defineScheduledJob('mail', { queue: 'mails' });
    expect(mail.ref('m/1')).toEqual({ id: 'm/1', queue: 'mails' });
    expect(index.ref('doc')).toEqual({ id: 'doc', queue: 'default' });
    expect({ ...mail, queue: 'others' }.ref('m/1')).toEqual({ id: 'm/1', queue: 'others' });
    expect(() => mail.ref('')).toThrow(InvalidScheduleError);
    expect(() => mail.ref('')).toThrow('The ref of job \'mail\': id: got "", expected 1 to 256 printable characters.');
  });
});

it('options in the place of the payload are refused, where no class tells them from one', async () => {
  const { producer, inspector } = await startApp([], { autoStart: false });
  const ping = defineScheduledJob<unknown>('ping');
  const call = producer.schedule(ping, { delay: '1h', priority: 1 } as never);
  await expect(call).rejects.toThrow(InvalidScheduleError);
  await expect(call).rejects.toThrow(
    "schedule('ping'): got { delay, priority } as the payload, which are all names of options: expected them as the third argument",
  );
  await expect(producer.dispatch(ping, { id: 'x' } as never)).rejects.toThrow('names of options');
  expect(await inspector.stats()).toMatchObject({ scheduled: 0 });
  const byName = producer.schedule('ping', { delay: '1h', tags: ['a'] });
  await expect(byName).rejects.toThrow(InvalidScheduleError);
  await expect(byName).rejects.toThrow("schedule('ping'): got { delay, tags } as the payload");
  await expect(producer.schedule('ping', { at: new Date() })).rejects.toThrow('got { at } as the payload');
  expect(await inspector.stats()).toMatchObject({ scheduled: 0 });
  // A payload by what else it holds, by options of its own, and under a bare name.
  await producer.schedule(ping, { id: 7, title: 'a' });
  await producer.schedule(ping, { id: 7 }, {});
  await producer.schedule('ping', { id: 7 });
  await producer.schedule('ping', { id: 'a', priority: 1 });
  await producer.schedule('ping', { at: 'the station' });
  await producer.schedule('ping', { delay: '1h' }, {});
  await producer.scheduleMany([{ job: ping, payload: { id: 7 } }]);
  expect(await inspector.stats()).toMatchObject({ scheduled: 7 });
});
