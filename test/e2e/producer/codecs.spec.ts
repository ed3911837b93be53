import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Provider } from '@nestjs/common';
import { IsDate, IsInt, Max } from 'class-validator';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  InvalidPayloadError,
  OnScheduledJob,
  type PayloadCodec,
  PayloadTooLargeError,
  type RedisScheduledQueueModuleOptions,
  relayKey,
  ScheduledJob,
  UnrecoverableJobError,
} from '../../../lib/index.js';
import { messagePackCodec } from '../../../lib/msgpack/index.js';
import { audit } from '../../support/audit.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { takesTurn } from '../../support/takes-turn.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';

class Photo {
  @IsInt() @Max(100) number!: number;
  @IsDate() takenAt!: Date;
  bytes!: Buffer;
}

const store = defineScheduledJob('photo.store', { payload: Photo });
const nothing = defineScheduledJob<void>('nothing');

/** Neither is UTF-8, and both hold what the scripts look for: tabs, line breaks, letters, zeros. */
const BINARY = Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x09, 0x63, 0x0a, 0xc3, 0x28, 0x0d, 0xf0, 0x9f, 0x0a]);
const photo = (number = 7): Photo => ({ number, takenAt: new Date('2027-01-01T00:00:00.123Z'), bytes: BINARY });

/** What handlers got. */
class Handlers {
  readonly received: { payload: unknown; job: ScheduledJob }[] = [];
  fails = 0;

  @OnScheduledJob('echo')
  @OnScheduledJob(store)
  @OnScheduledJob(nothing)
  take(payload: unknown, job: ScheduledJob): string {
    this.received.push({ payload, job });
    if (this.fails-- > 0) throw new Error('not yet');
    return 'done';
  }
}

/** Encrypts, and asks for its key each time, as of a key service. */
class Encrypting implements PayloadCodec<Buffer> {
  readonly id = 'aes-256-gcm';
  asked = 0;
  isAway = false;

  constructor(private readonly key = randomBytes(32)) {}

  async encode(payload: unknown): Promise<Buffer> {
    const cipher = createCipheriv('aes-256-gcm', await this.askForKey(), Buffer.alloc(12, 1));
    const sealed = Buffer.concat([cipher.update(JSON.stringify(payload)), cipher.final()]);
    return Buffer.concat([cipher.getAuthTag(), sealed]);
  }

  async decode(stored: Buffer): Promise<unknown> {
    const decipher = createDecipheriv('aes-256-gcm', await this.askForKey(), Buffer.alloc(12, 1));
    decipher.setAuthTag(stored.subarray(0, 16));
    return JSON.parse(Buffer.concat([decipher.update(stored.subarray(16)), decipher.final()]).toString());
  }

  private async askForKey(): Promise<Buffer> {
    this.asked++;
    await sleep(1);
    if (this.isAway) throw new Error('the key service is away');
    return this.key;
  }
}

/** Stores text: what it got, and how often it was asked. */
class Rot13 implements PayloadCodec<string> {
  encoded = 0;
  readonly decoded: unknown[] = [];

  constructor(readonly id = 'rot13') {}

  encode(payload: unknown): string {
    this.encoded++;
    return turn(JSON.stringify(payload));
  }

  decode(stored: string): unknown {
    this.decoded.push(stored);
    return JSON.parse(turn(stored));
  }
}

const turn = (text: string) =>
  text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 84) % 26) + 97));

const codecThat = (does: Partial<PayloadCodec>): PayloadCodec => ({
  ...new Rot13('own'),
  encode: () => '',
  decode: () => 0,
  ...does,
});
const fail = (): never => {
  throw new Error('spoilt');
};

const soon = { maxAttempts: 3, backoff: { type: 'fixed', delayMs: 20 } } as const;

let redis: Redis;
beforeEach(() => {
  redis = new Redis(redisUrl());
});
afterEach(async () => {
  await stopApps();
  redis.disconnect();
});

