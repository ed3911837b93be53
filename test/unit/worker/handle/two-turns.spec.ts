import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { Turn } from '../../../../lib/store/job-store.js';
import type { QueueWorker } from '../../../../lib/worker/handle/queue-worker.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { seededRandom } from '../../../support/random.js';
import { claimsOf, SeatByHand, stopAt, workerAt } from '../../../support/seat-by-hand.js';
import { until } from '../../../support/wait.js';

const CONCURRENCY = 100;
/** What a turn is answered that had room for less than is due. */
const full = (room: number) => ({ claimed: claimsOf(room), sleepMs: undefined });
const carries = ({ settlements, room }: Turn) => ({ ends: settlements.length, room });

/** A worker whose handler returns at once, with a backlog: two turns are under way. */
async function behind(): Promise<{ seat: SeatByHand; worker: QueueWorker; clock: ManualClock }> {
  const seat = new SeatByHand();
  const clock = new ManualClock();
  const worker = workerAt(seat, { run: () => undefined }, { concurrency: CONCURRENCY }, { clock });
  worker.start();
  await until('it looks', () => seat.turns.length === 1);
  seat.answer(full(CONCURRENCY));
  await until('there are two', () => seat.underWay.length === 2);
  return { seat, worker, clock };
}

it('while more is due than there is room for, two turns are under way, and each carries half', async () => {
  const { seat, worker } = await behind();
  expect(seat.underWay.map(carries)).toEqual([
    { ends: 50, room: 50 },
    { ends: 50, room: 50 },
  ]);
  seat.answer(full(50));
  await until('the next one is out', () => seat.turns.length === 4);
  expect(carries(seat.turns[3]!)).toEqual({ ends: 50, room: 50 });
  await stopAt(seat, worker);
});

it('where another worker is behind as well, there is one with all of it, until eight in a row met nobody', async () => {
  const { seat, worker } = await behind();
  seat.answer({ ...full(50), hasCompany: true });
  await nextRound();
  expect(seat.underWay).toHaveLength(1);
  seat.answer(full(50));
  for (let met = 1; met < 8; met++) {
    await until('all goes at once', () => seat.underWay.length === 1);
    expect(carries(seat.underWay[0]!)).toEqual({ ends: CONCURRENCY, room: CONCURRENCY });
    seat.answer(full(CONCURRENCY));
  }
  await until('there are two again', () => seat.underWay.length === 2);
  await stopAt(seat, worker);
});

it('who has more places than one turn takes asks for them in a second, whoever else is behind', async () => {
  const seat = new SeatByHand();
  const worker = workerAt(seat, { run: () => undefined }, { concurrency: 1_000 });
  worker.start();
  await until('it looks', () => seat.turns.length === 1);
  seat.answer({ ...full(500), hasCompany: true });
  await until('there are two', () => seat.underWay.length === 2);
  expect(seat.underWay.map(carries)).toEqual([
    { ends: 500, room: 500 },
    { ends: 0, room: 500 },
  ]);
  await stopAt(seat, worker);
});

it('they claim no more together than there is room for, whatever has ended meanwhile', async () => {
  const random = seededRandom(7);
  const seat = new SeatByHand();
  const ends: (() => void)[] = [];
  let running = 0;
  const run = () => {
    running++;
    return new Promise<void>((resolve) => {
      ends.push(() => {
        running--;
        resolve();
      });
    });
  };
  const worker = workerAt(seat, { run }, { concurrency: CONCURRENCY });
  worker.start();
  let most = 0;
  for (let i = 0; i < 2_000; i++) {
    await nextRound();
    most = Math.max(most, seat.underWay.length);
    const asked = seat.underWay.reduce((sum, { room }) => sum + room, 0);
    expect(running + asked).toBeLessThanOrEqual(CONCURRENCY);
    if (random() < 0.5 && seat.underWay.length > 0) seat.answer(full(seat.underWay[0]!.room));
    else
      for (let n = random() * 40; n > 0 && ends.length > 0; n--)
        ends.splice(Math.floor(random() * ends.length), 1)[0]!();
  }
  expect(most).toBe(2);
  for (const end of ends) end();
  await stopAt(seat, worker);
});

it('one alone claims and settles no more than five hundred, and the next goes on', async () => {
  const seat = new SeatByHand();
  const ends: (() => void)[] = [];
  const run = () => new Promise<void>((resolve) => ends.push(resolve));
  const worker = workerAt(seat, { run }, { concurrency: 1_000 });
  worker.start();
  for (const answer of [full(500), { claimed: claimsOf(400), sleepMs: 60_000 }]) {
    await until('it looks', () => seat.underWay.length === 1);
    expect(carries(seat.underWay[0]!)).toEqual({ ends: 0, room: 500 });
    seat.answer(answer);
  }
  await until('all run', () => ends.length === 900);
  for (const end of ends) end();
  await until('it settles', () => seat.underWay.length === 1);
  expect(carries(seat.underWay[0]!)).toEqual({ ends: 500, room: 500 });
  await stopAt(seat, worker);
});

it('a second one is not sent for a few jobs', async () => {
  const seat = new SeatByHand();
  const worker = workerAt(seat, { run: () => undefined }, { concurrency: 30 });
  worker.start();
  await until('it looks', () => seat.turns.length === 1);
  seat.answer(full(30));
  await until('it goes on', () => seat.turns.length === 2);
  await nextRound();
  expect(seat.underWay.map(carries)).toEqual([{ ends: 30, room: 30 }]);
  await stopAt(seat, worker);
});

