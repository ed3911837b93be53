import { afterEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  InvalidPayloadError,
  InvalidScheduleError,
  type PayloadCodec,
  PayloadTooLargeError,
  type PreparedJob,
} from '../../../lib/index.js';
import { messagePackCodec } from '../../../lib/msgpack/index.js';
import { audit } from '../../support/audit.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

afterEach(async () => {
  await Promise.all([stopApps(), stopTestedApps()]);
});

/** As it comes from where the caller has kept it. */
const kept = (prepared: PreparedJob): PreparedJob => JSON.parse(JSON.stringify(prepared));

const work = defineScheduledJob<{ n: number }>('work', { tags: ['defined'], priority: 2 });

describe('a prepared job', () => {
  it('runs once, however often and wherever it is handed over', async () => {
    const { producer, prefix, get, inspector } = await startApp([Work]);
    const other = await startApp([], { prefix, role: 'producer' });
    const prepared = await producer.prepare(work, { n: 7 });
    expect(prepared).toMatchObject({ format: 1, queue: 'default', name: 'work' });
    const first = await producer.schedulePrepared(kept(prepared));
    expect(first).toMatchObject({ id: prepared.id, name: 'work', queue: 'default', status: 'created' });
    await until('it has run', () => get(Work).ended.length === 1);
    await until('it has ended', async () => (await inspector.job(prepared.id)) === null);
    expect(await other.producer.schedulePrepared(kept(prepared))).toMatchObject({ status: 'ended', created: false });
    expect(get(Work).runs).toMatchObject([{ id: prepared.id, payload: { n: 7 } }]);
    const redis = new Redis(redisUrl());
    expect(await audit(redis, prefix).finally(() => redis.disconnect())).toEqual([]);
  });

  it('is the job that schedule would have made, with the options of its definition', async () => {
    const { producer, inspector } = await startApp([], { role: 'producer' });
    const options = { id: 'a', delay: '1h', maxAttempts: 2, tags: ['own'], headers: { a: 'b' } } as const;
    await producer.schedulePrepared(kept(await producer.prepare(work, { n: 1 }, options)));
    await producer.schedule(work, { n: 1 }, { ...options, id: 'b' });
    const [a, b] = await Promise.all([inspector.job('a'), inspector.job('b')]);
    const same = { id: '', dueAt: null, createdAt: null };
    expect({ ...a, ...same }).toEqual({ ...b, ...same });
    expect(a).toMatchObject({ priority: 2, tags: ['defined', 'own'], headers: { a: 'b' } });
  });

  it('counts its delay from the handing over, and keeps its instant', async () => {
    const { producer, tester } = await testedApp();
    const delayed = await producer.prepare(work, { n: 1 }, { delay: '1h' });
    const at = new Date(START + 7 * 3_600_000);
    const dated = await producer.prepare(work, { n: 1 }, { at });
    await tester.advance('30m');
    const [one, two] = await producer.schedulePrepared([kept(delayed), kept(dated)]);
    expect(one!.dueAt).toEqual(new Date(START + 90 * 60_000));
    expect(two!.dueAt).toEqual(at);
  });

  it('replaces each time with onDuplicate replace, and begins another where the first has ended', async () => {
    const { producer, get, inspector } = await startApp([Work]);
    const prepared = await producer.prepare(work, { n: 1 }, { id: 'doc', onDuplicate: 'replace', delay: '1h' });
    expect((await producer.schedulePrepared(kept(prepared))).status).toBe('created');
    expect((await producer.schedulePrepared(kept(prepared))).status).toBe('replaced');
    await producer.runNow('doc');
    await until('it has run', () => get(Work).ended.length === 1);
    // Before it has ended, another one would be queued behind it, for an hour.
    await until('it has ended', async () => (await inspector.job('doc')) === null);
    expect((await producer.schedulePrepared(kept(prepared))).status).toBe('created');
  });

  it('is made and kept while Redis is away, at once', async () => {
    const { producer } = await startApp([], {
      connection: 'redis://127.0.0.1:1',
      role: 'producer',
      commandTimeoutMs: 600_000,
    });
    const many = await Promise.all(Array.from({ length: 100 }, (_, n) => producer.prepare(work, { n })));
    expect(new Set(many.map(({ id }) => id)).size).toBe(100);
  });

  it('is refused as by schedule, when it is prepared', async () => {
    const { producer } = await startApp([], { role: 'producer', maxPayloadBytes: 100 });
    await expect(producer.prepare('work', undefined as never)).rejects.toThrow(InvalidPayloadError);
    await expect(producer.prepare('work', 'x'.repeat(100))).rejects.toThrow(PayloadTooLargeError);
    await expect(producer.prepare('work', {}, { delay: 'soon' as never })).rejects.toThrow(InvalidScheduleError);
    await expect(producer.prepare('work', {}, { onDuplicate: 'replace' })).rejects.toThrow('needs an id');
  });

  it('with the id of an occurrence is refused when it is handed over, alone and among others', async () => {
    const { producer, inspector } = await startApp([], { role: 'producer' });
    await producer.upsertRecurrence('nightly', 'work', {}, { everyMs: '1h' });
    const own = await producer.prepare(work, { n: 1 }, { delay: '1h' });
    const bad = await producer.prepare(work, { n: 1 }, { id: 'nightly@1893456000000' });
    const message = "id of an occurrence of the recurrence 'nightly'";
    await expect(producer.schedulePrepared(bad)).rejects.toThrow(message);
    await expect(producer.schedulePrepared([own, bad])).rejects.toThrow(/^schedulePrepared: item 1: .*occurrence/);
    expect(await inspector.job(own.id)).toBeNull();
  });
});

