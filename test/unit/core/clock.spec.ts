import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { SystemClock } from '../../../lib/core/clock.js';

const DAY_MS = 86_400_000;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it('a timer beyond what Node can wait for fires later, not at once', () => {
  const callback = jest.fn();
  new SystemClock().after(100 * 365 * DAY_MS, callback);
  jest.advanceTimersByTime(2 ** 31 - 2);
  expect(callback).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1);
  expect(callback).toHaveBeenCalledTimes(1);
});

it('a timer that is called off does not fire', () => {
  const clock = new SystemClock();
  const [callback, other] = [jest.fn(), jest.fn()];
  const callOff = clock.after(10, callback);
  clock.after(10, other);
  callOff();
  jest.advanceTimersByTime(100);
  expect(callback).not.toHaveBeenCalled();
  expect(other).toHaveBeenCalledTimes(1);
  callOff();
});

it('a timer of a time that has passed asks Node for no negative one, of which it would warn', () => {
  const set = jest.spyOn(globalThis, 'setTimeout');
  new SystemClock().after(-0.003, () => {});
  expect(set.mock.calls[0]![1]).toBe(0);
  set.mockRestore();
});