it('one that renews waits until no other may claim what it would have to renew', async () => {
  const { seat, worker } = await behind();
  seat.hints!.renew();
  seat.answer(full(50));
  await nextRound();
  await nextRound();
  expect(seat.underWay).toHaveLength(1);
  seat.answer(full(50));
  await until('it renews', () => seat.turns.length === 4);
  expect(carries(seat.turns[3]!)).toEqual({ ends: 100, room: 100 });
  await stopAt(seat, worker);
});

it('beside one that renews no other goes, which might settle and claim anew what it speaks of', async () => {
  const seat = new SeatByHand();
  const ends: (() => void)[] = [];
  const worker = workerAt(
    seat,
    { run: () => new Promise<void>((end) => ends.push(end)) },
    { concurrency: CONCURRENCY },
  );
  worker.start();
  await until('it looks', () => seat.turns.length === 1);
  seat.answer(full(CONCURRENCY));
  await until('all have started', () => ends.length === CONCURRENCY);
  seat.hints!.renew();
  await until('it renews', () => seat.underWay.length === 1);
  expect(seat.underWay[0]!.renewals).toHaveLength(CONCURRENCY);
  for (const end of ends) end();
  await nextRound();
  await nextRound();
  expect(seat.underWay).toHaveLength(1);
  seat.answer({ sleepMs: undefined });
  await until('the ends go', () => seat.underWay.length === 1);
  await stopAt(seat, worker);
});

it('a second one does not stretch the leases of what the first has claimed', async () => {
  const seat = new SeatByHand();
  const clock = new ManualClock();
  const leaseMs = 3_000;
  let started = 0;
  let ends: (() => void)[] = [];
  const run = () => {
    started++;
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const endHalf = () => {
    for (const end of ends.splice(0, 50)) end();
  };
  const worker = workerAt(seat, { run }, { concurrency: CONCURRENCY, leaseMs }, { clock });
  worker.start();
  await until('it looks', () => seat.turns.length === 1);
  seat.answer(full(CONCURRENCY));
  await until('all have started', () => started === CONCURRENCY);
  endHalf();
  await until('the first is out', () => seat.underWay.length === 1);
  await clock.elapse(500);
  endHalf();
  await until('the second is out', () => seat.underWay.length === 2);
  // The answer of the first is lost, and comes again only once its lease is over; that of the second is there at once.
  const [first, second] = [seat.underWay[0]!, seat.underWay[1]!];
  seat.answerTo(second, { sleepMs: 60_000 });
  await clock.elapse(leaseMs - 500);
  ends = [];
  seat.answerTo(first, full(first.room));
  await nextRound();
  expect(started).toBe(CONCURRENCY);
  await stopAt(seat, worker);
});

it('handlers with limits of their own have one turn at a time, as only its answer tells what is left of them', async () => {
  const seat = new SeatByHand();
  const worker = workerAt(seat, { run: () => undefined, concurrency: 90 }, { concurrency: CONCURRENCY });
  worker.start();
  await until('it looks', () => seat.turns.length === 1);
  seat.answer(full(90));
  await until('it goes on', () => seat.turns.length === 2);
  await nextRound();
  expect(seat.underWay.map(({ settlements }) => settlements.length)).toEqual([90]);
  await stopAt(seat, worker);
});

it('one that was refused is sent again as it was, and the other is not', async () => {
  const { seat, worker, clock } = await behind();
  const [first, second] = seat.underWay;
  seat.refuse(new Error('refused'));
  seat.answer({ sleepMs: 60_000 });
  await clock.elapse(999);
  expect(seat.underWay).toEqual([]);
  await clock.elapse(1);
  expect(seat.underWay).toHaveLength(1);
  expect(seat.underWay[0]).toBe(first);
  expect(seat.turns.filter((turn) => turn === second)).toHaveLength(1);
  await stopAt(seat, worker);
});

it('where one found nothing while the other had no room for more, it looks again at once', async () => {
  const { seat, worker } = await behind();
  seat.answer({ sleepMs: 60_000 });
  seat.answer(full(50));
  await until('it looks', () => seat.underWay.length === 1);
  expect(carries(seat.underWay[0]!)).toEqual({ ends: 50, room: 100 });
  seat.answer({ sleepMs: undefined });
  await until('it looks again though nothing has ended', () => seat.underWay.length === 1);
  await stopAt(seat, worker);
});

it('the last turn goes alone, and what was claimed meanwhile goes back', async () => {
  const { seat, worker } = await behind();
  const stopped = worker.stop(new AbortController().signal);
  const claimed = claimsOf(50);
  seat.answer({ claimed, sleepMs: undefined });
  await nextRound();
  expect(seat.underWay).toHaveLength(1);
  seat.answer(full(50));
  await until('the last one is out', () => seat.underWay.length === 1 && seat.underWay[0]!.leaving);
  const last = seat.underWay[0]!;
  expect(last.room).toBe(0);
  expect(last.settlements).toHaveLength(100);
  expect(last.settlements).toContainEqual({ id: claimed[0]!.id, fence: '1', transition: 'release' });
  seat.answer();
  await stopped;
});
