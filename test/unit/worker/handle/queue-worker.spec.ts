import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it, jest } from '@jest/globals';
import { Solitude } from '../../../../lib/worker/capacity/solitude.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { answerUntil, claimsOf, SeatByHand, stopAt, workerAt } from '../../../support/seat-by-hand.js';
import { until } from '../../../support/wait.js';

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

it('none of the jobs of a claim that is to be confirmed begins before its lease has been renewed, and none that was lost', async () => {
  const seat = new SeatByHand();
  const begun: number[] = [];
  const worker = workerAt(seat, { run: () => begun.push(seat.turns.length) }, { concurrency: 5 });
  worker.start();
  await nextRound();
  const [kept, lost, cancelled] = claimsOf(3);
  seat.answer({ claimed: [kept!, lost!, cancelled!], isUnconfirmed: true });
  const renewals = [kept!, lost!, cancelled!];
  expect(await seat.next(2)).toMatchObject({ room: 0, renewals, settlements: [] });
  // Its answer was lost: whatever it said of leases has to be asked again.
  seat.answer({ isReplay: true });
  expect(await seat.next(3)).toMatchObject({ room: 0, renewals });
  expect(begun).toEqual([]);
  seat.answer({ lost: [lost!.id], toCancel: [cancelled!.id] });
  await until('the one that is left is settled', () => seat.turns.length === 4);
  expect(begun).toEqual([3]);
  const settled = seat.turns[3]!.settlements.map(({ id, transition }) => [id, transition]);
  expect(settled).toEqual([
    [kept!.id, 'complete'],
    [cancelled!.id, 'release'],
  ]);
  await stopAt(seat, worker);
});

it('a worker that stops gives back what it has not confirmed yet', async () => {
  const seat = new SeatByHand();
  const worker = workerAt(seat, { run: () => expect(true).toBe(false) }, {});
  worker.start();
  await nextRound();
  const stopped = worker.stop(new AbortController().signal);
  const [job] = claimsOf(1);
  seat.answer({ claimed: [job!], isUnconfirmed: true });
  await answerUntil(seat, stopped);
  const released = seat.turns.flatMap(({ settlements }) => settlements);
  expect(released).toMatchObject([{ id: job!.id, transition: 'release' }]);
});

it('a worker that stops waits for the confirmation under way for as long as it may, and not just for its last turn', async () => {
  const seat = new SeatByHand();
  const clock = new ManualClock();
  const worker = workerAt(seat, { run: () => expect(true).toBe(false) }, {}, { clock });
  worker.start();
  await nextRound();
  const [job] = claimsOf(1);
  seat.answer({ claimed: [job!], isUnconfirmed: true });
  await seat.next(2);
  const stopped = worker.stop(new AbortController().signal);
  const hasStopped = jest.fn();
  void stopped.then(hasStopped);
  // Longer than a last turn may take.
  await clock.elapse(60_000);
  expect(hasStopped).not.toHaveBeenCalled();
  await answerUntil(seat, stopped);
  const released = seat.turns.flatMap(({ settlements }) => settlements);
  expect(released).toMatchObject([{ id: job!.id, transition: 'release' }]);
});

it('claims whose leases were over when their answer came go back at once', async () => {
  const seat = new SeatByHand();
  const worker = workerAt(seat, { run: () => {} }, {});
  worker.start();
  await nextRound();
  const [job] = claimsOf(1);
  seat.answer({ expired: [job!], isReplay: true, sleepMs: 0 });
  expect((await seat.next(2)).settlements).toMatchObject([{ id: job!.id, transition: 'release' }]);
  await stopAt(seat, worker);
});

it('a claim that waits for its confirmation holds the process: another worker gets no suspect to run beside it', async () => {
  const [seat, otherSeat] = [new SeatByHand(), new SeatByHand()];
  const clock = new ManualClock();
  const solitude = new Solitude(clock);
  const worker = workerAt(seat, { run: () => {} }, {}, { clock, solitude });
  const other = workerAt(otherSeat, { run: () => {} }, {}, { clock, solitude });
  worker.start();
  await nextRound();
  seat.answer({ claimed: claimsOf(1), isUnconfirmed: true });
  await seat.next(2);
  other.start();
  expect(await otherSeat.next(1)).toMatchObject({ suspects: 'reserve' });
  await stopAt(seat, worker);
  await stopAt(otherSeat, other);
});
