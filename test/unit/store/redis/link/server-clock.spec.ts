import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { queueKeys } from '../../../../../lib/store/redis/keys.js';
import { ServerClock } from '../../../../../lib/store/redis/link/server-clock.js';

afterEach(() => {
  jest.restoreAllMocks();
});

/** Nothing is asked over it. */
const LINK = { now: () => performance.now(), run: async () => undefined };

it('tells how long it is until a time of Redis, with fractions of a millisecond', () => {
  const clock = new ServerClock(LINK, queueKeys('sq', 'q'), () => {});
  const before = performance.now();
  clock.note(5_000.75, before);
  const told = clock.until(5_010);
  const passed = performance.now() - before;
  // To the precision of a double of this size.
  expect(told).toBeLessThanOrEqual(9.25 + 1e-6);
  expect(told).toBeGreaterThanOrEqual(9.25 - passed - 1e-6);
});

describe('a jump of the clock of Redis', () => {
  /** Each reply: when its call was sent, when it was read, and what it said, in ms after the first one. */
  function jumpsOf(...replies: [sent: number, read: number, said: number][]): number[] {
    const jumps: number[] = [];
    const clock = new ServerClock(LINK, queueKeys('sq', 'q'), (byMs) => jumps.push(byMs));
    const now = jest.spyOn(performance, 'now');
    for (const [sent, read, said] of replies) {
      now.mockReturnValue(10_000 + read);
      clock.note(1_800_000_000_000 + said, 10_000 + sent);
    }
    return jumps;
  }

  it.each([
    ['ahead', 3_600_000],
    ['back', -3_600_000],
    ['by little more than a second', 1_003],
  ])('is told where it goes %s, less the time that the replies were under way', (_, jump) => {
    expect(jumpsOf([0, 0, 0], [998, 1_000, 1_000 + jump])).toEqual([jump > 0 ? jump : jump + 2]);
  });

  it('is told once, and again when it is put right', () => {
    expect(jumpsOf([0, 0, 0], [50, 50, 5_050], [100, 100, 5_100], [150, 150, 150])).toEqual([5_000, -5_000]);
  });

  it('is none where a reply was long under way, or read late, nor when the next one is quick', () => {
    expect(jumpsOf([0, 0, 0], [0, 9_000, 10], [9_010, 9_010, 9_010])).toEqual([]);
    expect(jumpsOf([0, 0, 0], [0, 9_000, 8_990], [9_010, 9_010, 9_010])).toEqual([]);
  });

  it('is none below a second, and none of the size that clocks drift apart while nothing is heard', () => {
    const HOUR = 3_600_000;
    expect(jumpsOf([0, 0, 0], [10, 10, 1_000])).toEqual([]);
    expect(jumpsOf([0, 0, 0], [HOUR, HOUR, HOUR + 4_599])).toEqual([]);
    expect(jumpsOf([0, 0, 0], [HOUR, HOUR, HOUR - 4_599])).toEqual([]);
    expect(jumpsOf([0, 0, 0], [HOUR, HOUR, HOUR + 4_601])).toEqual([4_601]);
  });
});
