import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { claimsOf, SeatByHand, workerAt } from '../../support/seat-by-hand.js';
import { until } from '../../support/wait.js';

it('a wish to renew that overtakes the answer of a turn that renews is kept', async () => {
  const seat = new SeatByHand();
  let finish = () => {};
  const worker = workerAt(seat, { run: () => new Promise<void>((resolve) => (finish = resolve)) }, {});
  worker.start();
  await nextRound();
  // Somebody asks for the job to be cancelled between its claim and the reading of the answer, and that is heard first.
  seat.hints!.renew();
  const [job] = claimsOf(1);
  seat.answer({ claimed: [job!] });
  await until('it renews', () => seat.turns.length === 2);
  expect(seat.turns[1]!.renewals).toMatchObject([{ id: job!.id }]);
  seat.answer();
  finish();
  await until('it settles', () => seat.turns.length === 3);
  seat.answer();
  const stopped = worker.stop(new AbortController().signal);
  await until('it takes its last turn', () => seat.turns.length === 4);
  seat.answer();
  await stopped;
});
