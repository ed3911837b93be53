import { describe, expect, it } from '@jest/globals';
import type { Envelope } from '../../../../../lib/store/envelope.js';
import {
  decodeEnvelope,
  encodeCodec,
  encodeFlags,
  encodeRoute,
  encodeSettings,
  onLateOf,
  withPayload,
} from '../../../../../lib/store/redis/codec/envelope-text.js';

/** As schedule.lua puts it together: the time of its creation is Redis' own. */
function encode(job: Envelope): string | Buffer {
  const result = job.chain && 'result' in job.chain ? JSON.stringify(job.chain.result) : undefined;
  const { next, later = [], ...chain } = job.chain ?? { step: 0, of: 0 };
  const steps = next ? [JSON.stringify(next), ...later] : [];
  const written = { ...job, chain: job.chain && { ...chain, result, steps } };
  const third = `${encodeCodec(job)}${encodeSettings(written)}\n`;
  const flags = encodeFlags(job.idWasChosen, written);
  return withPayload(`${encodeRoute(job)}\n${job.createdAtMs} ${flags}${third}`, job.payload);
}

const PLAIN: Envelope = {
  name: 'mail.send',
  priority: 5,
  createdAtMs: 1_795_264_480_496,
  idWasChosen: false,
  tags: [],
  settings: {},
  payload: '{"user":7}',
};

const STEP = { name: 'next', priority: 5, settings: {}, delayMs: 0, payload: 'a\n\tb' };

/** Holds whatever the lines before it end with or consist of. */
const BINARY = Buffer.from([0x0a, 0xff, 0x0a, 0x09, 0x00, 0x7b, 0xc3, 0x0a]);

