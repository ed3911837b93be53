import { expect, it } from '@jest/globals';
import { queueKeys } from '../../../../../lib/store/redis/keys.js';
import { ServerClock } from '../../../../../lib/store/redis/link/server-clock.js';

it('tells how long it is until a time of Redis, with fractions of a millisecond', () => {
  const clock = new ServerClock(queueKeys('sq', 'q'));
  const before = performance.now();
  clock.note(5_000.75);
  const told = clock.until(5_010);
  const passed = performance.now() - before;
  // To the precision of a double of this size.
  expect(told).toBeLessThanOrEqual(9.25 + 1e-6);
  expect(told).toBeGreaterThanOrEqual(9.25 - passed - 1e-6);
});