async function start(options: RedisScheduledQueueModuleOptions, providers: Provider[] = [Handlers]) {
  const started = await startApp(providers, { queues: { default: { keepCompleted: 100 } }, ...options });
  const handlers = providers.includes(Handlers) ? started.get(Handlers) : undefined;
  return { ...started, handlers: handlers!, next: () => until('the job is handled', () => handlers!.received.shift()) };
}

/** A process that only schedules: its jobs wait. */
const producerOf = (options: RedisScheduledQueueModuleOptions) => start({ role: 'producer', ...options }, []);

describe.each<[string, () => PayloadCodec, unknown]>([
  ['MessagePack', () => messagePackCodec, { ...photo(), deep: [{ none: null, text: 'größe 📧' }], big: 2n ** 60n }],
  ['an encrypting codec that answers promises', () => new Encrypting(), { text: 'größe 📧', list: [1, { a: null }] }],
  ['a codec of text', () => new Rot13(), { text: 'line\nbreak\tand größe 📧' }],
])('%s', (_, codecOf, payload) => {
  it('hands a handler what was scheduled', async () => {
    const { producer, next } = await start({ codec: codecOf() });
    await producer.schedule('echo', payload);
    expect((await next()).payload).toEqual(payload);
  });

  it('keeps it through retries, snoozes, moves and a replay', async () => {
    const { producer, inspector, handlers, next, prefix } = await start({ codec: codecOf() });
    handlers.fails = 2;
    const job = await producer.schedule('echo', payload, { ...soon, maxAttempts: 2, delay: '1h', tags: ['a', 'b c'] });
    await producer.reschedule(job, { delay: '2h' });
    await inspector.shiftTagged('b c', '-1h');
    await producer.runNow(job);
    for (const attempt of [1, 2]) expect(await next()).toMatchObject({ payload, job: { attempt } });
    await until('the job is dead', async () => (await inspector.job(job))?.state === 'dead');
    expect((await inspector.job(job))!.payload).toEqual(payload);
    await inspector.replayDead(job);
    expect((await next()).payload).toEqual(payload);
    await until('the job has completed', async () => (await inspector.job(job))?.state === 'completed');
    expect(await audit(redis, prefix)).toEqual([]);
  });

  it('schedules many, with settings and without, chosen ids and made ones', async () => {
    const codec = codecOf();
    const { producer, next } = await start({ codec });
    const items = Array.from({ length: 250 }, (_, i) => ({
      job: 'echo',
      payload: { i, payload },
      options: { ...(i % 2 && { headers: { n: `${i}` } }), ...(i % 3 === 0 && { id: `own-${i}` }) },
    }));
    const refs = await producer.scheduleMany(items as never);
    expect(refs.filter(({ status }) => status === 'created')).toHaveLength(250);
    const received = new Map<string, { payload: unknown; job: ScheduledJob }>();
    for (const _ of items) {
      const run = await next();
      received.set(run.job.id, run);
    }
    for (const [i, { id }] of (refs as { id: string }[]).entries()) {
      const { job, payload: got } = received.get(id)!;
      expect(got).toEqual(items[i]!.payload);
      expect(job.headers).toEqual(items[i]!.options.headers ?? {});
    }
  });

  it('hands a popped job its payload', async () => {
    const { producer, consumer } = await producerOf({ codec: codecOf(), role: 'both' });
    const waiting = consumer.pop({ waitMs: '5s', count: 2 });
    await producer.scheduleMany([
      { job: 'echo', payload },
      { job: 'echo', payload: 'second' },
    ]);
    const jobs = [...(await waiting)];
    if (jobs.length < 2) jobs.push(...(await consumer.pop({ waitMs: '5s' })));
    expect(jobs.map((job) => job.payload)).toEqual([payload, 'second']);
    expect(await Promise.all(jobs.map((job) => job.complete()))).toEqual([true, true]);
  });

  it('shows the inspector payload and codec, whatever state the job is in', async () => {
    const codec = codecOf();
    const { producer, inspector, consumer } = await start({ codec, role: 'both' }, []);
    const seen = async (state: 'scheduled' | 'due' | 'active' | 'completed' | 'dead') => {
      const jobs = await until(`a job is ${state}`, async () => {
        const found = await inspector.list(state);
        return found.length > 0 && found;
      });
      expect(jobs).toEqual([expect.objectContaining({ payload, codec: codec.id })]);
      return jobs[0]!;
    };
    const { id } = await producer.schedule('echo', payload, { delay: '1h', maxAttempts: 1, id: 'seen' });
    await seen('scheduled');
    expect(await inspector.peek()).toEqual([expect.objectContaining({ payload, codec: codec.id })]);
    await producer.runNow(id);
    await seen('due');
    const [held] = await consumer.pop({});
    expect((await seen('active')).id).toBe(id);
    await held!.fail(new Error('no'));
    await seen('dead');
    await inspector.replayDead(id);
    const [again] = await consumer.pop({ waitMs: '5s' });
    await again!.complete({ result: 'is JSON' });
    expect((await seen('completed')).result).toEqual({ result: 'is JSON' });
  });

  it('replaces a waiting job, and waits behind a running one', async () => {
    const { producer, consumer } = await producerOf({ codec: codecOf(), role: 'both' });
    const options = { id: 'one', onDuplicate: 'replace' } as const;
    await producer.schedule('echo', 'first', { ...options, delay: '1h' });
    expect((await producer.schedule('echo', payload, options)).status).toBe('replaced');
    const [running] = await consumer.pop({});
    expect(running!.payload).toEqual(payload);
    expect((await producer.schedule('echo', [payload], { ...options, tags: ['t'] })).status).toBe('queued');
    await running!.complete();
    const [queued] = await consumer.pop({ waitMs: '5s' });
    expect(queued!.payload).toEqual([payload]);
  });
});

