import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { IsInt } from 'class-validator';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  InvalidOptionsError,
  InvalidPayloadError,
  OnScheduledJob,
  relayKey,
  type ScheduledJob,
  type ScheduledQueueEvent,
} from '../../../lib/index.js';
import { messagePackCodec } from '../../../lib/msgpack/index.js';
import { audit } from '../../support/audit.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { listElements, streamEntries } from '../../support/relayed.js';
import { until } from '../../support/wait.js';

// The version of a job's payload, from the call that schedules it to the handler of a later build.

afterEach(stopApps);

class Order {
  @IsInt() cents!: number;
}
/** As the first build defines it. */
const first = defineScheduledJob<{ total: number; note?: string }>('order');
const third = defineScheduledJob('order', {
  payload: Order,
  version: 3,
  upgrade: { 1: ({ total }) => ({ amount: total }), 2: ({ amount }) => ({ cents: amount * 100 }) },
});

/** A build that handles `order` by this definition, and what it has run. */
function build(definition: typeof first | typeof third, options = {}) {
  const runs: { payload: unknown; version: number; attempt: number }[] = [];
  @Injectable()
  class Orders {
    @OnScheduledJob(definition as typeof third, options)
    async order(payload: Order, { version, attempt }: ScheduledJob): Promise<void> {
      runs.push({ payload, version, attempt });
      if (payload.cents < 0) throw new Error('an order of nothing');
    }
  }
  return { Orders, runs };
}

describe('a handler of a later version', () => {
  it('gets the payload of an earlier one upgraded, as an instance of its class, and sees which version was stored', async () => {
    const { Orders, runs } = build(third);
    const { producer, inspector, prefix } = await startApp([Orders]);
    await producer.schedule(first, { total: 7 });
    await until('the first one has run', () => runs.length === 1);
    await producer.schedule(third, { cents: 8 });
    await until('both have run', () => runs.length === 2);
    expect(runs).toEqual([
      { payload: { cents: 700 }, version: 1, attempt: 1 },
      { payload: { cents: 8 }, version: 3, attempt: 1 },
    ]);
    expect(runs[0]!.payload).toBeInstanceOf(Order);
    await until('both have ended', async () => (await inspector.counts()).active === 0);
    const redis = new Redis(redisUrl());
    expect(await audit(redis, prefix).finally(() => redis.disconnect())).toEqual([]);
  });

  it('upgrades anew at each attempt, from the payload as it was stored', async () => {
    const { Orders, runs } = build(third, { maxAttempts: 3, backoff: { type: 'fixed', delayMs: 10 } });
    const { producer, inspector } = await startApp([Orders]);
    const ref = await producer.schedule(first, { total: -1 });
    await until('it is dead', async () => (await inspector.job(ref))?.state === 'dead');
    expect(runs.map(({ payload, attempt }) => [payload, attempt])).toEqual([1, 2, 3].map((n) => [{ cents: -100 }, n]));
    expect(await inspector.job(ref)).toMatchObject({ version: 1, payload: { total: -1 } });
    expect(await inspector.versions('order')).toEqual([{ version: 1, waiting: 0, active: 0, dead: 1, recurrences: 0 }]);
    expect(await inspector.replayDead({ names: ['order'] })).toBe(1);
    await until('it has run again', () => runs.length > 3);
  });

  it('makes a job dead whose payload does not fit its class after all, and one whose step throws', async () => {
    const failing = defineScheduledJob('order', {
      payload: Order,
      version: 2,
      upgrade: {
        1: ({ total, note }) => {
          if (total === 0) return JSON.parse(note);
          return total === 1 ? Promise.resolve({ cents: 1 }) : { cents: 'many' };
        },
      },
    });
    const { Orders, runs } = build(failing);
    const { producer, inspector, events } = await startApp([Orders]);
    const errors: unknown[] = [];
    events.events$.subscribe((event: ScheduledQueueEvent) => {
      if (event.type === 'dead') errors.push(event.error);
    });
    const messages = [
      // Not what the payload holds, though V8 quotes it.
      /cannot be upgraded from version 1 to 2: (?!.*a secret of mine)/,
      /cannot be upgraded from version 1 to 2: the step answered a promise/,
      /does not fit Order: cents/,
    ];
    for (const [total, message] of messages.entries()) {
      const ref = await producer.schedule(first, { total, note: 'a secret of mine' });
      const dead = await until('it is dead', async () => {
        const job = await inspector.job(ref);
        return job?.state === 'dead' && job;
      });
      expect(dead).toMatchObject({ reason: 'invalid-payload', attempts: 1, version: 1 });
      expect(dead.failures[0]!.message).toMatch(message);
    }
    await until('all are told', () => errors.length === 3);
    expect(errors.every((error) => error instanceof InvalidPayloadError)).toBe(true);
    expect(runs).toEqual([]);
  });

  it('upgrades what a codec has decoded, whether that takes time or not', async () => {
    const slow = {
      id: 'slow',
      encode: (payload: unknown) => JSON.stringify(payload),
      decode: async (stored: string | Uint8Array) => JSON.parse(String(stored)),
    };
    for (const codec of [messagePackCodec, slow]) {
      const { Orders, runs } = build(third);
      const { producer } = await startApp([Orders], { codec });
      await producer.schedule(first, { total: 1 });
      await until('it has run', () => runs.length === 1);
      expect(runs).toMatchObject([{ payload: { cents: 100 }, version: 1 }]);
    }
  });

  it('of many jobs a call gets all versions in one, and those that cannot be upgraded are left out', async () => {
    const calls: unknown[][] = [];
    const plain = defineScheduledJob<{ cents: number }>('order', {
      version: 2,
      upgrade: { 1: ({ total }) => ({ cents: total.valueOf() * 100 }) },
    });
    @Injectable()
    class Orders {
      @OnScheduledJob(plain, { batch: { size: 10, waitMs: '10s' } })
      orders(payloads: { cents: number }[], jobs: ScheduledJob[]): void {
        calls.push(payloads.map(({ cents }, i) => [cents, jobs[i]!.version]));
      }
    }
    const { producer, inspector } = await startApp([Orders]);
    await producer.scheduleMany([
      ...Array.from({ length: 5 }, (_, i) => ({ job: first, payload: { total: i } })),
      ...Array.from({ length: 4 }, (_, i) => ({ job: plain, payload: { cents: i } })),
      { job: 'order', payload: { total: null } },
    ]);
    await until('they are called', () => calls.length === 1);
    expect(calls[0]!.sort()).toEqual(
      [...[0, 1, 2, 3, 4].map((i) => [100 * i, 1]), ...[0, 1, 2, 3].map((i) => [i, 2])].sort(),
    );
    await until('that one is dead', async () => (await inspector.counts()).dead === 1);
  });
});

