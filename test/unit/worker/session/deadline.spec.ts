import { getMaxListeners } from 'node:events';
import { expect, it } from '@jest/globals';
import { Deadline } from '../../../../lib/worker/session/deadline.js';
import { ManualClock } from '../../../support/manual-clock.js';

it('a deadline is heard by as many queues as a process has, and Node warns of no leak', () => {
  // Inside Jest nobody hears the warnings of Node.
  expect(getMaxListeners(new Deadline(new ManualClock(), 1_000).signal)).toBe(Number.POSITIVE_INFINITY);
});
