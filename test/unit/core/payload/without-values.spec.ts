import { describe, expect, it } from '@jest/globals';
import { valueEraser } from '../../../../lib/core/payload/without-values.js';

it.each([
  ['to: hunter2 is no address', { to: 'hunter2' }, 'to: [value] is no address'],
  ['got xhunter2y', { deep: [{ to: 'hunter2' }] }, 'got x[value]y'],
  ['age must not be less than 18, got 7', { age: 7 }, 'age must not be less than 18, got [value]'],
  ['a must be a date', { a: 'a' }, '[value] must be [value] date'],
  ['got long hunter2 and hunter2', { a: 'hunter2', b: 'long hunter2' }, 'got [value] and [value]'],
  ['ends at 2027-01-01T00:00:00.000Z', { at: new Date(Date.UTC(2027, 0, 1)) }, 'ends at [value]'],
  ['got $& and (x).*', { a: '$&', b: '(x).*' }, 'got [value] and [value]'],
  ['must be true', { a: true, b: null, c: '' }, 'must be true'],
  ['hunter2', 'hunter2', '[value]'],
  ['got ab-12', { a: 'ab-12', b: '-12', c: 'ab' }, 'got [value]'],
  ['got sesame-opens, no sesame', { a: 'sesame', b: 'same-opens' }, 'got [value], no [value]'],
  ['got aé1, 𝐚1', { a: '1' }, 'got aé1, 𝐚1'],
  ['got a', { long: 'a value longer than a piece', short: 'a' }, 'got [value]'],
  ['is ba', { long: 'a value longer than a piece', short: 'a' }, 'is ba'],
  [
    'got a sentence of some forty characters in it.',
    { a: 'a sentence of some forty characters in it' },
    'got [value].',
  ],
  ['got hunter2 for secret', new Map([['secret', new Set(['hunter2'])]]), 'got [value] for [value]'],
])('%s', (text, payload, left) => {
  expect(valueEraser(payload)(text)).toBe(left);
});

it('a circle ends, and of what is too large to be searched nothing is shown', () => {
  const circle: { to: string; self?: unknown } = { to: 'hunter2' };
  circle.self = circle;
  expect(valueEraser(circle)('got hunter2')).toBe('got [value]');
  const many = Array.from({ length: 2_000 }, (_, i) => `secret-${i}`);
  expect(valueEraser(many)('got secret-1999')).toBe('a text of 15 characters, not searched for values');
  expect(valueEraser({ to: 'hunter2' })('hunter2'.repeat(2_000))).toBe(
    'a text of 14000 characters, not searched for values',
  );
});

describe('a text does not grow by what a payload holds', () => {
  const MARK = '[value]';
  const halves = Array.from({ length: 6 }, (_, i) => [MARK.slice(i + 1), MARK.slice(0, i + 1)]).flat();
  // Each is what the erasing of others would leave: 'ue][va', '[v[value', …
  const made = halves.flatMap((left) => halves.flatMap((right) => [left + right, left + MARK, MARK + right]));
  const payload = { list: ['abcdefgh', ...new Set(halves.concat(made))] };

  it('which is part of the mark', () => {
    const text = `property ${'abcdefgh'.repeat(20)} should not exist`;
    expect(valueEraser(payload)(text)).toBe('property [value] should not exist');
    expect(valueEraser(payload)('got abcdefgh, abcdefgh')).toBe('got [value], [value]');
  });

  it('of single characters', () => {
    const text = '- '.repeat(5_000);
    expect(valueEraser(['-'])(text)).toBe('[value] '.repeat(5_000));
  });

  it('of many long values that begin alike', () => {
    const values = Array.from({ length: 900 }, (_, i) => 'a'.repeat(9_000 + i));
    expect(valueEraser(values)(`${'a'.repeat(8_999)}b`)).toBe('[value]b');
  });
});

it('a payload that cannot be read to its end is not searched for', () => {
  const payload = {
    get to(): string {
      throw new Error('gone');
    },
  };
  expect(valueEraser(payload)('got hunter2')).toBe('a text of 11 characters, not searched for values');
});