describe('a job of a later version', () => {
  it('waits for a newer process where only older ones run, also under a string', async () => {
    const older = build(first);
    const { producer, inspector, prefix } = await startApp([older.Orders]);
    const ref = await producer.schedule(third, { cents: 5 });
    await producer.schedule('order', { total: 1 });
    await until('the older one has run', () => older.runs.length === 1);
    expect(await inspector.job(ref)).toMatchObject({ state: 'due', version: 3, name: 'order' });
    expect(await inspector.explain(ref)).toEqual({
      code: 'no-handler',
      message: `Job 'order' (${ref.id}) of queue 'default' is due, but it has version 3, and the workers that run at present handle version 1 of that name: it waits for one that handles its own.`,
    });
    expect((await inspector.workers())[0]!.handles).toEqual(['order']);
    const newer = build(third);
    await startApp([newer.Orders], { prefix });
    await until('it has run', () => newer.runs.length === 1);
    expect(older.runs).toHaveLength(1);
  });

  it('a handler named by a string claims version 1 only', async () => {
    const run = jest.fn();
    @Injectable()
    class Orders {
      @OnScheduledJob('order')
      order(payload: unknown): void {
        run(payload);
      }
    }
    const { producer, inspector } = await startApp([Orders]);
    await producer.schedule(third, { cents: 5 });
    await producer.schedule(first, { total: 1 });
    await until('one has run', () => run.mock.calls.length === 1);
    expect(await inspector.counts()).toMatchObject({ due: 1 });
  });

  it('a pop gets it as it is stored, with its version', async () => {
    const { producer, consumer } = await startApp();
    await producer.schedule(first, { total: 1 });
    await producer.schedule(third, { cents: 2 });
    const jobs = await consumer.pop({ names: ['order'], count: 5, waitMs: 0 });
    expect(jobs.map(({ version, payload }) => ({ version, payload }))).toEqual([
      { version: 1, payload: { total: 1 } },
      { version: 3, payload: { cents: 2 } },
    ]);
    expect(JSON.parse(JSON.stringify(jobs[1]))).toMatchObject({ version: 3 });
    for (const job of jobs) expect(await job.complete()).toBe(true);
  });

  it.each(['stream', 'list'] as const)('a relay to a %s moves all versions, and writes those above 1', async (type) => {
    const redis = new Redis(redisUrl());
    const key = relayKey('default', newPrefix());
    try {
      const { producer, consumer } = await startApp();
      await producer.schedule(first, { total: 1 }, { id: 'one' });
      await producer.schedule(third, { cents: 2 }, { id: 'three', group: 'g' });
      const relay = await consumer.relay({ names: ['order'], to: type === 'stream' ? { stream: key } : { list: key } });
      const read = async () => (type === 'stream' ? await streamEntries(redis, key) : await listElements(redis, key));
      const moved = await until('both are there', async () => {
        const found = await read();
        return found.length === 2 && found;
      });
      await relay.stop();
      const byId = new Map(moved.map((each) => [String((each as { id: unknown }).id), each]));
      expect(byId.get('one')).not.toHaveProperty('version');
      expect(byId.get('three')).toMatchObject({ name: 'order', version: type === 'stream' ? '3' : 3, group: 'g' });
    } finally {
      await redis.del(key);
      redis.disconnect();
    }
  });

  it('keeps its version when it is prepared, and when its recurrence makes it, whoever hands it over or arms it', async () => {
    const { producer, inspector, prefix } = await startApp([], { role: 'producer' });
    const prepared = await producer.prepare(third, { cents: 1 }, { id: 'prepared', delay: '1h' });
    expect(prepared).toMatchObject({ format: 1, name: 'order', version: 3 });
    expect(await producer.prepare(first, { total: 1 })).not.toHaveProperty('version');
    const older = await startApp([build(first).Orders], { prefix });
    await older.producer.schedulePrepared(JSON.parse(JSON.stringify(prepared)));
    expect(await inspector.job('prepared')).toMatchObject({ version: 3, payload: { cents: 1 } });
    await producer.upsertRecurrence('hourly', third, { cents: 9 }, { everyMs: '1h' });
    expect(await inspector.versions('order')).toEqual([{ version: 3, waiting: 2, active: 0, dead: 0, recurrences: 1 }]);
    const ref = await older.producer.runRecurrenceNow('hourly');
    expect(ref).toMatchObject({ name: 'order' });
    expect(await inspector.job(ref)).toMatchObject({ version: 3, state: 'due' });
    await producer.pauseRecurrence('hourly');
    expect(await inspector.versions('order')).toEqual([{ version: 3, waiting: 2, active: 0, dead: 0, recurrences: 1 }]);
    await producer.removeRecurrence('hourly');
    expect(await inspector.versions('order')).toEqual([{ version: 3, waiting: 2, active: 0, dead: 0, recurrences: 0 }]);
  });

  it('stands in a MULTI of the caller with its version', async () => {
    const redis = new Redis(redisUrl());
    try {
      const { producer, inspector } = await startApp([], { role: 'producer' });
      const multi = redis.multi();
      const { id } = await producer.in(multi).schedule(third, { cents: 1 });
      await multi.exec();
      expect(await inspector.job(id)).toMatchObject({ name: 'order', version: 3, state: 'due' });
    } finally {
      redis.disconnect();
    }
  });
});

