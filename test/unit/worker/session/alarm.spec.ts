import { beforeEach, expect, it } from '@jest/globals';
import { Alarm } from '../../../../lib/worker/session/alarm.js';
import { ManualClock } from '../../../support/manual-clock.js';

let clock: ManualClock;
let alarm: Alarm;
let rangAt: number[];

beforeEach(() => {
  clock = new ManualClock();
  rangAt = [];
  alarm = new Alarm(clock, 'poll', () => rangAt.push(clock.now()));
});

it('an alarm that is set for earlier rings once, at the earlier time', () => {
  alarm.setFor(20);
  alarm.setFor(10);
  alarm.setFor(15);
  clock.pass(100);
  expect(rangAt).toEqual([10]);
});

it('an alarm rings anew after it has rung', () => {
  alarm.setFor(10);
  clock.pass(10);
  alarm.setFor(30);
  clock.pass(100);
  expect(rangAt).toEqual([10, 30]);
});

it('an alarm that is cleared does not ring until it is set again', () => {
  alarm.clear();
  alarm.setFor(10);
  alarm.clear();
  clock.pass(100);
  expect(rangAt).toEqual([]);
  alarm.setFor(110);
  clock.pass(100);
  expect(rangAt).toEqual([110]);
});

it('an alarm whose timer somebody has deleted is set anew 20 ms after its time', () => {
  const { after } = clock;
  clock.after = () => () => {};
  alarm.setFor(10);
  clock.after = after;
  clock.pass(20);
  alarm.setFor(30);
  clock.pass(20);
  expect(rangAt).toEqual([]);
  alarm.setFor(60);
  clock.pass(20);
  expect(rangAt).toEqual([60]);
});
