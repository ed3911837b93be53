import { expect, it } from '@jest/globals';
import { Bag } from '../../../lib/core/bag.js';

const item = (name: string) => ({ name, place: -1 });
const [a, b, c] = [item('a'), item('b'), item('c')];

function bagOf(...items: ReturnType<typeof item>[]) {
  const bag = new Bag<ReturnType<typeof item>>();
  for (const each of items) bag.add(each);
  return bag;
}

it.each([
  ['first', a, ['b', 'c']],
  ['one in between', b, ['a', 'c']],
  ['last', c, ['a', 'b']],
])('lets go of its %s, and keeps the others', (_, gone, others) => {
  const bag = bagOf(a, b, c);
  expect(bag.delete(gone)).toBe(true);
  expect([...bag].map(({ name }) => name).sort()).toEqual(others);
  expect(bag.size).toBe(2);
  expect(bag.delete(gone)).toBe(false);
  for (const each of [...bag]) expect(bag.delete(each)).toBe(true);
  expect(bag.size).toBe(0);
});

it('knows what was never in it, and what is in another one, from its own', () => {
  const bag = bagOf(item('x'), item('y'));
  const [other] = bagOf(item('z'));
  expect(bag.delete(item('w'))).toBe(false);
  expect(bag.delete(other!)).toBe(false);
  expect(bag.size).toBe(2);
});

it('is empty once it was cleared, and what was in it can come again', () => {
  const bag = bagOf(a, b);
  bag.clear();
  expect([...bag]).toEqual([]);
  expect(bag.delete(a)).toBe(false);
  bag.add(b);
  expect([...bag]).toEqual([b]);
});