describe('of two builds that declare a recurrence of one id', () => {
  const declared = (definition: typeof first | typeof third, payload: object) => {
    const runs: number[] = [];
    @Injectable()
    class Orders {
      @OnScheduledJob(definition as typeof third, {
        everyMs: '1h',
        recurrenceId: 'hourly',
        recurrencePayload: payload as Order,
      })
      order(_: Order, { version }: ScheduledJob): void {
        runs.push(version);
      }
    }
    return { Orders, runs };
  };

  it('what is armed has the version of the one that wins', async () => {
    const [older, newer] = [declared(first, { total: 1 }), declared(third, { cents: 1 })];
    const one = await startApp([older.Orders], { revision: 1 });
    const versions = async () => (await one.inspector.versions('order')).map(({ version }) => version);
    await until('the older one has declared', async () => (await versions()).length > 0);
    expect(await versions()).toEqual([1]);
    const two = await startApp([newer.Orders], { prefix: one.prefix, revision: 2 });
    await until('the newer one wins', async () => (await versions()).join() === '3');
    await one.producer.runRecurrenceNow('hourly');
    await until('it has run', () => newer.runs.length === 1);
    await two.app.close();
    expect([older.runs, newer.runs]).toEqual([[], [3]]);
    // Until it is deployed again, or is declared by nobody for `orphanAfterMs`.
    await one.producer.runRecurrenceNow('hourly');
    expect(await one.inspector.versions('order')).toEqual([
      { version: 3, waiting: 2, active: 0, dead: 0, recurrences: 1 },
    ]);
  });
});

it('definitions of other versions on one method are refused', async () => {
  @Injectable()
  class Orders {
    @OnScheduledJob(third, { everyMs: '1h', recurrencePayload: { cents: 1 } })
    @OnScheduledJob(first as unknown as typeof third)
    order(_: Order): void {}
  }
  await expect(startApp([Orders])).rejects.toThrow(InvalidOptionsError);
  await expect(startApp([Orders])).rejects.toThrow(
    `@OnScheduledJob('order') stands here several times, with different versions`,
  );
});

it('an option of versions that stands on a handler says where it belongs', () => {
  expect(() => OnScheduledJob('order', { version: 2 } as object)).toThrow(
    `@OnScheduledJob('order'): unknown option "version": give it to the definition.`,
  );
});
