import { expect, it } from '@jest/globals';
import { differences } from '../../../lib/testing/look/differences.js';

const NOON = new Date('2027-01-01T12:00:00Z');
const JUST_AFTER = new Date('2027-01-01T12:00:00.007Z');

it.each([
  [{ a: 1, b: 2 }, { a: 1 }],
  [{ a: { b: [1, { c: 2, d: 3 }] } }, { a: { b: [1, { c: 2 }] } }],
  [{ at: NOON.toISOString() }, { at: NOON }],
  [{ at: NOON }, { at: NOON }],
  [{ at: JUST_AFTER }, { at: JUST_AFTER }],
  [{ at: JUST_AFTER.toISOString() }, { at: JUST_AFTER }],
  [{ n: Number.NaN }, { n: Number.NaN }],
  [{ text: 'x' }, { text: expect.any(String) }],
  [null, null],
  [{ bytes: Buffer.from([1, 2]) }, { bytes: Buffer.from([1, 2]) }],
  [{ ids: new Set([1]) }, { ids: new Set([1]) }],
])('%j has the part %j', (got, expected) => {
  expect(differences(got, expected, 'payload')).toEqual([]);
});

it.each([
  [{ a: 1 }, { a: 2 }, 'payload.a: got 1, expected 2'],
  [{}, { a: null }, 'payload.a: got undefined, expected null'],
  [7, { a: 1 }, 'payload: got 7, expected {"a":1}'],
  [{ a: [1, 2] }, { a: [1] }, 'payload.a: got 2 items, expected 1'],
  [{ a: 'x' }, { a: [1] }, 'payload.a: got "x", expected [1]'],
  [{ at: NOON }, { at: JUST_AFTER }, 'payload.at: got 2027-01-01T12:00:00.000Z, expected 2027-01-01T12:00:00.007Z'],
  [{ at: 'noon' }, { at: NOON }, 'payload.at: got "noon", expected 2027-01-01T12:00:00.000Z'],
  [
    { bytes: Buffer.from([1, 2]) },
    { bytes: Buffer.from([1]) },
    'payload.bytes: got <Buffer 01 02>, expected <Buffer 01>',
  ],
  [{ ids: new Set([1]) }, { ids: new Set([2]) }, 'payload.ids: got Set(1) { 1 }, expected Set(1) { 2 }'],
  [
    { of: new Map([[1, 2]]) },
    { of: new Map([[1, 3]]) },
    'payload.of: got Map(1) { 1 => 2 }, expected Map(1) { 1 => 3 }',
  ],
  [{ a: null }, { a: { b: 1 } }, 'payload.a: got null, expected {"b":1}'],
  [{ a: [{ b: 1 }, { b: 2 }] }, { a: [{ b: 1 }, { b: 3 }] }, 'payload.a[1].b: got 2, expected 3'],
  [{ text: 7 }, { text: expect.any(String) }, 'payload.text: got 7, expected Any<String>'],
  [{ n: null }, { n: expect.anything() }, 'payload.n: got null, expected Anything'],
  [{ text: 'x' }, { text: expect.stringContaining('y') }, 'payload.text: got "x", expected StringContaining "y"'],
  [{ text: 'x' }, { text: expect.stringMatching(/y/) }, 'payload.text: got "x", expected StringMatching /y/'],
  [{ o: {} }, { o: expect.objectContaining({ a: 1 }) }, 'payload.o: got {}, expected ObjectContaining {"a":1}'],
  [
    { o: {} },
    { o: expect.objectContaining({ a: expect.any(Number) }) },
    'payload.o: got {}, expected ObjectContaining {"a":Any<Number>}',
  ],
  [7, { a: expect.any(Number), b: '"' }, 'payload: got 7, expected {"a":Any<Number>,"b":"\\""}'],
])('of %j and %j it tells the difference', (got, expected, told) => {
  expect(differences(got, expected, 'payload')).toEqual([told]);
});

it('a value is told up to 80 characters', () => {
  const shownOf = (length: number) => differences({ text: 'x'.repeat(length - '{"text":""}'.length) }, 5, 'payload');
  expect(shownOf(80)).toEqual([`payload: got {"text":"${'x'.repeat(69)}"}, expected 5`]);
  expect(shownOf(81)).toEqual([`payload: got {"text":"${'x'.repeat(70)}"…, expected 5`]);
});

it('a matcher of another library is told by its own text, if it has one', () => {
  const own = { asymmetricMatch: () => false, toString: () => 'Even' };
  const none = { asymmetricMatch: () => false };
  expect(differences(7, own, 'payload')).toEqual(['payload: got 7, expected Even']);
  expect(differences(7, none, 'payload')).toEqual(['payload: got 7, expected what the matcher says']);
});
