import { describe, expect, it } from '@jest/globals';
import { InvalidPayloadError, PayloadTooLargeError } from '../../../../lib/core/errors.js';
import { deserialisePayload, serialisePayload } from '../../../../lib/core/payload/payload.js';
import { thrown } from '../../thrown.js';

const MIB = 1024 * 1024;
const FIELDS = { queue: 'mail', jobName: 'reminder.send', jobId: 'r7' };
const serialise = (payload: unknown, maxBytes = MIB) => serialisePayload(payload, maxBytes, FIELDS);
const refused = (payload: unknown) => thrown<InvalidPayloadError>(() => serialise(payload));

function nested(levels: number): unknown {
  let payload: unknown = 'end';
  for (let level = 0; level < levels; level++) payload = { in: payload };
  return payload;
}

describe('a payload arrives as it was sent', () => {
  it.each([
    ['nested objects', { a: { b: { c: [{ d: 1 }, { d: [2, [3]] }] } } }],
    ['empty arrays and objects', { list: [], map: {}, lists: [[], [{}]] }],
    ['an empty object', {}],
    ['an empty array', []],
    ['empty text', ''],
    ['null', null],
    ['false', false],
    ['zero', 0],
    ['null inside', { a: null, b: [null] }],
    ['unicode', { text: 'größe 日本語 📧 👨‍👩‍👧 \u202e', 'clé 📧': 1 }],
    ['line breaks and zero bytes', 'a\nb\r\nc\u0000\u2028'],
    ['halves of surrogate pairs', ['\ud83d', 'x\udce7y', '\udce7\ud83d']],
    ['large integers', [2 ** 53 - 1, 2 ** 53, -(2 ** 53), Number.MAX_VALUE, Number.MIN_VALUE]],
    ['fractions', [0.1, 1 / 3, -1e-7]],
    ['a toJSON that is no function', { toJSON: 'text', list: [{ toJSON: null }] }],
    ['names that objects inherit', { constructor: 'a', toString: 'b', hasOwnProperty: 1, length: 2 }],
    ['500 levels', nested(500)],
  ])('%s', (_, payload) => {
    expect(deserialisePayload(serialise(payload))).toEqual(payload);
  });

  it('1 MiB of it', () => {
    const payload = 'x'.repeat(MIB - 2);
    expect(deserialisePayload(serialise(payload)) === payload).toBe(true);
  });

  it('undefined, for a job without a payload', () => {
    expect(serialise(undefined)).toBe('');
    expect(deserialisePayload('')).toBeUndefined();
  });

  it('without its undefined properties, as in JSON', () => {
    expect(deserialisePayload(serialise({ a: 1, b: undefined }))).toStrictEqual({ a: 1 });
  });

  it('twice, where it is in it twice without a circle', () => {
    const address = { city: 'Bern' };
    expect(deserialisePayload(serialise({ home: address, work: address, list: [address, address] }))).toEqual({
      home: address,
      work: address,
      list: [address, address],
    });
  });

  it('in the form that its toJSON gives', () => {
    const payload = { at: new Date(0), price: { toJSON: () => '7 CHF', amount: 7n } };
    expect(deserialisePayload(serialise(payload))).toEqual({ at: '1970-01-01T00:00:00.000Z', price: '7 CHF' });
  });

  it('with an own __proto__ that reaches no prototype', () => {
    const payload = deserialisePayload(serialise(JSON.parse('{"__proto__":{"admin":true}}'))) as { admin?: boolean };
    expect(Object.hasOwn(payload, '__proto__')).toBe(true);
    expect(payload.admin).toBeUndefined();
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

describe('a payload is refused, with the path to what JSON cannot hold, when it holds', () => {
  class Connection {}
  it.each([
    ['NaN', { a: Number.NaN }, 'a', 'is NaN, which JSON would turn into null'],
    ['Infinity', [1, Number.POSITIVE_INFINITY], '[1]', 'is Infinity, which JSON would turn into null'],
    ['a BigInt', { user: { id: 7n } }, 'user.id', 'is a BigInt: send it as a string'],
    ['a function', { list: [{ f() {} }] }, 'list[0].f', "is the function 'f', which JSON would drop"],
    ['a class', { type: Connection }, 'type', "is the function 'Connection', which JSON would drop"],
    ['a symbol', { s: Symbol('s') }, 's', 'is a symbol, which JSON would drop'],
    ['undefined in an array', { a: [1, undefined] }, 'a[1]', 'is undefined, which JSON would turn into null'],
    ['a hole in an array', new Array(1), '[0]', 'is undefined, which JSON would turn into null'],
    ['a Map', { m: new Map([[1, 2]]) }, 'm', 'is a Map, which JSON cannot hold: send plain objects and arrays'],
    ['a Set', [new Set([1])], '[0]', 'is a Set, which JSON cannot hold: send plain objects and arrays'],
    [
      'a promise',
      { p: Promise.resolve(1) },
      'p',
      'is a Promise, which JSON cannot hold: send plain objects and arrays',
    ],
    ['an error', { e: new Error('x') }, 'e', 'is an Error, which JSON cannot hold: send plain objects and arrays'],
    ['a regular expression', { r: /x/ }, 'r', 'is a RegExp, which JSON cannot hold: send plain objects and arrays'],
    ['bytes', { b: new Uint8Array(2) }, 'b', 'is a Uint8Array, which JSON cannot hold: send plain objects and arrays'],
    ['a Blob', { b: new Blob([]) }, 'b', 'is a Blob, which JSON cannot hold: send plain objects and arrays'],
    ['an invalid Date', { at: new Date('x') }, 'at', 'is an invalid Date, which JSON would turn into null'],
  ])('%s', (_, payload, path, message) => {
    const error = refused(payload);
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error.message).toBe(`The payload of job 'reminder.send' cannot be serialised. '${path}' ${message}.`);
    expect(error.findings).toEqual([{ path, messages: [message] }]);
    expect(error).toMatchObject({ code: 'INVALID_PAYLOAD', ...FIELDS });
  });

  it.each([
    ['a BigInt', 7n, 'is a BigInt: send it as a string'],
    ['NaN', Number.NaN, 'is NaN, which JSON would turn into null'],
    ['a function', () => 1, 'is a function, which JSON would drop'],
    ['a symbol', Symbol('s'), 'is a symbol, which JSON would drop'],
    ['a Map', new Map(), 'is a Map, which JSON cannot hold: send plain objects and arrays'],
  ])('nothing but %s', (_, payload, message) => {
    const error = refused(payload);
    expect(error.message).toBe(`The payload of job 'reminder.send' cannot be serialised. It ${message}.`);
    expect(error.findings).toEqual([{ path: '', messages: [message] }]);
  });

  it('itself', () => {
    const user: Record<string, unknown> = { name: 'a' };
    user.friends = [{ of: user }];
    expect(refused(user).findings).toEqual([{ path: 'friends[0].of', messages: ['is circular: it contains itself'] }]);
    const list: unknown[] = [];
    list.push(list);
    expect(refused(list).findings).toEqual([{ path: '[0]', messages: ['is circular: it contains itself'] }]);
  });

  it('more levels than can be read again', () => {
    const path = `${'in.'.repeat(20)}…`;
    expect(refused(nested(501)).findings).toEqual([{ path, messages: ['is nested more than 500 levels deep'] }]);
    expect(refused(nested(50_000)).findings).toEqual(refused(nested(501)).findings);
    let list: unknown[] = [];
    for (let level = 1; level < 500; level++) list = [list];
    expect(JSON.parse(serialise(list))).toEqual(list);
    expect(refused([list]).findings[0]!.messages).toEqual(['is nested more than 500 levels deep']);
  });

  it('NaN beside a toJSON that is no function', () => {
    expect(refused({ toJSON: 'text', a: Number.NaN }).findings[0]!.path).toBe('a');
  });

  it('a toJSON that throws', () => {
    const cause = new Error('no session');
    const error = refused({
      toJSON() {
        throw cause;
      },
    });
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error.message).toBe(`The payload of job 'reminder.send' cannot be serialised: no session.`);
    expect(error.cause).toBe(cause);
    expect(error.jobId).toBe('r7');
  });

  it('a toJSON that gives nothing', () => {
    expect(refused({ toJSON: () => undefined }).message).toBe(
      `The payload of job 'reminder.send' serialises to nothing, expected a value that JSON can hold.`,
    );
  });

  it('a toJSON that gives a BigInt', () => {
    expect(refused({ id: { toJSON: () => 7n } })).toBeInstanceOf(InvalidPayloadError);
  });
});

describe('the limit of a payload', () => {
  it('may be reached and not passed', () => {
    expect(serialise('x'.repeat(8), 10)).toBe('"xxxxxxxx"');
    const error = thrown<PayloadTooLargeError>(() => serialise('x'.repeat(9), 10));
    expect(error).toBeInstanceOf(PayloadTooLargeError);
    expect(error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', bytes: 11, maxBytes: 10, ...FIELDS });
    expect(error.message).toBe(
      `The payload of job 'reminder.send' has 11 bytes, but maxPayloadBytes is 10: store it elsewhere and schedule a reference to it, or raise maxPayloadBytes.`,
    );
  });

  it('counts bytes, not characters', () => {
    expect(serialise('📧📧', 10)).toBe('"📧📧"');
    expect(thrown<PayloadTooLargeError>(() => serialise('📧📧', 9)).bytes).toBe(10);
    expect(thrown<PayloadTooLargeError>(() => serialise('ää', 5)).bytes).toBe(6);
  });
});