describe('bytes come whole', () => {
  const payload = photo();

  it('where Redis has forgotten the scripts', async () => {
    const { producer, inspector, next } = await start({ codec: messagePackCodec });
    for (let i = 0; i < 3; i++) {
      await redis.script('FLUSH');
      const job = await producer.schedule(store, payload, { delay: '1h' });
      await redis.script('FLUSH');
      expect((await inspector.job(job))!.payload).toEqual(payload);
      await redis.script('FLUSH');
      await producer.runNow(job);
      expect((await next()).payload).toEqual(payload);
    }
  });

  it('where the answer to a claim is lost, and where the lease runs out', async () => {
    const proxy = await TcpProxy.start(redisUrl());
    try {
      const queues = { default: { leaseMs: 1_000 } };
      const dying = await producerOf({ codec: messagePackCodec, role: 'both', connection: proxy.url, queues });
      const { prefix } = dying;
      await dying.consumer.pop({});
      const cut = proxy.cutOnce((request, reply) => takesTurn(request) && reply.includes('::photo.store'));
      await dying.producer.schedule(store, payload);
      const [job] = await dying.consumer.pop({ waitMs: '5s' });
      await cut;
      expect(job!.payload).toEqual({ ...payload });
      // It is not settled, and nobody renews its lease.
      const { next } = await start({ codecs: [messagePackCodec], prefix, queues });
      const { payload: recovered, job: run } = await next();
      expect(recovered).toEqual(payload);
      expect(run.attempt).toBe(2);
    } finally {
      await stopApps();
      await proxy.stop();
    }
  });
});

