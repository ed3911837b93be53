import { describe, expect, it } from '@jest/globals';
import { decode, encode } from 'msgpackr';
import { InvalidPayloadError } from '../../../lib/core/errors.js';
import { messagePackCodec } from '../../../lib/msgpack/index.js';
import { thrown } from '../thrown.js';

const stored = (payload: unknown) => messagePackCodec.encode(payload) as Uint8Array;
const roundTrip = (payload: unknown) => messagePackCodec.decode(stored(payload));

function nested(levels: number): unknown {
  let payload: unknown = 'end';
  for (let level = 0; level < levels; level++) payload = { in: payload };
  return payload;
}

const circle: Record<string, unknown> = {};
circle.self = { circle };

class Person {
  constructor(
    readonly name: string,
    readonly born: Date,
  ) {}
  greet() {
    return `I am ${this.name}`;
  }
}

describe('a payload arrives as it was sent', () => {
  it.each([
    ['nested objects', { a: { b: { c: [{ d: 1 }, { d: [2, [3]] }] } } }],
    ['empty ones', { list: [], map: {}, text: '', none: null }],
    ['unicode', { text: 'größe 日本語 📧', 'clé 📧': 1 }],
    ['numbers', [0, -1, 255, 65_536, 2 ** 31, 2 ** 40, 2 ** 53 - 1, -(2 ** 53), 0.1, 1e-7, Number.MAX_VALUE]],
    ['what JSON cannot hold of numbers', [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
    ['large integers', { most: 2n ** 64n - 1n, least: -(2n ** 63n) }],
    ['a date', { at: new Date('2027-01-01T00:00:00.123Z') }],
    ['a date before 1970', { at: new Date('1912-06-23T00:00:00Z') }],
    ['bytes that are no UTF-8', { image: Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0xc3, 0x28]) }],
    ['an array', [1, 'two', null]],
    ['text', 'just text'],
    ['null', null],
    ['500 levels', nested(500)],
  ])('%s', (_, payload) => {
    expect(roundTrip(payload)).toEqual(payload);
  });

  it('bytes of any kind as a Buffer of its own', () => {
    for (const bytes of [new Uint8Array([1, 255]), new Uint8Array([1, 255]).buffer]) {
      expect(roundTrip({ bytes })).toEqual({ bytes: Buffer.from([1, 255]) });
    }
  });

  it('without undefined properties, as in JSON', () => {
    expect(roundTrip({ a: 1, b: undefined })).toStrictEqual({ a: 1 });
  });

  it('as toJSON makes it, and else without class and methods', () => {
    const at = new Date(0);
    expect(roundTrip({ person: new Person('Ada', at) })).toStrictEqual({ person: { name: 'Ada', born: at } });
    class Price {
      toJSON() {
        return '1.50';
      }
    }
    expect(roundTrip({ price: new Price() })).toEqual({ price: '1.50' });
  });

  it('where JSON keeps it, whatever object it is', () => {
    class Tagged {
      readonly a = 1;
      get [Symbol.toStringTag]() {
        return 'Tagged';
      }
    }
    const bare = Object.assign(Object.create(null), { a: 1 });
    const payload = { tagged: new Tagged(), bare, empty: new (class Empty {})(), url: new URL('http://x/'), 𝒳: '📧' };
    expect(roundTrip(payload)).toEqual(JSON.parse(JSON.stringify(payload)));
  });

  it('with a BigInt that fits a number as a number', () => {
    expect(roundTrip({ id: 7n })).toEqual({ id: 7 });
  });
});

it('any MessagePack library reads what is stored', () => {
  expect(Buffer.from(stored({ a: 1, at: new Date(1000), b: new Uint8Array([255]) })).toString('hex')).toBe(
    // A map of 3; timestamps are the extension -1 that the format defines.
    '83a16101a26174d6ff00000001a162c401ff',
  );
  expect(decode(stored({ a: [1, { b: 'c' }] }))).toEqual({ a: [1, { b: 'c' }] });
});

