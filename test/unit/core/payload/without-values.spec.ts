import { expect, it } from '@jest/globals';
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
