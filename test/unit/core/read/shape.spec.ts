import { describe, expect, it } from '@jest/globals';
import {
  classReference,
  duration,
  flag,
  integer,
  oneOf,
  readOptions,
  type Shape,
} from '../../../../lib/core/read/shape.js';
import { thrown } from '../../thrown.js';

interface Options {
  concurrency: number;
  leaseMs: number;
  ordered: boolean;
}

const SHAPE: Shape<Options> = { concurrency: integer(1, 10), leaseMs: duration(1_000), ordered: flag };
const read = (given: unknown) => readOptions<Options>(given, SHAPE, 'queue', (message) => new RangeError(message));
const messageOf = (given: unknown) => thrown(() => read(given)).message;

describe('options', () => {
  it('are read into a new object that holds just those given, in the form that is used from then on', () => {
    const given = { leaseMs: '15s', ordered: undefined };
    const options = read(given);
    expect(options).toEqual({ leaseMs: 15_000 });
    expect(Object.keys(options)).toEqual(['leaseMs']);
    expect(given).toEqual({ leaseMs: '15s', ordered: undefined });
  });

  it('that are undefined are none', () => {
    expect(read(undefined)).toEqual({});
  });

  it.each([
    [null, 'null'],
    [5, '5'],
    ['leaseMs', '"leaseMs"'],
    [[], 'an array of 0'],
    [() => 1, 'a function'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [new Map([['leaseMs', 1_000]]), 'a Map'],
    [Promise.resolve({}), 'a Promise'],
  ])('are refused where they are no object of options: %p', (given, shown) => {
    expect(messageOf(given)).toBe(
      `queue: got ${shown}, expected an object of options (concurrency, leaseMs, ordered).`,
    );
  });

  it('may be an instance of a class', () => {
    class Configured {
      leaseMs = 2_000;
    }
    expect(read(new Configured())).toEqual({ leaseMs: 2_000 });
  });

  it('are refused with the error of whoever asked', () => {
    expect(thrown<Error>(() => read({ leaseMs: -1 }))).toBeInstanceOf(RangeError);
  });

  it('with a name that is misspelt are refused with the name that was meant', () => {
    expect(messageOf({ concurency: 5 })).toBe(`queue: unknown option "concurency", did you mean 'concurrency'?`);
  });

  it('with a name like no other are refused with all known names', () => {
    expect(messageOf({ colour: 5 })).toBe('queue: unknown option "colour", known are concurrency, leaseMs, ordered.');
  });

  it('with an unknown name are refused even where it is undefined', () => {
    expect(messageOf({ concurency: undefined })).toContain('unknown option "concurency"');
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('named %s are unknown, not inherited', (name) => {
    expect(messageOf(JSON.parse(`{"${name}":{"leaseMs":5}}`))).toContain(`queue: unknown option "${name}"`);
  });

  it('that a prototype holds do not count', () => {
    expect(read(Object.create({ concurrency: 'many', colour: 'red' }))).toEqual({});
  });
});

describe('a whole number', () => {
  it('may be the least, the greatest and any between', () => {
    expect([1, 5, 10].map(integer(1, 10))).toEqual([{ value: 1 }, { value: 5 }, { value: 10 }]);
    expect(integer(0)(Number.MAX_SAFE_INTEGER)).toEqual({ value: Number.MAX_SAFE_INTEGER });
  });

  it.each([
    [0, '0'],
    [11, '11'],
    [1.5, '1.5'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    ['5', '"5"'],
    [5n, 'the bigint 5'],
    [null, 'null'],
  ])('may not be %p', (value, shown) => {
    expect(integer(1, 10)(value)).toEqual({ problem: `got ${shown}, expected a whole number from 1 to 10` });
  });

  it('without a greatest names only the least', () => {
    expect(integer(1)(0)).toEqual({ problem: 'got 0, expected a whole number of at least 1' });
    expect(integer(1)(2 ** 53)).toEqual({ problem: 'got 9007199254740992, expected a whole number of at least 1' });
  });
});

it('a duration below the least is refused as it was written', () => {
  expect(duration(1_000)(1_000)).toEqual({ value: 1_000 });
  expect(duration(1_000)('0.5s')).toEqual({ problem: 'got "0.5s", expected at least 1000 ms' });
  expect(duration()(0)).toEqual({ value: 0 });
});

it.each([
  ['true', '"true"'],
  [1, '1'],
  [null, 'null'],
])('a flag is true or false, not %p', (value, shown) => {
  expect([true, false].map(flag)).toEqual([{ value: true }, { value: false }]);
  expect(flag(value)).toEqual({ problem: `got ${shown}, expected true or false` });
});

it('a choice is one of its texts', () => {
  const check = oneOf('keep', 'replace');
  expect(check('replace')).toEqual({ value: 'replace' });
  expect(check('Replace')).toEqual({ problem: `got "Replace", expected 'keep' or 'replace'` });
  expect(check(undefined)).toEqual({ problem: `got undefined, expected 'keep' or 'replace'` });
});

it('a class is a function that can be called with new', () => {
  class Payload {}
  expect(classReference(Payload)).toEqual({ value: Payload });
  expect(classReference(() => 1)).toEqual({ problem: 'got a function, expected a class' });
  expect(classReference('Payload')).toEqual({ problem: 'got "Payload", expected a class' });
  expect(classReference(new Payload())).toEqual({ problem: 'got a Payload, expected a class' });
});