it.each([
  ['a promise that nobody awaited', { user: Promise.resolve(1) }, "'user' is a Promise, which MessagePack cannot hold"],
  ['a Map', { in: [new Map()] }, "'in[0]' is a Map, which MessagePack cannot hold: send plain objects and arrays"],
  ['a Set', new Set(), 'it is a Set, which MessagePack cannot hold: send plain objects and arrays'],
  ['a RegExp', { a: /x/ }, "'a' is a RegExp, which"],
  ['an Error', { a: new Error('x') }, "'a' is an Error, which"],
  ['other typed arrays', { a: new Float32Array(2) }, "'a' is a Float32Array, which"],
  ['a function', { a: { b: () => 1 } }, "'a.b' is the function 'b', which MessagePack cannot hold"],
  ['a toJSON that nobody calls', { a: { toJSON: () => 1 } }, "'a.toJSON' is the function 'toJSON', which"],
  ['a symbol', { a: Symbol('x') }, "'a' is a symbol, which MessagePack cannot hold"],
  ['an invalid Date', { a: new Date(Number.NaN) }, "'a' is an invalid Date"],
  ['undefined in a list', { a: [undefined] }, "'a[0]' is undefined, which would become null"],
  ['a Number object', { a: new Number(5) }, "'a' is a Number object, which would become {}: send the value itself"],
  ['a String object', ['x', new String('x')], "'[1]' is a String object, which"],
  ['a Boolean object', { a: new Boolean(false) }, "'a' is a Boolean object, which"],
  ['a BigInt object', { a: Object(5n) }, "'a' is a BigInt object, which"],
  ['a Symbol object', { a: Object(Symbol('x')) }, "'a' is a Symbol, which MessagePack cannot hold"],
  ['-0', { a: [-0] }, "'a[0]' is -0, which would become 0: send 0"],
  ['half a character', { a: 'x\ud800y' }, "'a' holds half a character (a lone surrogate), which would become U+FFFD"],
  ['half a character in a key', { a: { 'x\udc00': 1 } }, 'holds half a character'],
  ['a key that msgpackr renames', JSON.parse('{"a":{"__proto__":1}}'), "'a.__proto__' would become '__proto_': send"],
  [
    'what a toJSON answers',
    {
      a: new (class {
        toJSON = () => [-0];
      })(),
    },
    "'a[0]' is -0, which",
  ],
  ['a Blob', { a: new Blob(['x']) }, "'a' is a Blob, which MessagePack cannot hold: send plain objects and arrays"],
  ['a WeakRef', { a: new WeakRef({}) }, "'a' is a WeakRef, which"],
  ['shared memory', { a: new SharedArrayBuffer(2) }, "'a' is a SharedArrayBuffer, which"],
  ['an iterator', { a: new Map().keys() }, "'a' is"],
  ['a form', { a: new URLSearchParams('a=1') }, "'a' is a URLSearchParams, which"],
  ['more than 64 bits', { a: 2n ** 64n }, "'a' is a BigInt of more than 64 bits: send it as a string"],
  ['a circle', circle, 'is nested more than 500 levels deep, or circular'],
])('refuses %s, and says where', (_, payload, message) => {
  const error = thrown<InvalidPayloadError>(() => stored(payload));
  expect(error).toBeInstanceOf(InvalidPayloadError);
  expect(error.message).toContain(message);
  expect(error.findings).toHaveLength(1);
});

it.each([
  ['nothing', Buffer.alloc(0)],
  ['what was cut off', encode({ a: 'long text' }).subarray(0, 5)],
  ['what has something behind it', Buffer.concat([encode(1), encode(2)])],
])('says of %s that it can never be decoded', (_, bytes) => {
  const error = thrown(() => messagePackCodec.decode(bytes));
  expect(error).toBeInstanceOf(InvalidPayloadError);
  expect(error.message).toBe(`what is stored, ${bytes.length} bytes, is not MessagePack`);
});
