import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { NodeTimers } from '../../../lib/core/timers.js';

const DAY_MS = 86_400_000;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it('a timer beyond what Node can wait for fires later, not at once', () => {
  const callback = jest.fn();
  new NodeTimers().set('poll', callback, 100 * 365 * DAY_MS);
  jest.advanceTimersByTime(2 ** 31 - 2);
  expect(callback).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1);
  expect(callback).toHaveBeenCalledTimes(1);
});

it('a timer that is set again fires once, at the later set time', () => {
  const timers = new NodeTimers();
  const [first, second, other] = [jest.fn(), jest.fn(), jest.fn()];
  timers.set('poll', first, 10);
  timers.set('renew', other, 10);
  timers.set('poll', second, 20);
  jest.advanceTimersByTime(100);
  expect(first).not.toHaveBeenCalled();
  expect(second).toHaveBeenCalledTimes(1);
  expect(other).toHaveBeenCalledTimes(1);
});

it('a timer that is cleared does not fire', () => {
  const timers = new NodeTimers();
  const callback = jest.fn();
  timers.set('poll', callback, 10);
  timers.clear('poll');
  timers.clear('never set');
  jest.advanceTimersByTime(100);
  expect(callback).not.toHaveBeenCalled();
});