describe('what is stored', () => {
  it('without a codec is what it was before there were any', async () => {
    const { producer, prefix } = await producerOf({ codecs: [messagePackCodec] });
    await producer.schedule('echo', { a: 1 }, { id: 'x' });
    await producer.schedule('echo', { a: 1 }, { id: 'y', maxAttempts: 2 });
    const envelopes = await redis.hmget(`${prefix}:{default}:jobs`, 'x', 'y');
    expect(envelopes[0]).toMatch(/^5::echo\n\d+ c\n\n\{"a":1\}$/);
    expect(envelopes[1]).toMatch(/^5::echo\n\d+ c\n\{"maxAttempts":2\}\n\{"a":1\}$/);
  });

  it('is the raw bytes behind three lines of text, with the id of the codec', async () => {
    const { producer, prefix } = await producerOf({ codec: messagePackCodec });
    await producer.schedule('echo', { b: BINARY }, { id: 'x', headers: { trace: '1' }, tags: ['t'] });
    const envelope = await redis.hgetBuffer(`${prefix}:{default}:jobs`, 'x');
    const bytes = Buffer.from(messagePackCodec.encode({ b: BINARY }) as Uint8Array);
    expect(envelope!.subarray(-bytes.length)).toEqual(bytes);
    expect(envelope!.subarray(0, -bytes.length).toString()).toMatch(
      /^5::echo\n\d+ c\tt\nb:msgpack\{"headers":\{"trace":"1"\}\}\n$/,
    );
  });

  it('tells jobs with a payload and jobs without one apart, though they are alike and go in one call', async () => {
    const { producer, consumer } = await producerOf({ codec: messagePackCodec, role: 'both' });
    const job = defineScheduledJob('maybe') as never;
    const payloads = [undefined, 1, undefined, 'two', BINARY];
    await producer.scheduleMany(payloads.map((payload) => ({ job, payload })) as never);
    const jobs = await consumer.pop({ count: 5 });
    expect(jobs.map(({ payload }) => payload)).toEqual(payloads);
  });

  it('of a job without a payload reaches no codec', async () => {
    const codec = new Rot13();
    const { producer, next, inspector } = await start({ codec });
    const job = await producer.schedule(nothing);
    expect((await next()).payload).toBeUndefined();
    await until('it has completed', async () => (await inspector.job(job))?.state === 'completed');
    expect(await inspector.job(job)).not.toHaveProperty('codec');
    expect([codec.encoded, codec.decoded]).toEqual([0, []]);
  });
});

describe('processes that write different codecs', () => {
  it('understand each other as long as they know them', async () => {
    const prefix = newPrefix();
    const [aes, rot13] = [new Encrypting(), new Rot13()];
    const { next } = await start({ prefix, codecs: [aes, rot13, messagePackCodec] });
    for (const codec of [aes, rot13, messagePackCodec, undefined]) {
      const { producer } = await producerOf({ prefix, ...(codec && { codec }) });
      await producer.schedule('echo', { by: codec?.id });
      expect((await next()).payload).toEqual({ ...(codec && { by: codec.id }) });
    }
  });

  it('are told by workers(), each with the id of the codec that it writes', async () => {
    const prefix = newPrefix();
    const { inspector } = await start({ prefix, workerId: 'a', codecs: [messagePackCodec] });
    await start({ prefix, workerId: 'b', codec: messagePackCodec });
    const told = await until('both are there', async () => {
      const workers = await inspector.workers();
      return workers.length === 2 && workers.map(({ id, options }) => [id, options.codec]);
    });
    expect(told).toEqual([
      ['a', 'json'],
      ['b', 'msgpack'],
    ]);
  });

  it('fail an attempt whose codec they do not know, which another process then makes up for', async () => {
    const prefix = newPrefix();
    const { producer } = await producerOf({ prefix, codec: messagePackCodec });
    const job = await producer.schedule(store, photo(), { ...soon, maxAttempts: 100 });
    const { inspector, handlers, app } = await start({ prefix });
    const waiting = await until('an attempt has failed', async () => {
      const found = await inspector.job(job);
      return found!.failures.length > 0 && found;
    });
    expect(waiting!.failures[0]).toMatchObject({
      attempt: 1,
      name: 'UnknownCodecError',
      code: 'UNKNOWN_CODEC',
      message:
        "The payload of job 'photo.store' was stored by codec 'msgpack', which this process does not know: add that codec to the module's option codecs.",
    });
    expect(waiting).toMatchObject({ codec: 'msgpack', payload: undefined, name: 'photo.store' });
    await app.close();
    expect(handlers.received).toEqual([]);
    const knowing = await start({ prefix, codecs: [messagePackCodec] });
    const { payload, job: run } = await knowing.next();
    expect(payload).toEqual(photo());
    expect(run.attempt).toBeGreaterThan(1);
  });

  it('say so of a popped job too, and go on waiting', async () => {
    const prefix = newPrefix();
    const { producer } = await producerOf({ prefix, codec: messagePackCodec });
    const { consumer, inspector, producer: plain } = await producerOf({ prefix, role: 'both' });
    const job = await producer.schedule('echo', 1, { maxAttempts: 1 });
    const waiting = consumer.pop({ waitMs: '10s' });
    await until('the job is dead', async () => (await inspector.job(job))?.state === 'dead');
    expect((await inspector.job(job))!.failures[0]!.code).toBe('UNKNOWN_CODEC');
    await plain.schedule('echo', 2);
    expect((await waiting)[0]!.payload).toBe(2);
  });
});

