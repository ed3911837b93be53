import { expect, it } from '@jest/globals';
import { EmptyInstants } from '../../../lib/testing/time/empty-instants.js';

it('100 000 instants in a row may be without a run', () => {
  const empty = new EmptyInstants();
  const pass = (times: number, claimed = 0) => {
    for (let i = 0; i < times; i++) empty.passed('advance', 0, claimed, () => 'the moon');
  };
  pass(100_000);
  empty.startOver();
  pass(100_000);
  // A job that was claimed by then is a run, too.
  pass(100_000, 1);
  expect(() => pass(1, 1)).toThrow(
    'tester.advance: more than 100000 instants without a run, the last one at 1970-01-01T00:00:00.000Z: the moon.',
  );
});
