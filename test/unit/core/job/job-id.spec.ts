import { expect, it } from '@jest/globals';
import { JobIdMaker, looksMade, newMaker } from '../../../../lib/core/job/job-id.js';

const NOON = Date.UTC(2027, 0, 1, 12);
const COUNTER_END = 36 ** 3;

it('ids of later milliseconds sort behind earlier ones', () => {
  const maker = new JobIdMaker();
  const times = [0, 1, 2, 1_000, NOON, NOON + 1, Date.UTC(2100, 0, 1), Date.UTC(5000, 0, 1)];
  const ids = times.map((time) => maker.next('maker1', time));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(times.length);
});

it('ids of one millisecond sort in the order in which they were made', () => {
  const maker = new JobIdMaker();
  const ids = Array.from({ length: 100 }, () => maker.next('maker1', NOON));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(100);
});

it('ids go on growing when the clock goes back', () => {
  const maker = new JobIdMaker();
  const ids = [NOON, NOON - 3_600_000, NOON - 1, 0, NOON, NOON + 1].map((time) => maker.next('maker1', time));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(6);
});

it('ids go on growing when more are made in a millisecond than its counter can tell apart', () => {
  const maker = new JobIdMaker();
  const ids = Array.from({ length: 2 * COUNTER_END + 10 }, () => maker.next('maker1', NOON));
  const inOrder = ids.every((id, i) => i === 0 || ids[i - 1]! < id);
  expect(inOrder).toBe(true);
  expect(ids.every(looksMade)).toBe(true);
  expect(maker.next('maker1', NOON + 1) > ids.at(-1)!).toBe(true);
});

it('an id has 18 characters and ends in the name of its maker', () => {
  const ids = [0, 1, NOON, Date.UTC(5000, 0, 1)].map((time) => new JobIdMaker().next('zz0001', time));
  expect(ids.map((id) => id.length)).toEqual([18, 18, 18, 18]);
  expect(ids.map((id) => id.slice(-6))).toEqual(['zz0001', 'zz0001', 'zz0001', 'zz0001']);
});

it('an id begins with the time at which it was made, however many are made then', () => {
  const maker = new JobIdMaker();
  const ids = Array.from({ length: 100 }, () => maker.next('maker1', NOON));
  expect(new Set(ids.map((id) => Number.parseInt(id.slice(0, 9), 36)))).toEqual(new Set([NOON]));
});

it('the names of makers have six characters and differ', () => {
  const names = Array.from({ length: 50 }, newMaker);
  expect(names.filter((name) => !/^[0-9a-z]{6}$/.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(50);
});

it('a made id is told from one that a user chose', () => {
  expect(looksMade(new JobIdMaker().next(newMaker(), NOON))).toBe(true);
  const chosen = ['', 'order-7', 'A'.repeat(18), 'a'.repeat(17), 'a'.repeat(19), `${'a'.repeat(17)}-`];
  expect(chosen.filter(looksMade)).toEqual([]);
});

it.each([NOON + 0.25, -1, -0.5, Date.UTC(1900, 0, 1)])('an id is as long where the clock says %d', (time) => {
  const maker = new JobIdMaker();
  const ids = [maker.next('maker1', time), maker.next('maker1', time)];
  expect(ids.every(looksMade)).toBe(true);
  expect(new Set(ids).size).toBe(2);
});
