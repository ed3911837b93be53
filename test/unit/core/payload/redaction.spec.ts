import { describe, expect, it } from '@jest/globals';
import { noteRedaction, propertyNames, Redaction, redactionOf } from '../../../../lib/core/payload/redaction.js';

const secret = new Redaction(['password', 'card', '__proto__']);

describe('a redacted property', () => {
  it.each<[string, unknown, unknown]>([
    ['of an object', { user: 'ada', password: 'hunter2' }, { user: 'ada', password: '[redacted]' }],
    ['deep inside', { a: [{ b: [{ password: 1, c: 2 }] }] }, { a: [{ b: [{ password: '[redacted]', c: 2 }] }] }],
    ['with all that is inside of it', { card: { number: '4111', owner: 'ada' } }, { card: '[redacted]' }],
    ['that is null', { password: null }, { password: '[redacted]' }],
    ['in a list', [{ password: 'a' }, 'b'], [{ password: '[redacted]' }, 'b']],
  ])('reads [redacted]: %s', (_, value, shown) => {
    expect(secret.redact(value)).toEqual(shown);
  });

  it('is one of exactly that name', () => {
    const value = { Password: 1, passwords: 2, 'a.password': 3, text: '{"password":1}' };
    expect(secret.redact(value)).toEqual(value);
  });

  it('is none of a list', () => {
    expect(new Redaction(['0', 'a']).redact([1, { a: 2, 0: 3 }])).toEqual([1, { a: '[redacted]', 0: '[redacted]' }]);
  });

  it('may be named __proto__, and others of that name stay properties', () => {
    const value = JSON.parse('{"__proto__":{"a":1},"b":2}');
    expect(JSON.stringify(secret.redact(value))).toBe('{"__proto__":"[redacted]","b":2}');
    expect(JSON.stringify(new Redaction(['b']).redact(value))).toBe('{"__proto__":{"a":1},"b":"[redacted]"}');
  });
});

describe('what a codec may answer', () => {
  class Money {
    constructor(
      readonly amount: number,
      readonly card?: string,
    ) {}
  }
  class Account {
    #password = 'hunter2';
    toJSON() {
      return { id: 7, password: this.#password };
    }
  }

  it.each<[string, unknown, unknown]>([
    ['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an instance of a class', new Money(1), { amount: 1 }],
    ['a Map', new Map([['a', new Map([['b', 1]])]]), { a: { b: 1 } }],
    ['a Set', new Set([1, 2]), [1, 2]],
    ['a bigint', 2n ** 60n, '1152921504606846976'],
    ['nothing', undefined, undefined],
    ['a function', () => 1, null],
  ])('is shown as JSON: %s', (_, value, shown) => {
    expect(secret.redact(value)).toEqual(shown);
    expect(new Redaction().redact(value)).toEqual(shown);
  });

  it.each<[string, unknown, unknown]>([
    ['in an instance of a class', new Money(1, '4111'), { amount: 1, card: '[redacted]' }],
    ['in what a toJSON tells', new Account(), { id: 7, password: '[redacted]' }],
    ['in a Map', new Map([['card', { a: 1 }]]), { card: '[redacted]' }],
    ['in a Set', new Set([{ password: 'a' }]), [{ password: '[redacted]' }]],
  ])('is redacted %s', (_, value, shown) => {
    expect(secret.redact([value])).toEqual([shown]);
  });

  it('is not shown where JSON cannot show it', () => {
    const circle: { self?: unknown; password: string } = { password: 'hunter2' };
    circle.self = circle;
    const throwing = {
      toJSON() {
        throw new Error('hunter2');
      },
    };
    expect([circle, throwing].map((value) => secret.redact(value))).toEqual([undefined, undefined]);
  });
});

it('of a job the payload, result, headers and progress are redacted, and nothing that the library says of it', () => {
  const names = new Redaction(['name', 'id', 'token']);
  const job = { id: 'j', name: 'mail', tags: ['a'], payload: { name: 'ada' }, headers: { token: 't', locale: 'fr' } };
  const ended = { ...job, result: [{ id: 1 }], progress: { name: 'b', done: 3 } };
  expect(names.redactJob(ended)).toEqual({
    id: 'j',
    name: 'mail',
    tags: ['a'],
    payload: { name: '[redacted]' },
    headers: { token: '[redacted]', locale: 'fr' },
    result: [{ id: '[redacted]' }],
    progress: { name: '[redacted]', done: 3 },
  });
  expect(Object.keys(names.redactJob(job))).toEqual(Object.keys(job));
  expect(ended.payload).toEqual({ name: 'ada' });
  expect(new Redaction().redactJob(job)).toEqual(job);
});

it('a name is found in a text where it stands as a word', () => {
  const names = new Redaction(['pin', 'a+b', 'größe']);
  const found = ['user.pin must be', 'pinned', 'the a+b is no', 'aab', 'dieGröße', 'die größe.', 'größer'];
  expect(found.map((text) => names.nameIn(text))).toEqual([
    'pin',
    undefined,
    'a+b',
    undefined,
    undefined,
    'größe',
    undefined,
  ]);
});

it('whoever is handed a service of an instance finds what people must not read, and nothing shows it', () => {
  const service = noteRedaction({ counts: 1 }, secret);
  expect(redactionOf(service)).toBe(secret);
  expect(Object.keys(service)).toEqual(['counts']);
  expect(redactionOf({}).isEmpty).toBe(true);
});

it.each([
  ['password', 'got "password", expected an array of names of properties'],
  [['a', 7], 'name 1: got 7, expected the name of a property'],
  [[''], 'name 0: got "", expected the name of a property'],
])('%j is no list of names', (value, problem) => {
  expect(propertyNames(value)).toEqual({ problem });
});