describe('an attempt whose payload cannot be decoded', () => {
  it('is retried by the backoff, so that a key service may be away', async () => {
    const codec = new Encrypting();
    const { producer, inspector, next } = await start({ codec });
    codec.isAway = false;
    const job = await producer.schedule('echo', 'secret', { ...soon, maxAttempts: 100, delay: '1h' });
    codec.isAway = true;
    await producer.runNow(job);
    const waiting = await until('two attempts have failed', async () => {
      const found = await inspector.job(job);
      return found!.failures.length > 1 && found;
    });
    expect(waiting!.failures[0]!.message).toBe('the key service is away');
    codec.isAway = false;
    expect((await next()).payload).toBe('secret');
  });

  it('is retried likewise if its codec does not answer, and the inspector shows the job without its payload', async () => {
    let isAway = true;
    const decode = () => (isAway ? new Promise(() => {}) : 'there');
    const { producer, inspector, next } = await start({ codec: codecThat({ decode }), commandTimeoutMs: 1_000 });
    const job = await producer.schedule('echo', 1, { ...soon, maxAttempts: 100 });
    const waiting = await until('an attempt has failed', async () => {
      const found = await inspector.job(job);
      return found!.failures.length > 0 && found;
    });
    expect(waiting!.failures[0]!.message).toBe("Codec 'own' has not answered within commandTimeoutMs (1000 ms)");
    expect(waiting).toMatchObject({ codec: 'own', payload: undefined });
    isAway = false;
    expect((await next()).payload).toBe('there');
  });

  it('is shown by the inspector without its payload if what the codec answers throws when it is looked at', async () => {
    const decode = () => Object.defineProperty({}, 'then', { get: () => fail() });
    const { producer, inspector } = await producerOf({ codec: codecThat({ decode }) });
    const job = await producer.schedule('echo', 1, { delay: '1h' });
    expect(await inspector.job(job)).toMatchObject({ codec: 'own', payload: undefined });
    expect((await inspector.list('scheduled')).map(({ id, payload }) => [id, payload])).toEqual([[job.id, undefined]]);
  });

  it.each([
    ['InvalidPayloadError', new InvalidPayloadError('the signature is wrong', []), 'invalid-payload'],
    ['UnrecoverableJobError', new UnrecoverableJobError('the key is gone'), 'unrecoverable'],
  ])('makes the job dead at once if the codec throws an %s', async (name, error, reason) => {
    const decode = () => {
      throw error;
    };
    const { producer, inspector, handlers } = await start({ codec: codecThat({ decode }) });
    const job = await producer.schedule('echo', 1, soon);
    const dead = await until('the job is dead', async () => {
      const found = await inspector.job(job);
      return found?.state === 'dead' && found;
    });
    expect(dead).toMatchObject({ reason, attempts: 1, failures: [{ name, message: error.message }] });
    expect(handlers.received).toEqual([]);
  });

  it.each(['throws', 'rejects'])(
    'does not reach who pops, where the codec %s; the pop goes on waiting',
    async (how) => {
      let spoilt = 3;
      const decode = () => {
        if (spoilt-- <= 0) return 'readable';
        if (how === 'rejects') return Promise.reject(new Error('spoilt'));
        throw new Error('spoilt');
      };
      const { producer, consumer, inspector } = await producerOf({ codec: codecThat({ decode }), role: 'both' });
      const waiting = consumer.pop({ count: 3, waitMs: '10s' });
      await producer.scheduleMany(
        ['a', 'b', 'c'].map((payload) => ({ job: 'echo', payload, options: { maxAttempts: 1 } })),
      );
      await until('three are dead', async () => (await inspector.counts()).dead === 3);
      await producer.schedule('echo', 'd');
      expect((await waiting).map(({ payload }) => payload)).toEqual(['readable']);
    },
  );

  it('counts against the time of a run', async () => {
    const decode = () => sleep(600_000, undefined, { ref: false });
    const { producer, inspector, handlers } = await start({ codec: codecThat({ decode }), shutdownTimeoutMs: 0 });
    await producer.schedule('echo', 1, { maxAttempts: 1, timeoutMs: 50 });
    await until('the job is dead', async () => (await inspector.counts()).dead === 1);
    expect(handlers.received).toEqual([]);
  });
});

