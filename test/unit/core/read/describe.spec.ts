import { describe, expect, it } from '@jest/globals';
import { nearest, describe as shown } from '../../../../lib/core/read/describe.js';

class Reminder {}

describe('an error message shows', () => {
  it.each([
    ['text', 'a\nb', '"a\\nb"'],
    ['empty text', '', '""'],
    ['a number', 1.5, '1.5'],
    ['NaN', Number.NaN, 'NaN'],
    ['a boolean', false, 'false'],
    ['null', null, 'null'],
    ['undefined', undefined, 'undefined'],
    ['a BigInt', 10n, 'the bigint 10'],
    ['a named function', function send() {}, "the function 'send'"],
    [
      'a function without a name',
      (
        () => () =>
          1
      )(),
      'a function',
    ],
    ['a class', Reminder, "the function 'Reminder'"],
    ['a symbol', Symbol('s'), 'a symbol'],
    ['an array', [1, 2], 'an array of 2'],
    ['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an invalid Date', new Date(Number.NaN), 'an invalid Date'],
    ['an object', { a: 1 }, 'an object'],
    ['an object without a prototype', Object.create(null), 'an object'],
    ['an instance', new Reminder(), 'a Reminder'],
    ['a Map', new Map(), 'a Map'],
  ])('%s by what it is', (_, value, expected) => {
    expect(shown(value)).toBe(expected);
  });

  it('60 characters of long text and how long it is', () => {
    expect(shown('x'.repeat(60))).toBe(`"${'x'.repeat(60)}"`);
    expect(shown('x'.repeat(10_240))).toBe(`"${'x'.repeat(60)}…" (10240 characters)`);
  });

  it('no half character where long text is cut in an emoji', () => {
    expect(shown(`${'x'.repeat(59)}📧📧`)).toBe(`"${'x'.repeat(59)}\\ud83d…" (63 characters)`);
  });
});

describe('the nearest known name', () => {
  const known = ['priority', 'maxAttempts', 'backoff', 'at', 'delay', 'id', 'queue'];

  it.each([
    ['prioritty', 'priority'],
    ['maxAttempt', 'maxAttempts'],
    ['max_attempts', 'maxAttempts'],
    ['MAXATTEMPTS', 'maxAttempts'],
    ['backOff', 'backoff'],
    ['dealy', 'delay'],
    ['queu', 'queue'],
    ['ad', 'at'],
  ])('to %s is %s', (name, expected) => {
    expect(nearest(name, known)).toBe(expected);
  });

  it.each(['timeout', 'colour', '', 'x', 'xy', '__proto__', 'x'.repeat(10_000)])('to %j is none', (name) => {
    expect(nearest(name, known)).toBeUndefined();
  });

  it('may differ in two characters, in a long name in a third of them, and in no more', () => {
    expect(nearest('abxy', ['abcd'])).toBe('abcd');
    expect(nearest('axyz', ['abcd'])).toBeUndefined();
    expect(nearest('abcdefghwxyz', ['abcdefghijkl'])).toBe('abcdefghijkl');
    expect(nearest('abcdefgvwxyz', ['abcdefghijkl'])).toBeUndefined();
  });

  it('is the nearer one of two', () => {
    expect(nearest('delayy', ['delays', 'delay'])).toBe('delays');
    expect(nearest('delay', ['delays', 'delay'])).toBe('delay');
  });
});
