import { expect, it } from '@jest/globals';
import { SortedList } from '../../../../lib/testing/store/lists/sorted-list.js';
import { seededRandom } from '../../../support/random.js';

it('is in order, finds and counts like an array, however many are added and taken out', () => {
  const random = seededRandom(7);
  const list = new SortedList<number>((a, b) => a - b);
  const array = new Set<number>();
  for (let i = 0; i < 20_000; i++) {
    const item = Math.floor(random() * 5_000);
    if (random() < 0.55) {
      if (!array.has(item)) list.add(item);
      array.add(item);
    } else expect(list.delete(item)).toBe(array.delete(item));
  }
  const sorted = [...array].sort((a, b) => a - b);
  expect(list.size).toBe(sorted.length);
  expect([...list]).toEqual(sorted);
  expect([...list.reversed()]).toEqual(sorted.reverse());
  sorted.reverse();
  expect(list.first).toBe(sorted[0]);
  for (const probe of [-1, 0, 17, 2_500, 4_999, 9_999]) {
    expect(list.countBefore((item) => item < probe)).toBe(sorted.filter((item) => item < probe).length);
    expect(list.firstNot((item) => item < probe)).toBe(sorted.find((item) => item >= probe));
  }
});

it('of an empty list there is nothing', () => {
  const list = new SortedList<number>((a, b) => a - b);
  expect([list.size, list.first, list.delete(1), list.countBefore(() => true), [...list]]).toEqual([
    0,
    undefined,
    false,
    0,
    [],
  ]);
});