describe('an envelope', () => {
  it.each<[string, Partial<Envelope>]>([
    ['a plain job', {}],
    ['a job that prefers a worker', { worker: 'w-1' }],
    ['the lowest priority', { priority: 1_000 }],
    ['a name with colons and spaces', { name: 'a: b:c', worker: 'w' }],
    ['a name that begins with a letter and a number', { name: 'd5 1::x' }],
    ['a version', { version: 2 }],
    [
      'the highest version, of a group and a late rule',
      { version: 10_000, group: 'a:b', lateness: { maxLatenessMs: 5, onLate: 'run' } },
    ],
    ['a version of a name that ends in digits', { name: 'a2', version: 3 }],
    ['a chosen id', { idWasChosen: true }],
    ['tags', { tags: ['user:7', 'two words', 'c'] }],
    ['tags and a chosen id', { tags: ['c', ' '], idWasChosen: true }],
    ['a late rule that runs', { lateness: { maxLatenessMs: 0, onLate: 'run' } }],
    ['one that discards', { lateness: { maxLatenessMs: 86_400_000, onLate: 'discard' } }],
    ['one that ends dead', { worker: 'w', lateness: { maxLatenessMs: 5, onLate: 'dead-letter' } }],
    ['settings of the call', { settings: { maxAttempts: 3, timeoutMs: 0 } }],
    [
      'a backoff and headers',
      {
        settings: {
          backoff: { type: 'exponential', delayMs: 100, maxDelayMs: 2_000, jitter: 0.5 },
          headers: { trace: 'a"b\n\tc' },
        },
      },
    ],
    ['a set', { set: 'import/7' }],
    ['a set beside tags', { set: 'two words', tags: ['a', 'b'], idWasChosen: true }],
    ['the first job of a chain', { chain: { step: 1, of: 3, next: STEP, later: ['{"any":"text"}'] } }],
    [
      'a later job of a chain, with a result that looks like headers',
      {
        chain: { id: 'a', step: 2, of: 2, result: { x: '\t"headers":{}}' }, later: [] },
        settings: { headers: { a: 'b' } },
      },
    ],
    ['no payload', { payload: '' }],
    ['a payload of many lines', { payload: '\n5::other\n0 \n\n"\u2028"\n' }],
  ])('of %s is read as it was written', (_what, differs) => {
    const job = { ...PLAIN, ...differs };
    expect(decodeEnvelope(encode(job))).toEqual(job);
    // As a process reads it that knows any codec.
    expect(decodeEnvelope(Buffer.from(encode(job)))).toEqual(job);
  });

  it.each<[string, Partial<Envelope>]>([
    ['text', { payload: 'größe\n{"a":1}\n' }],
    ['nothing', { payload: '' }],
    ['bytes that are no UTF-8', { payload: BINARY }],
    ['no bytes', { payload: Buffer.alloc(0) }],
    ['bytes behind a chain', { payload: BINARY, chain: { step: 1, of: 3, next: STEP, later: ['{"any":"text"}'] } }],
    ['bytes behind settings', { payload: BINARY, settings: { maxAttempts: 3, headers: { a: '}{' } } }],
    ['text behind settings', { payload: '{"x":1}', settings: { timeoutMs: 0 } }],
    [
      'bytes behind tags and a late rule',
      { payload: BINARY, tags: ['b:x', 't'], lateness: { maxLatenessMs: 5, onLate: 'run' } },
    ],
  ])('whose codec made %s is read as it was written', (_what, differs) => {
    const job = { ...PLAIN, codec: 'aes-256.gcm_v2', ...differs };
    const read = decodeEnvelope(Buffer.from(encode(job)));
    expect(read).toEqual(job);
    expect(Buffer.isBuffer((read as Envelope).payload)).toBe(typeof job.payload !== 'string');
  });

  it('of bytes tells a process that knows no codec all but the payload', () => {
    const job = { ...PLAIN, codec: 'msgpack', settings: { maxAttempts: 3 }, tags: ['größe'], payload: BINARY };
    expect(decodeEnvelope(encode(job).toString())).toEqual({ ...job, payload: expect.any(String) });
  });

  it('of bytes hands out a copy of them, so that a handler keeps no whole reply in memory', () => {
    const reply = encode({ ...PLAIN, codec: 'msgpack', payload: BINARY }) as Buffer;
    const { payload } = decodeEnvelope(reply) as Envelope;
    reply.fill(0);
    expect(payload).toEqual(BINARY);
  });

  it('carries nothing where the call itself said nothing', () => {
    expect(encodeSettings({ settings: {} })).toBe('');
    expect(encodeSettings({ settings: { maxAttempts: undefined, headers: undefined } })).toBe('');
  });

  it('ends its settings with the headers, which relays cut out as text', () => {
    const text = encodeSettings({ settings: { headers: { a: '{"}' }, timeoutMs: 5, maxAttempts: 2 } });
    expect(text.match(/"headers":(\{.*\})\}$/)?.[1]).toBe('{"a":"{\\"}"}');
  });

  it.each(['run', 'discard', 'dead-letter'] as const)('names the late rule %s by a letter of its own', (onLate) => {
    const head = encodeRoute({ ...PLAIN, lateness: { maxLatenessMs: 7, onLate } });
    expect(onLateOf(head[0]!)).toBe(onLate);
  });

  it.each([
    ['fewer than four parts', '5::work\n0 \n'],
    ['fewer than four parts', ''],
    ['not valid JSON', '5::work\n0 \n{"headers":{"secret"\nnull'],
    ['no number', '5::work\n0 \n{"maxAttempts":"many"}\nnull'],
    ['no number', '5::work\n0 \n{"backoff":{"type":"fixed"}}\nnull'],
    ['no number', '5::work\n0 \n{"backoff":null}\nnull'],
    ['no number', '5::work\n0 \nnull\nnull'],
    ['not valid JSON', '5::work\n0 \nx:secret\nnull'],
    ['not valid JSON', '5::work\n0 \nb:se cret\nnull'],
    ['not valid JSON', '5::work\n0 \nb:\nnull'],
    ['not valid JSON', '5::work\n0 \nb:aes{"headers":{"secret"\nnull'],
    ...[
      'cnull',
      'c{"of":2}',
      'c{"step":1,"of":2,"next":["secret"]}',
      'c{"step":1,"of":"secret"}',
      'nsecret',
      `n${JSON.stringify(STEP)}`,
      ...[
        'null',
        '"secret"',
        '{"secret"',
        JSON.stringify({ ...STEP, delayMs: 'secret' }),
        JSON.stringify({ ...STEP, encoding: 'secret' }),
        JSON.stringify({ ...STEP, payload: undefined }),
      ].map((step) => `c{"step":1,"of":2}\tn${step}`),
    ].map((chain) => ['of its chain cannot be read', `5::work\n0 t\n\t${chain}\nnull`]),
  ])('that is damaged says so and tells nothing of what it holds: %s', (problem, text) => {
    const envelope = decodeEnvelope(text);
    expect(envelope).toEqual({ unreadable: expect.stringContaining(problem) });
    expect(decodeEnvelope(Buffer.from(text))).toEqual(envelope);
    expect(JSON.stringify(envelope)).not.toContain('secret');
  });
});