describe('many prepared jobs', () => {
  it('are answered in their order, over queues, one of them twice', async () => {
    const { producer } = await startApp([], { role: 'producer' });
    const a = await producer.prepare('work', 1, { delay: '1h' });
    const b = await producer.prepare('work', 2, { delay: '1h', queue: 'other' });
    const refs = await producer.schedulePrepared([a, b, a]);
    expect(refs.map(({ id, queue, status }) => [id, queue, status])).toEqual([
      [a.id, 'default', 'created'],
      [b.id, 'other', 'created'],
      [a.id, 'default', 'waiting'],
    ]);
    expect(await producer.schedulePrepared([])).toEqual([]);
  });

  it('are handed over together or, where one is none, not at all', async () => {
    const { producer, inspector } = await startApp([], { role: 'producer', maxPayloadBytes: 100 });
    const good = await producer.prepare('work', 1, { delay: '1h' });
    const refused = (bad: unknown) => producer.schedulePrepared([good, bad as PreparedJob]);
    await expect(refused({ ...good, format: 2 })).rejects.toThrow(/^schedulePrepared: item 1: format: got 2/);
    await expect(refused(undefined)).rejects.toThrow(/^schedulePrepared: item 1: got undefined/);
    await expect(refused({ ...good, payload: `"${'x'.repeat(100)}"` })).rejects.toThrow(PayloadTooLargeError);
    await expect(producer.schedulePrepared({ ...good, format: 2 } as never)).rejects.toThrow(
      /^schedulePrepared: format/,
    );
    await expect(producer.schedulePrepared('a' as never)).rejects.toThrow('schedulePrepared: got text');
    expect(await inspector.job(good.id)).toBeNull();
  });
});

it('the process that hands a job over need not know its codec', async () => {
  const text: PayloadCodec<string> = {
    id: 'backwards',
    encode: (payload) => [...JSON.stringify(payload)].reverse().join(''),
    decode: (stored) => JSON.parse([...stored].reverse().join('')),
  };
  const prefix = newPrefix();
  const codecs = [messagePackCodec, text];
  const writers = await Promise.all(codecs.map((codec) => startApp([], { prefix, codec, role: 'producer' })));
  const prepared = await Promise.all(writers.map(({ producer }, n) => producer.prepare(work, { n })));
  const { producer } = await startApp([], { prefix, role: 'producer' });
  await producer.schedulePrepared(prepared.map(kept));
  const { get } = await startApp([Work], { prefix, codecs });
  await until('both have run', () => get(Work).ended.length === 2);
  expect(get(Work).runs.map(({ payload }) => payload)).toEqual(expect.arrayContaining([{ n: 0 }, { n: 1 }]));
});

describe('where Redis is away', () => {
  it('the error of a handing over names the job, alone as by schedule', async () => {
    const { producer } = await startApp([], {
      connection: 'redis://127.0.0.1:1',
      role: 'producer',
      commandTimeoutMs: 300,
    });
    const prepared = await producer.prepare('work', 1);
    const about = { outcome: 'refused', queue: 'default', jobName: 'work', jobId: prepared.id };
    await expect(producer.schedulePrepared(prepared)).rejects.toMatchObject(about);
    const other = await producer.prepare('work', 2);
    const ids = { outcome: 'refused', jobIds: [prepared.id, other.id] };
    await expect(producer.schedulePrepared([prepared, other])).rejects.toMatchObject(ids);
  });
});