describe('scheduling', () => {
  it.each([
    [
      'answers no promise in time',
      () => new Promise<never>(() => {}),
      'has not answered within commandTimeoutMs (1000 ms)',
    ],
    ['answers what throws when it is looked at', () => Object.defineProperty({}, 'then', { get: fail }), 'spoilt'],
  ])('with a codec that %s is refused, and nothing is written', async (_, encode, why) => {
    const { producer, inspector } = await producerOf({
      codec: codecThat({ encode: encode as never }),
      commandTimeoutMs: 1_000,
    });
    const refused = { code: 'INVALID_PAYLOAD', message: expect.stringContaining(why) };
    await expect(producer.schedule('echo', 1)).rejects.toMatchObject(refused);
    await expect(producer.scheduleMany([{ job: 'echo', payload: 1 }])).rejects.toMatchObject(refused);
    await expect(producer.upsertRecurrence('r', 'echo', 1, { everyMs: 60_000 })).rejects.toMatchObject(refused);
    expect(await inspector.stats()).toMatchObject({ scheduled: 0 });
  });

  it('validates before it encodes, and one invalid item keeps all of a call from being encoded', async () => {
    const codec = new Rot13();
    const { producer, inspector } = await producerOf({ codec });
    await expect(producer.schedule(store, photo(101))).rejects.toThrow(/number must not be greater than 100/);
    const items = [photo(1), photo(2), photo(101)].map((payload) => ({ job: store, payload }));
    await expect(producer.scheduleMany(items)).rejects.toThrow(/^scheduleMany: item 2: .*number must not be greater/);
    expect(codec.encoded).toBe(0);
    expect((await inspector.counts()).scheduled).toBe(0);
  });

  it('validates what was decoded again, before the handler runs', async () => {
    const decode = () => ({ ...photo(101) });
    const { producer, inspector, handlers } = await start({ codec: codecThat({ decode }) });
    const job = await producer.schedule(store, photo());
    await until('the job is dead', async () => (await inspector.job(job))?.state === 'dead');
    expect((await inspector.job(job))!.reason).toBe('invalid-payload');
    expect(handlers.received).toEqual([]);
  });

  it('hands a handler an instance of the class', async () => {
    const { producer, next } = await start({ codec: messagePackCodec });
    await producer.schedule(store, photo());
    const { payload } = await next();
    expect(payload).toBeInstanceOf(Photo);
    expect(payload).toEqual(photo());
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no key');
      },
      InvalidPayloadError,
      /cannot be encoded by codec 'own': no key\./,
    ],
    [
      'rejects',
      () => Promise.reject(new Error('no key')),
      InvalidPayloadError,
      /cannot be encoded by codec 'own': no key\./,
    ],
    [
      'answers nothing',
      () => undefined,
      InvalidPayloadError,
      /was encoded by codec 'own' as undefined, expected a string/,
    ],
    ['answers too much', () => Buffer.alloc(101), PayloadTooLargeError, /has 101 bytes, but maxPayloadBytes is 100/],
    ['answers too many bytes of text', async () => 'ä'.repeat(51), PayloadTooLargeError, /has 102 bytes/],
  ])('writes nothing where the codec %s', async (_, encode, type, message) => {
    const { producer, inspector } = await producerOf({
      codec: codecThat({ encode: encode as never }),
      maxPayloadBytes: 100,
    });
    const error = await producer.schedule('echo', { long: 'x'.repeat(200) }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(type);
    expect(error.message).toMatch(message);
    const many = producer.scheduleMany([
      { job: 'echo', payload: 1 },
      { job: 'echo', payload: 2 },
    ]);
    await expect(many).rejects.toThrow(/^scheduleMany: item 0: The payload/);
    expect((await inspector.counts()).scheduled).toBe(0);
    expect((await inspector.stats()).scheduled).toBe(0);
  });

  it('encodes at most a hundred payloads of one call at a time', async () => {
    let [now, most] = [0, 0];
    const encode = async () => {
      most = Math.max(most, ++now);
      await sleep(5);
      now--;
      return '1';
    };
    const { producer, inspector } = await producerOf({ codec: codecThat({ encode }) });
    await producer.scheduleMany(Array.from({ length: 350 }, (_, payload) => ({ job: 'echo', payload })));
    expect(most).toBe(100);
    expect((await inspector.counts()).due).toBe(350);
  });
});

