import { expect, it } from '@jest/globals';
import { UnorderedSet } from '../../../lib/core/unordered-set.js';

const item = (name: string) => ({ name, index: -1 });
const [a, b, c] = [item('a'), item('b'), item('c')];

function setOf(...items: ReturnType<typeof item>[]) {
  const set = new UnorderedSet<ReturnType<typeof item>>();
  for (const each of items) set.add(each);
  return set;
}

it.each([
  ['first', a, ['b', 'c']],
  ['one in between', b, ['a', 'c']],
  ['last', c, ['a', 'b']],
])('lets go of its %s, and keeps the others', (_, gone, others) => {
  const set = setOf(a, b, c);
  expect(set.delete(gone)).toBe(true);
  expect([...set].map(({ name }) => name).sort()).toEqual(others);
  expect(set.size).toBe(2);
  expect(set.delete(gone)).toBe(false);
  for (const each of [...set]) expect(set.delete(each)).toBe(true);
  expect(set.size).toBe(0);
});

it('knows what was never in it, and what is in another one, from its own', () => {
  const set = setOf(item('x'), item('y'));
  const [other] = setOf(item('z'));
  expect(set.delete(item('w'))).toBe(false);
  expect(set.delete(other!)).toBe(false);
  expect(set.size).toBe(2);
});

it('is empty once it was cleared, and what was in it can come again', () => {
  const set = setOf(a, b);
  set.clear();
  expect([...set]).toEqual([]);
  expect(set.delete(a)).toBe(false);
  set.add(b);
  expect([...set]).toEqual([b]);
});
