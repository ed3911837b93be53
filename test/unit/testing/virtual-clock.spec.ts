import { expect, it } from '@jest/globals';
import { VirtualClock } from '../../../lib/testing/time/virtual-clock.js';

it('stands still until it is moved, and never goes back', () => {
  const clock = new VirtualClock();
  expect(clock.startAt(1_000)).toBe(true);
  expect(clock.startAt(2_000)).toBe(false);
  clock.moveTo(5_000);
  clock.moveTo(4_000);
  expect([clock.now(), clock.wallNow()]).toEqual([5_000, 5_000]);
});

it('hands out due timers by time and then in their order, but not those that were called off', () => {
  const clock = new VirtualClock();
  clock.startAt(0);
  const rung: string[] = [];
  clock.after(20, () => rung.push('late'));
  clock.after(10, () => rung.push('first'));
  clock.after(10, () => rung.push('second'));
  clock.after(5, () => rung.push('never'))();
  expect(clock.takeDue()).toBeUndefined();
  clock.moveTo(15);
  for (let ring = clock.takeDue(); ring; ring = clock.takeDue()) ring();
  expect(rung).toEqual(['first', 'second']);
});

it('no timer rings before its time, also where that is a part of a millisecond', () => {
  const clock = new VirtualClock();
  clock.startAt(0);
  clock.after(10.2, () => {});
  expect(clock.next.atMs).toBe(11);
  clock.moveTo(10);
  expect(clock.takeDue()).toBeUndefined();
  clock.moveTo(11);
  expect(clock.takeDue()).toBeDefined();
});

it('housekeeping makes no instant, and rings at the next one', () => {
  const clock = new VirtualClock();
  clock.startAt(0);
  clock.after(5, () => {}, { keepsAlive: false });
  expect(clock.next.atMs).toBe(Number.POSITIVE_INFINITY);
  clock.after(30, () => {});
  expect(clock.next.atMs).toBe(30);
  clock.moveTo(30);
  expect([clock.takeDue(), clock.takeDue(), clock.takeDue()].map((ring) => ring !== undefined)).toEqual([
    true,
    true,
    false,
  ]);
});
