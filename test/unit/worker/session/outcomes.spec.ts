import { beforeEach, expect, it } from '@jest/globals';
import { Outcomes } from '../../../../lib/worker/session/outcomes.js';
import { claimOf } from '../../../support/session-by-hand.js';

let outcomes: Outcomes;

beforeEach(() => {
  outcomes = new Outcomes();
});

const end = (...ids: string[]) => {
  for (const id of ids) outcomes.end({ settlement: { id, transition: 'complete' } } as never);
};
const taken = (most?: number) => outcomes.take(most).settlements.map(({ id, transition }) => `${id} ${transition}`);

it('a turn takes no more than it may, first the runs that have ended; the others go with the next', () => {
  outcomes.release(...['x', 'y', 'z'].map(claimOf));
  end('a', 'b', 'c');
  expect(taken(2)).toEqual(['a complete', 'b complete']);
  expect(taken(2)).toEqual(['c complete', 'x release']);
  expect([outcomes.count, outcomes.anyGoesBack]).toEqual([2, true]);
  expect(taken(1)).toEqual(['y release']);
  expect(taken(1)).toEqual(['z release']);
  expect([outcomes.count, outcomes.anyGoesBack]).toEqual([0, false]);
});

it('no more than a thousand go back with one turn, unless it is told a number', () => {
  outcomes.release(...Array.from({ length: 1_500 }, (_, i) => claimOf(`job-${i}`)));
  expect([taken().length, taken().length, taken().length]).toEqual([1_000, 500, 0]);
});

it('the runs that a turn tells of are those of its first settlements', () => {
  end('a');
  outcomes.release(claimOf('x'));
  const { ended, settlements } = outcomes.take(5);
  expect(ended.map(({ settlement }) => settlement)).toEqual(settlements.slice(0, 1));
  expect(settlements).toHaveLength(2);
});
