import { beforeEach, expect, it } from '@jest/globals';
import { PendingSettlements } from '../../../../lib/worker/session/pending-settlements.js';
import { claimOf } from '../../../support/session-by-hand.js';

let pending: PendingSettlements;

beforeEach(() => {
  pending = new PendingSettlements();
});

const end = (...ids: string[]) => {
  for (const id of ids) pending.addEnded({ settlement: { id, transition: 'complete' } } as never);
};
const taken = (most?: number) =>
  pending.takeForTurn(most).settlements.map(({ id, transition }) => `${id} ${transition}`);

it('a turn takes no more than it may, first the runs that have ended; the others go with the next', () => {
  pending.release(...['x', 'y', 'z'].map(claimOf));
  end('a', 'b', 'c');
  expect(taken(2)).toEqual(['a complete', 'b complete']);
  expect(taken(2)).toEqual(['c complete', 'x release']);
  expect([pending.count, pending.anyGoesBack]).toEqual([2, true]);
  expect(taken(1)).toEqual(['y release']);
  expect(taken(1)).toEqual(['z release']);
  expect([pending.count, pending.anyGoesBack]).toEqual([0, false]);
});

it('no more than a thousand go back with one turn, unless it is told a number', () => {
  pending.release(...Array.from({ length: 1_500 }, (_, i) => claimOf(`job-${i}`)));
  expect([taken().length, taken().length, taken().length]).toEqual([1_000, 500, 0]);
});

it('the runs that a turn tells of are those of its first settlements', () => {
  end('a');
  pending.release(claimOf('x'));
  const { ended, settlements } = pending.takeForTurn(5);
  expect(ended.map(({ settlement }) => settlement)).toEqual(settlements.slice(0, 1));
  expect(settlements).toHaveLength(2);
});