describe('a relay', () => {
  const BYTES = Buffer.from(messagePackCodec.encode(photo()) as Uint8Array);

  it('writes the stored bytes and the id of their codec to a stream, though it does not know the codec', async () => {
    const prefix = newPrefix();
    const { producer } = await producerOf({ prefix, codec: messagePackCodec });
    const { consumer, producer: plain } = await producerOf({ prefix, role: 'both' });
    const stream = relayKey('default', newPrefix());
    await producer.schedule(store, photo(), { id: 'p', headers: { trace: '1' }, tags: ['t'] });
    await plain.schedule('echo', { plain: true }, { id: 'q' });
    consumer.relay({ to: { stream } });
    await until('both are there', async () => (await redis.xlen(stream)) === 2);
    const entries = new Map<string, Map<string, Buffer>>();
    for (const [, fields] of await redis.xrangeBuffer(stream, '-', '+')) {
      const entry = new Map(fields.flatMap((field, i) => (i % 2 ? [] : [[field.toString(), fields[i + 1]!]])));
      entries.set(entry.get('id')!.toString(), entry);
    }
    const packed = entries.get('p')!;
    expect(packed.get('payload')).toEqual(BYTES);
    expect(messagePackCodec.decode(packed.get('payload')!)).toEqual(photo());
    expect(packed.get('codec')!.toString()).toBe('msgpack');
    expect(packed.get('headers')!.toString()).toBe('{"trace":"1"}');
    expect(packed.get('tags')!.toString()).toBe('["t"]');
    expect(entries.get('q')!.get('payload')!.toString()).toBe('{"plain":true}');
    expect(entries.get('q')!.has('codec')).toBe(false);
    await redis.del(stream);
  });

  it('writes them to a list behind a line of JSON', async () => {
    const { producer, consumer } = await producerOf({ codec: messagePackCodec, role: 'both' });
    const list = relayKey('default', newPrefix());
    await producer.schedule(store, photo(), { id: 'p' });
    consumer.relay({ to: { list } });
    const [element] = await until('it is there', async () => {
      const found = await redis.lrangeBuffer(list, 0, -1);
      return found.length > 0 && found;
    });
    const end = element!.indexOf('\n');
    const job = JSON.parse(element!.toString('utf8', 0, end));
    expect(job).toMatchObject({ id: 'p', name: 'photo.store', queue: 'default', attempt: 1, codec: 'msgpack' });
    expect(job).not.toHaveProperty('payload');
    expect(element!.subarray(end + 1)).toEqual(BYTES);
    await redis.del(list);
  });
});
